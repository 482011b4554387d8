import asyncio
import json
from decimal import Decimal

import pytest

from appliance.agent.assignment import Assignment
from appliance.agent.budget import Budget
from appliance.agent.metering import MeteredModel
from appliance.agent.reviewer import MAX_ANSWER, Material, Reviewer, Verdict, shortened
from appliance.errors import RunFailed
from appliance.words import FailureKind
from tests.appliance.agent.conftest import open_model_of
from tests.stand_in import StandIn


def test_a_short_answer_is_shown_as_it_is():
    assert shortened("Two lamps.") == "Two lamps."
    assert json.loads(shortened({"name": "x" * 7_000})) == {"name": "x" * 7_000}


def test_of_a_long_answer_the_long_values_are_cut_first():
    told = json.loads(shortened([{"name": f"Lamp {n}", "text": "x" * 2_000} for n in range(14)]))
    assert [item["name"] for item in told] == [f"Lamp {n}" for n in range(14)]
    assert told[0]["text"].endswith("… (2,000 characters)")


def test_an_answer_that_stays_too_long_is_cut_and_says_how_much_is_missing():
    for answer in ("x" * 20_000, [f"Lamp {n}" for n in range(5_000)]):
        told = shortened(answer)
        assert len(told) == MAX_ANSWER
        assert told.endswith(" characters more)")


def test_an_answer_that_is_nested_without_end_is_shown_by_its_beginning():
    answer: list[object] = ["x" * 9_000]
    for _ in range(700):
        answer = [answer]
    told = shortened(answer)
    assert told.startswith("[" * 700)
    assert len(told) <= MAX_ANSWER


async def test_a_verdict_counts_also_where_the_rest_of_the_reply_is_null():
    task = Assignment("Find a lamp")
    judgement = {"verdict": False, "failure_reason": "Name its price.", "reasoning": None, "impossible_task": None}
    with StandIn({"steps": [{"wait": {}}], "reviews": [{**judgement, "reached_captcha": None}]}) as stand_in:
        model = open_model_of(stand_in, "compatible")
        metered = MeteredModel(model, Budget(task, lambda _: Decimal(0)), asyncio.Event())
        verdict = await Reviewer(metered, task).review(Material("One lamp."), 60.0)
        await model.close()
    assert verdict == Verdict(is_right=False, reason="Name its price.")


async def test_a_review_takes_no_more_than_the_seconds_there_are_for_it():
    task = Assignment("Find a lamp")
    with StandIn({"steps": [{"wait": {}}], "reviews": [{"__hang__": True}]}) as stand_in:
        model = open_model_of(stand_in, "anthropic")
        metered = MeteredModel(model, Budget(task, lambda _: Decimal(0)), asyncio.Event())
        with pytest.raises(RunFailed, match=r"within 0\.5 seconds") as raised:
            await Reviewer(metered, task).review(Material("One lamp."), 0.5)
        await model.close()
    assert raised.value.failure is FailureKind.PROVIDER_TIMEOUT
