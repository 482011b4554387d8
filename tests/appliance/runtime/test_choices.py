from dataclasses import replace
from datetime import UTC, datetime
from decimal import Decimal
from uuid import uuid4

import pytest

from appliance.errors import RequestInvalid
from appliance.models.providers import ProviderKeys
from appliance.persistence.records import SessionRecord
from appliance.runtime.choices import ModelRules, choose, make_title
from appliance.runtime.wishes import SessionWish
from appliance.words import Effort, SessionStatus

ANTHROPIC = ModelRules(ProviderKeys(anthropic_key="k"))
BOTH = ModelRules(ProviderKeys(anthropic_key="k", openai_key="k"))
KEYLESS = ModelRules(ProviderKeys())


def _session(**fields):
    now = datetime.now(UTC)
    blank = SessionRecord(uuid4(), SessionStatus.IDLE, "claude-sonnet-5", "claude-sonnet-5", now, now)
    return replace(blank, **fields)


def _refusal(wish, rules=ANTHROPIC, current=None):
    with pytest.raises(RequestInvalid) as caught:
        choose(wish, rules, current)
    return caught.value


def test_without_a_model_the_best_that_has_a_key_is_taken_and_without_any_key_autopilot():
    assert choose(SessionWish(task="t"), ANTHROPIC)["model"] == "claude-sonnet-5"
    assert choose(SessionWish(task="t"), KEYLESS)["model"] == "autopilot"


def test_the_answer_names_the_model_as_the_caller_did_where_clients_know_the_name():
    chosen = choose(SessionWish(task="t", model="claude-opus-4.7"), ANTHROPIC)
    assert (chosen["model"], chosen["wire_model"]) == ("claude-opus-4.7", "claude-opus-4.7")
    assert choose(SessionWish(task="t", model="claude-opus-5"), ANTHROPIC)["wire_model"] == "bu-ultra"


def test_an_unknown_model_is_refused_with_a_list_of_those_there_are():
    refusal = _refusal(SessionWish(task="t", model="gpt-2"))
    assert refusal.location == ("body", "model")
    assert "claude-sonnet-5" in refusal.message
    assert "autopilot" in refusal.message


def test_a_model_without_its_key_is_refused_naming_the_setting():
    assert "OPENAI_API_KEY" in _refusal(SessionWish(task="t", model="gpt-5.5")).message


def test_an_effort_the_model_cannot_do_is_refused_naming_what_it_can():
    refusal = _refusal(SessionWish(task="t", model="claude-haiku-4.5", effort=Effort.MAX))
    assert refusal.location == ("body", "reasoningEffort")
    assert "high" in refusal.message


def test_a_thinking_level_becomes_an_effort_and_null_clears_both():
    chosen = choose(SessionWish(task="t", thinking_level="low"), ANTHROPIC)
    assert (chosen["effort"], chosen["thinking_level"]) == (Effort.LOW, "low")
    session = _session(effort=Effort.LOW, thinking_level="low")
    cleared = choose(SessionWish(task="t", session_id=session.id, clears_thinking=True), ANTHROPIC, session)
    assert (cleared["effort"], cleared["thinking_level"]) == (None, None)


def test_a_follow_up_changes_only_what_was_said():
    session = _session(max_steps=7, keep_alive=True, effort=Effort.HIGH)
    wish = SessionWish(task="next", session_id=session.id, max_steps=9)
    assert choose(wish, ANTHROPIC, session) == {"max_steps": 9}


def test_a_follow_up_with_another_model_keeps_as_much_effort_as_that_model_can_do():
    session = _session(effort=Effort.MAX, thinking_level=None)
    wish = SessionWish(task="next", session_id=session.id, model="claude-haiku-4.5")
    assert choose(wish, ANTHROPIC, session)["effort"] is Effort.HIGH


@pytest.mark.parametrize(
    ("wish", "field"),
    [
        (SessionWish(task="  \n"), "task"),
        (SessionWish(session_id=uuid4()), "task"),
        (SessionWish(task="t", screen_width=800), "browserScreenHeight"),
        (SessionWish(task="t", screen_height=800), "browserScreenWidth"),
        (SessionWish(task="t", output_schema={"type": "nonsense"}), "outputSchema"),
        (SessionWish(task="t", output_schema={"$ref": "http://127.0.0.1:9/schema"}), "outputSchema"),
    ],
)
def test_what_does_not_fit_together_is_refused_naming_the_field(wish, field):
    assert _refusal(wish).location == ("body", field)


def test_a_money_limit_is_refused_for_a_model_without_a_known_price():
    rules = ModelRules(ProviderKeys(compatible_base_url="http://localhost", compatible_models=("house-model",)))
    wish = SessionWish(task="t", model="house-model", max_cost_usd=Decimal(1))
    assert _refusal(wish, rules).location == ("body", "maxCostUsd")
    assert choose(SessionWish(task="t", max_cost_usd=Decimal(1)), KEYLESS)["max_cost_usd"] == Decimal(1)


def test_the_title_is_the_first_line_cut_at_a_word():
    assert make_title("\n  Find   the lamp \n and more") == "Find the lamp"
    title = make_title("word " * 40)
    assert title.endswith("word…")
    assert len(title) <= 81
    assert make_title("") == ""
