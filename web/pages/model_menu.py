"""The menu of models: those that can be asked, and which key the others are waiting for."""

from dataclasses import dataclass

from appliance.models.catalog import AUTOPILOT, MODELS, ModelEntry, Provider, find_entry
from appliance.models.providers import ProviderKeys, has_key

_LABELS: dict[Provider, str] = {"anthropic": "Anthropic", "openai": "OpenAI", "compatible": "Your own server"}
_KEYS: dict[Provider, str] = {"anthropic": "ANTHROPIC_API_KEY", "openai": "OPENAI_API_KEY"}


@dataclass(frozen=True)
class Choice:
    """One line of the menu; `missing` is the setting without which it cannot be chosen."""

    name: str
    missing: str = ""
    note: str = ""


@dataclass(frozen=True)
class Group:
    """The models of one provider."""

    label: str
    choices: tuple[Choice, ...]


def list_models(keys: ProviderKeys) -> tuple[Group, ...]:
    """Return the groups, those that can be used first."""
    served = [find_entry(name, keys.compatible_models) for name in keys.compatible_models]
    entries = [*MODELS, *(entry for entry in served if entry is not None)]
    groups = [_group(provider, entries, keys) for provider in _LABELS]
    groups.sort(key=lambda group: bool(group.choices and group.choices[0].missing))
    free = Group("Without a model", (Choice(AUTOPILOT.name, note="no key, no cost; reads one page"),))
    usable = [group for group in groups if group.choices and not group.choices[0].missing]
    others = [group for group in groups if group.choices and group.choices[0].missing]
    return (*usable, free, *others)


def _group(provider: Provider, entries: list[ModelEntry], keys: ProviderKeys) -> Group:
    own = dict.fromkeys(entry for entry in entries if entry.provider == provider)
    choices = (Choice(entry.name, "" if has_key(entry, keys) else _KEYS.get(provider, "")) for entry in own)
    return Group(_LABELS[provider], tuple(choices))
