"""Which models can be asked with the keys at hand, and the opening of one."""

from dataclasses import dataclass, field, replace

from appliance.errors import RequestInvalid
from appliance.models.base import Model
from appliance.models.catalog import AUTOPILOT, MODELS, TIERS, ModelEntry, Provider, find_entry
from appliance.models.loading import load_kit


@dataclass(frozen=True)
class ProviderKeys:
    """Keys and addresses of the providers; an empty string, or 0, stands for "not set". Keys never show in a repr."""

    anthropic_key: str = field(default="", repr=False)
    anthropic_base_url: str = ""
    openai_key: str = field(default="", repr=False)
    openai_base_url: str = ""
    compatible_base_url: str = ""
    compatible_key: str = field(default="", repr=False)
    compatible_models: tuple[str, ...] = ()
    compatible_context_window: int = 0

    @property
    def providers(self) -> frozenset[Provider]:
        """The providers that can be asked."""
        can: dict[Provider, bool] = {
            "anthropic": bool(self.anthropic_key),
            "openai": bool(self.openai_key),
            "compatible": bool(self.compatible_base_url),
            "autopilot": True,
        }
        return frozenset(provider for provider, usable in can.items() if usable)


_SETTINGS: dict[Provider, str] = {
    "anthropic": "ANTHROPIC_API_KEY",
    "openai": "OPENAI_API_KEY",
    "compatible": "COMPATIBLE_BASE_URL",
}


def has_key(entry: ModelEntry, keys: ProviderKeys) -> bool:
    """Say whether the model can be asked with these keys."""
    return entry.provider in keys.providers


def configured_models(keys: ProviderKeys) -> tuple[ModelEntry, ...]:
    """Return every model that can be asked, the compatible server's last but for the keyless one."""
    named = [entry for entry in MODELS if entry is not AUTOPILOT and has_key(entry, keys)]
    served = [find_entry(name, keys.compatible_models) for name in keys.compatible_models if keys.compatible_base_url]
    return (*named, *(entry for entry in served if entry), AUTOPILOT)


def choose_default(keys: ProviderKeys, default_model: str = "") -> ModelEntry:
    """Return the model for a task that names none.

    That is `default_model` if set, else the middle tier of a provider with a key, else the compatible server's
    first, else autopilot. Raises RequestInvalid when `default_model` is not a known name.
    """
    if default_model:
        return find_model(default_model, keys)
    choices = [find_entry(name) for name in TIERS["bu-max"]]
    choices += [find_entry(name, keys.compatible_models) for name in keys.compatible_models]
    return next((entry for entry in choices if entry and has_key(entry, keys)), AUTOPILOT)


def find_model(name: str, keys: ProviderKeys) -> ModelEntry:
    """Return the model of that name; raises RequestInvalid, listing what there is, for an unknown or keyless one."""
    entry = find_entry(name, keys.compatible_models, keys.providers)
    if entry is None:
        known = ", ".join(entry.name for entry in configured_models(keys))
        raise RequestInvalid(f"There is no model {name[:100]!r} here; these can be used: {known}.", "body", "model")
    _require_key(entry, keys)
    return entry


def load_clients(keys: ProviderKeys) -> bool:
    """Begin to load the client of every provider with a key, on a thread; returns whether all are there by now."""
    loading = [load_kit(provider) for provider in sorted(keys.providers - {"autopilot"})]
    return all(kit.done() for kit in loading)


def open_model(entry: ModelEntry, keys: ProviderKeys) -> Model:
    """Return the model, ready to be asked; the provider's client is loaded in the background.

    Raises RequestInvalid when the key is missing.
    """
    _require_key(entry, keys)
    if entry.provider == "anthropic":
        from appliance.models.anthropic import AnthropicModel  # noqa: PLC0415  (heavy, so only when used)

        return AnthropicModel(entry, keys.anthropic_key, keys.anthropic_base_url)
    if entry.provider == "openai":
        from appliance.models.openai import OpenAIModel  # noqa: PLC0415

        return OpenAIModel(entry, keys.openai_key, keys.openai_base_url)
    if entry.provider == "compatible":
        from appliance.models.compatible import CompatibleModel  # noqa: PLC0415

        entry = replace(entry, context_window=keys.compatible_context_window or None)
        return CompatibleModel(entry, keys.compatible_key, keys.compatible_base_url)
    from appliance.models.autopilot import Autopilot  # noqa: PLC0415

    return Autopilot()


def _require_key(entry: ModelEntry, keys: ProviderKeys) -> None:
    if not has_key(entry, keys):
        raise RequestInvalid(
            f"{entry.name} needs {_SETTINGS[entry.provider]}, which is not set; set it and start again, "
            "or choose another model.",
            "body",
            "model",
        )
