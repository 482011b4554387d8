"""The reviewer in a whole appliance: what it says is in the session's messages, costs and answer; the setting."""

import json
from decimal import Decimal
from typing import Any

from tests.stand_in import StandIn
from tests.system.instance import Instance

FIRST, SECOND = {"done": {"text": "One lamp."}}, {"done": {"text": "Two lamps."}}
WRONG = {"reasoning": "One is missing.", "verdict": False, "failure_reason": "The second lamp is missing."}
RIGHT = {"reasoning": "Both are there.", "verdict": True, "failure_reason": ""}


def said(instance: Instance, session: dict[str, Any]) -> list[bool]:
    told = [json.loads(message["data"]) for message in instance.messages(session)]
    return [data["verdict"] for data in told if (data.get("category"), data.get("action")) == ("judge", "review")]


def test_an_answer_goes_back_once_and_the_verdicts_are_told_and_paid_for(instance: Instance, stand_in: StandIn):
    usage = {"input": 50_000, "output": 10}
    reviews = [{"reply": WRONG, "__usage__": usage}, RIGHT]
    stand_in.add("RUN-review", {"steps": [FIRST, SECOND], "reviews": reviews})
    session = instance.create(task="RUN-review Find two lamps.", model="claude-opus-4.7")
    session = instance.wait_for(session, seconds=90)
    assert (session["output"], session["isTaskSuccessful"], session["stepCount"]) == ("Two lamps.", True, 2)
    assert said(instance, session) == [False, True]
    assert session["totalInputTokens"] > 50_000
    assert Decimal(session["llmCostUsd"]) > Decimal("0.2")


def test_with_the_reviewer_off_every_answer_is_handed_over_as_it_is(
    provider_settings: dict[str, str], stand_in: StandIn
):
    stand_in.add("RUN-unseen", {"steps": [FIRST, SECOND], "reviews": [WRONG]})
    with Instance(provider_settings | {"REVIEWER": "off"}) as instance:
        session = instance.create(task="RUN-unseen Find two lamps.", model="claude-opus-4.7")
        session = instance.wait_for(session, seconds=90)
        assert (session["output"], session["stepCount"]) == ("One lamp.", 1)
        assert said(instance, session) == []
    assert not any(request.kind == "review" for request in stand_in.requests if request.marker == "RUN-unseen")
