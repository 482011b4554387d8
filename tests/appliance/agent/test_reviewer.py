import json

from appliance.agent.reviewer import MAX_ANSWER, shortened


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
