import json
from typing import get_args

import pytest
from browser_use_sdk.generated.v3.models import BuModel

from appliance.errors import RequestInvalid
from appliance.models.catalog import MODELS, TIERS, WIRE_MODELS, ModelEntry, choose_effort, find_entry, wire_name_for
from appliance.words import Effort


def entry(name: str) -> ModelEntry:
    found = find_entry(name)
    assert found is not None
    return found


def test_the_wire_names_are_exactly_those_the_client_accepts():
    accepted = {item.value for item in BuModel} if hasattr(BuModel, "__members__") else set(get_args(BuModel))
    assert accepted == WIRE_MODELS


def test_every_model_has_one_name_and_an_alias_that_clients_accept():
    names = [model.name for model in MODELS]
    assert len(set(names)) == len(names)
    for model in MODELS:
        assert model.wire_name in WIRE_MODELS, json.dumps(model.name)
        assert model.name not in WIRE_MODELS or model.wire_name == model.name
        assert list(model.efforts) == sorted(model.efforts, key=list(Effort).index)
        assert model.default_effort in (None, Effort.NONE, *model.efforts)


def test_every_anthropic_and_openai_model_of_the_wire_names_is_known():
    named = {name for name in WIRE_MODELS if name.startswith(("claude-", "gpt-"))}
    assert named <= {model.name for model in MODELS}


@pytest.mark.parametrize(
    ("word", "name"),
    [
        ("claude-opus-4.7", "claude-opus-4.7"),
        ("claude-opus-4-7", "claude-opus-4.7"),
        (" Claude-Opus-4-7 ", "claude-opus-4.7"),
        ("claude-haiku-5-5", "claude-haiku-5.5"),
        ("gpt-5.6-sol", "gpt-5.6-sol"),
        ("gpt-5-6-sol", "gpt-5.6-sol"),
        ("gpt-5-mini", "gpt-5-mini"),
        ("autopilot", "autopilot"),
        ("bu-max", TIERS["bu-max"][0]),
    ],
)
def test_a_model_is_found_under_every_spelling(word: str, name: str):
    assert entry(word).name == name


def test_an_unknown_name_is_no_model():
    assert find_entry("gemini-3-flash") is None
    assert find_entry("") is None


def test_the_provider_is_sent_its_own_spelling():
    assert entry("claude-opus-4.7").api_name == "claude-opus-4-7"
    assert entry("gpt-5.6-terra").api_name == "gpt-5.6-terra"


def test_a_tier_stands_for_a_model_that_can_be_asked():
    def of(*providers: str) -> str:
        found = find_entry("bu-mini", ("qwen3:30b",), frozenset(providers))
        assert found is not None
        return found.provider

    assert of("openai", "autopilot") == "openai"
    assert of("openai", "anthropic") == "anthropic"
    assert of("compatible", "autopilot") == "compatible"
    assert of("autopilot") == "anthropic"


def test_a_name_given_to_the_compatible_server_is_asked_there():
    served = find_entry("qwen3:30b", ("qwen3:30b", "gpt-5.5"))
    assert served is not None
    assert (served.provider, served.api_name) == ("compatible", "qwen3:30b")
    gateway = find_entry("gpt-5.5", ("qwen3:30b", "gpt-5.5"))
    assert gateway is not None
    assert gateway.provider == "compatible"


@pytest.mark.parametrize(
    ("requested", "model", "wire"),
    [
        ("claude-opus-4.7", "claude-opus-4.7", "claude-opus-4.7"),
        ("claude-opus-4-7", "claude-opus-4.7", "claude-opus-4.7"),
        ("bu-mini", "claude-haiku-5.5", "bu-mini"),
        ("claude-opus-5", "claude-opus-5", "bu-ultra"),
        (None, "claude-sonnet-5", "claude-sonnet-5"),
        (None, "autopilot", "bu-mini"),
    ],
)
def test_clients_are_told_a_name_they_know(requested: str | None, model: str, wire: str):
    assert wire_name_for(requested, entry(model)) == wire


def test_a_model_that_is_no_longer_known_still_has_a_wire_name():
    assert wire_name_for("claude-2", None) == "bu-max"


def test_effort_is_taken_from_the_level_that_v3_knows():
    assert choose_effort(entry("claude-sonnet-5"), None, "disabled") is Effort.NONE
    assert choose_effort(entry("claude-sonnet-5"), None, "high") is Effort.HIGH
    assert choose_effort(entry("claude-sonnet-5"), Effort.MAX, "low") is Effort.MAX
    assert choose_effort(entry("claude-sonnet-5"), None, None) is None
    assert choose_effort(entry("autopilot"), None, "disabled") is None


@pytest.mark.parametrize(
    ("model", "effort", "level", "field"),
    [
        ("claude-fable-5", Effort.NONE, None, "reasoningEffort"),
        ("claude-fable-5", None, "disabled", "thinkingLevel"),
        ("gpt-5.5", Effort.MAX, None, "reasoningEffort"),
        ("claude-sonnet-5", None, "extreme", "thinkingLevel"),
        ("autopilot", Effort.HIGH, None, "reasoningEffort"),
    ],
)
def test_an_effort_the_model_cannot_do_is_refused_by_field(
    model: str, effort: Effort | None, level: str | None, field: str
):
    with pytest.raises(RequestInvalid) as refusal:
        choose_effort(entry(model), effort, level)
    assert refusal.value.location == ("body", field)


def test_the_nearest_effort_is_the_next_lower_one_or_else_the_lowest():
    assert entry("claude-haiku-4.5").nearest_effort(Effort.MAX) is Effort.HIGH
    assert entry("claude-opus-4.6").nearest_effort(Effort.XHIGH) is Effort.HIGH
    assert entry("claude-fable-5").nearest_effort(Effort.MINIMAL) is Effort.LOW
    assert entry("autopilot").nearest_effort(Effort.LOW) is None
    assert entry("gpt-5.5").nearest_effort(None) is None


def test_a_model_that_always_reasons_does_so_as_it_likes_when_asked_not_to():
    assert entry("claude-sonnet-5").nearest_effort(Effort.NONE) is Effort.NONE
    for name in ("claude-fable-5", "claude-mythos-5", "gpt-5-mini"):
        assert entry(name).nearest_effort(Effort.NONE) is None
