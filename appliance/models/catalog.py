"""The models the product knows: their names, how hard they can reason, how much they read, and what v3 calls them."""

import re
from dataclasses import dataclass
from typing import Literal

from appliance.errors import RequestInvalid
from appliance.words import Effort

Provider = Literal["anthropic", "openai", "compatible", "autopilot"]

Thinking = Literal["none", "budget", "opt_in", "default", "always", "between_tools"]
"""How a model is made to reason: not at all; with a token budget; only when asked to; unless told not to; always; or
always but before and after tools, which is the least it can do."""

WIRE_MODELS: frozenset[str] = frozenset(
    (
        "bu-mini",
        "bu-max",
        "bu-ultra",
        "gemini-3-flash",
        "gemini-3-pro",
        "gemini-3.1-pro",
        "gemini-3.5-flash",
        "claude-opus-4.6",
        "claude-opus-4.7",
        "claude-opus-4.8",
        "claude-sonnet-5",
        "claude-haiku-4.5",
        "gpt-5.2",
        "gpt-5-mini",
        "gpt-5.5",
        "gpt-5.4-mini",
        "gpt-5.6-sol",
        "gpt-5.6-terra",
        "gpt-5.6-luna",
        "glm-5.2",
        "glm-5.3-flash",
        "minimax-m3",
        "grok-4.6",
        "deepseek-v4-flash-vision",
    )
)
"""Every name that browser-use-sdk 3.12.1 accepts as `model` in an answer."""

FALLBACK_WIRE_MODEL = "bu-max"
"""What v3 is told when a row's model is no longer known."""


@dataclass(frozen=True)
class ModelEntry:
    """One model. `name` is ours and shown to people, `api_name` is what the provider's API is sent.

    `caches_at_marks` says that the provider repeats a prefix from its cache only where a request marks its end.
    `wire_name` is a member of WIRE_MODELS. `efforts` go upwards and are empty for a model that takes none;
    `default_effort` is what the provider does when nothing is asked for. Sizes are in tokens, None when unknown.
    """

    name: str
    provider: Provider
    api_name: str
    wire_name: str
    efforts: tuple[Effort, ...] = ()
    default_effort: Effort | None = None
    context_window: int | None = None
    max_output_tokens: int = 8_000
    thinking: Thinking = "none"
    forced_tools: bool = True
    sees_images: bool = True
    caches_at_marks: bool = False

    def nearest_effort(self, wished: Effort | None) -> Effort | None:
        """Return the rung that comes closest to the wish from below, the lowest one otherwise.

        None, which leaves it to the provider, for no ladder and for a model that cannot be kept from reasoning.
        """
        if wished is None or not self.efforts or (wished is Effort.NONE and wished not in self.efforts):
            return None
        order = list(Effort)
        lower = [effort for effort in self.efforts if order.index(effort) <= order.index(wished)]
        return lower[-1] if lower else self.efforts[0]


_LOW_TO_HIGH = (Effort.LOW, Effort.MEDIUM, Effort.HIGH)
_LOW_TO_MAX = (*_LOW_TO_HIGH, Effort.XHIGH, Effort.MAX)
_NONE_TO_HIGH = (Effort.NONE, *_LOW_TO_HIGH)
_NONE_TO_XHIGH = (*_NONE_TO_HIGH, Effort.XHIGH)
_NONE_TO_MAX = (Effort.NONE, *_LOW_TO_MAX)
_WITHOUT_XHIGH = (*_NONE_TO_HIGH, Effort.MAX)


def _claude(
    version: str, tier: str, efforts: tuple[Effort, ...], default: Effort, thinking: Thinking, *, forced: bool = True
) -> ModelEntry:
    name = f"claude-{version}"
    return ModelEntry(
        name=name,
        provider="anthropic",
        api_name=name.replace(".", "-"),
        wire_name=name if name in WIRE_MODELS else tier,
        efforts=efforts,
        default_effort=default,
        context_window=200_000 if thinking == "budget" else 1_000_000,
        max_output_tokens=64_000 if thinking == "budget" else 128_000,
        thinking=thinking,
        forced_tools=forced,
        caches_at_marks=True,
    )


def _gpt(version: str, tier: str, efforts: tuple[Effort, ...], default: Effort, window: int = 1_050_000) -> ModelEntry:
    name = f"gpt-{version}"
    return ModelEntry(
        name=name,
        provider="openai",
        api_name=name,
        wire_name=name if name in WIRE_MODELS else tier,
        efforts=efforts,
        default_effort=default,
        context_window=window,
        max_output_tokens=128_000,
        caches_at_marks=version.startswith(("5.6", "6")),
    )


AUTOPILOT = ModelEntry(
    name="autopilot",
    provider="autopilot",
    api_name="autopilot",
    wire_name="bu-mini",
    sees_images=False,
)
"""The planner in our own code, which needs no key."""

MODELS: tuple[ModelEntry, ...] = (
    _claude("haiku-4.5", "bu-mini", _NONE_TO_HIGH, Effort.NONE, "budget"),
    _claude("haiku-5.5", "bu-mini", _NONE_TO_MAX, Effort.MEDIUM, "default", forced=False),
    _claude("sonnet-4.6", "bu-max", _WITHOUT_XHIGH, Effort.NONE, "opt_in"),
    _claude("sonnet-5", "bu-max", _NONE_TO_MAX, Effort.HIGH, "default"),
    _claude("sonnet-5.5", "bu-max", _NONE_TO_MAX, Effort.HIGH, "between_tools", forced=False),
    _claude("opus-4.6", "bu-ultra", _WITHOUT_XHIGH, Effort.NONE, "opt_in"),
    _claude("opus-4.7", "bu-ultra", _NONE_TO_MAX, Effort.NONE, "opt_in"),
    _claude("opus-4.8", "bu-ultra", _NONE_TO_MAX, Effort.NONE, "opt_in"),
    _claude("opus-5", "bu-ultra", _NONE_TO_MAX, Effort.HIGH, "default"),
    _claude("opus-5.5", "bu-ultra", _LOW_TO_MAX, Effort.MEDIUM, "always", forced=False),
    _claude("fable-5", "bu-ultra", _LOW_TO_MAX, Effort.HIGH, "always"),
    _claude("fable-5.1", "bu-ultra", _LOW_TO_MAX, Effort.HIGH, "always", forced=False),
    _claude("mythos-5", "bu-ultra", _LOW_TO_MAX, Effort.HIGH, "always"),
    _gpt("5-mini", "bu-mini", (Effort.MINIMAL, *_LOW_TO_HIGH), Effort.MEDIUM, 400_000),
    _gpt("5.2", "bu-max", _NONE_TO_XHIGH, Effort.NONE, 400_000),
    _gpt("5.4-mini", "bu-mini", _NONE_TO_XHIGH, Effort.NONE, 400_000),
    _gpt("5.5", "bu-ultra", _NONE_TO_XHIGH, Effort.MEDIUM),
    _gpt("5.6-luna", "bu-mini", _NONE_TO_MAX, Effort.MEDIUM),
    _gpt("5.6-terra", "bu-max", _NONE_TO_MAX, Effort.MEDIUM),
    _gpt("5.6-sol", "bu-ultra", _NONE_TO_MAX, Effort.MEDIUM),
    _gpt("6-luna", "bu-mini", _NONE_TO_MAX, Effort.MEDIUM),
    _gpt("6-sol", "bu-ultra", _NONE_TO_MAX, Effort.MEDIUM),
    _gpt("6.1-terra", "bu-max", _NONE_TO_MAX, Effort.MEDIUM),
    _gpt("6.1-sol", "bu-ultra", _NONE_TO_MAX, Effort.MEDIUM),
    AUTOPILOT,
)
"""All models with a fixed name, weaker before stronger within a family."""

TIERS: dict[str, tuple[str, ...]] = {
    "bu-mini": ("claude-haiku-5.5", "gpt-5.6-luna"),
    "bu-max": ("claude-sonnet-5", "gpt-5.6-terra"),
    "bu-ultra": ("claude-opus-5.5", "gpt-5.6-sol"),
}
"""The v3 price tiers as models, best choice first; a compatible server's first model comes after these."""


def find_entry(
    name: str, compatible_models: tuple[str, ...] = (), providers: frozenset[Provider] | None = None
) -> ModelEntry | None:
    """Return the model that a caller means, or None.

    Accepts our names, the provider's, either spelling of a version (4.7, 4-7) and the three tiers. A name that the
    operator gave to the compatible server wins over ours. `providers` are those that can be asked, which decides
    what a tier stands for; when it is None or none of the tier's models can be asked, a tier is its first model.
    """
    wished = name.strip()
    if wished in compatible_models:
        return _compatible(wished)
    if wished in TIERS:
        return _find_tier(wished, compatible_models, providers)
    spelling = _one_spelling(wished)
    return next((entry for entry in MODELS if spelling in (_one_spelling(entry.name), entry.api_name)), None)


def wire_name_for(requested: str | None, entry: ModelEntry | None) -> str:
    """Return the `model` of a v3 answer: the caller's own word where clients know it, else the model's alias."""
    if requested in WIRE_MODELS:
        return requested
    return entry.wire_name if entry else FALLBACK_WIRE_MODEL


_LEVELS = {"disabled": Effort.NONE, "low": Effort.LOW, "medium": Effort.MEDIUM, "high": Effort.HIGH}


def choose_effort(entry: ModelEntry, effort: Effort | None, thinking_level: str | None = None) -> Effort | None:
    """Return the effort to ask for; None leaves it to the provider.

    `thinking_level` is v3's word for it and counts when no effort is given. Raises RequestInvalid, naming the field
    and the rungs there are, when the model cannot do what is asked.
    """
    field = "reasoningEffort" if effort else "thinkingLevel"
    if effort is None and thinking_level is not None:
        effort = _LEVELS.get(thinking_level)
        if effort is None:
            raise RequestInvalid(f"thinkingLevel is one of {', '.join(_LEVELS)} or null.", "body", field)
    if effort is None or effort in entry.efforts:
        return effort
    if not entry.efforts and effort is Effort.NONE:
        return None
    can = f"it can do {', '.join(entry.efforts)}" if entry.efforts else "it takes no such setting"
    raise RequestInvalid(f"{entry.name} cannot reason with effort {effort}; {can}.", "body", field)


def _find_tier(
    tier: str, compatible_models: tuple[str, ...], providers: frozenset[Provider] | None
) -> ModelEntry | None:
    candidates = [entry for name in TIERS[tier] for entry in MODELS if entry.name == name]
    usable = [entry for entry in candidates if providers is not None and entry.provider in providers]
    if usable:
        return usable[0]
    if compatible_models and providers is not None and "compatible" in providers:
        return _compatible(compatible_models[0])
    return candidates[0]


def _compatible(name: str) -> ModelEntry:
    return ModelEntry(name=name, provider="compatible", api_name=name, wire_name="bu-mini")


def _one_spelling(name: str) -> str:
    return re.sub(r"(?<=\d)-(?=\d)", ".", name.lower())
