import json
from typing import Literal

import pytest

from appliance.actions.registry import Registry
from appliance.agent.history import full_text
from appliance.agent.repair import read_plan
from appliance.agent.step import Plan, Step
from appliance.errors import ActionInvalid, ReplyMalformed
from appliance.events import TokenCount
from appliance.models.base import Reply

REGISTRY = Registry()
CARDS = {"what_i_see": "A form.", "plan_to_goal": "Fill it.", "next_move": "Click."}


def read(text: str, *, only_done: bool = False, stop: Literal["end", "length"] = "end") -> Plan:
    reply = Reply(text, TokenCount(), "m", stop)
    return read_plan(reply, REGISTRY, only_done=only_done)


def calls(plan: Plan) -> list[tuple[str, dict[str, object]]]:
    return [(action.call.name, action.call.arguments) for action in plan.actions]


WRITE = {"write_file": {"file_name": "a.md", "content": "x"}}
READ = {"read_file": {"file_name": "a.md"}}
PLAIN = json.dumps({**CARDS, "action": [WRITE, READ]})
EXPECTED = [("write_file", {"file_name": "a.md", "content": "x"}), ("read_file", {"file_name": "a.md"})]


NAMED = {"name": "write_file", "arguments": WRITE["write_file"]}
TYPED = {"type": "read_file", "file_name": "a.md"}
WAYS = {
    "plain": PLAIN,
    "fenced": f"```json\n{PLAIN}\n```",
    "prose around": f"I think {{this}} will work.\n\n{PLAIN}\nGood luck!",
    "quoted whole": json.dumps(PLAIN),
    "wrapped": json.dumps({"reply": {**CARDS, "action": [WRITE, READ]}}),
    "wrapped and quoted": json.dumps({"parameters": json.dumps({**CARDS, "action": [WRITE, READ]})}),
    "action quoted": json.dumps({**CARDS, "action": json.dumps([WRITE, READ])}),
    "action an object": json.dumps({**CARDS, "action": {**WRITE, **READ}}),
    "actions for action": json.dumps({**CARDS, "actions": [WRITE, READ]}),
    "one call quoted": json.dumps({**CARDS, "action": [json.dumps(WRITE), READ]}),
    "calls beside the sentences": json.dumps({**CARDS, **WRITE, **READ}),
    "leaked in tags": json.dumps({**CARDS, "next_move": f"Click. <action>{json.dumps([WRITE, READ])}</action>"}),
    "leaked as text": json.dumps({**CARDS, "next_move": f'Click.", "action": {json.dumps([WRITE, READ])}'}),
    "name and arguments": json.dumps({**CARDS, "action": [NAMED, TYPED]}),
    "arguments quoted": json.dumps({**CARDS, "action": [{"write_file": json.dumps(WRITE["write_file"])}, READ]}),
    "trailing comma": PLAIN.replace("}]}", "},]}"),
    "last brace missing": PLAIN[:-1],
    "control characters": PLAIN.replace('"A form."', '"A\tform\x01."'),
    "bare list": json.dumps([WRITE, READ]),
}


@pytest.mark.parametrize("text", WAYS.values(), ids=WAYS)
def test_a_reply_is_read_as_it_was_meant(text: str):
    assert calls(read(text)) == EXPECTED


def test_the_three_sentences_are_optional():
    plan = read(json.dumps({"action": [READ]}))
    assert (plan.see, plan.plan, plan.move) == ("", "", "")


def test_a_leaked_action_is_not_left_in_the_sentence():
    plan = read(json.dumps({**CARDS, "next_move": f"Click. <action>{json.dumps([READ])}</action>"}))
    assert plan.move == "Click."


@pytest.mark.parametrize(
    ("text", "defect"),
    [
        ("", "empty"),
        ("I would rather not.", "no JSON object"),
        (json.dumps(CARDS), "no `action`"),
        (json.dumps({**CARDS, "action": []}), "empty list"),
        (json.dumps({**CARDS, "action": None}), "no `action`"),
        (json.dumps({**CARDS, "action": 7}), "no `action`"),
        (json.dumps({**CARDS, "action": "click the button"}), "a text, not a list"),
        (json.dumps({**CARDS, "action": [{"read_fil": {"file_name": "a"}}]}), "did you mean read_file"),
        (json.dumps({**CARDS, "action": [{"read_file": {"name": "a"}}]}), "file_name: Field required"),
        (json.dumps({**CARDS, "action": [3]}), "first action is not valid"),
        (PLAIN[: PLAIN.index("a.md") + 2], "middle of a string"),
    ],
)
def test_a_defect_is_named(text: str, defect: str):
    with pytest.raises(ReplyMalformed, match=defect):
        read(text)


def test_a_reply_cut_off_for_its_length_is_never_completed():
    with pytest.raises(ReplyMalformed, match="too long"):
        read(PLAIN, stop="length")


def test_a_wrong_call_behind_a_right_one_stays_with_its_defect():
    plan = read(json.dumps({**CARDS, "action": [READ, {"fly": {}}]}))
    assert isinstance(plan.actions[1].runnable, ActionInvalid)
    assert plan.actions[1].call.name == "fly"


def test_only_the_answer_is_taken_when_only_the_answer_is_asked_for():
    plan = read(json.dumps({**CARDS, "action": [READ, {"done": {"text": "Found."}}]}), only_done=True)
    assert calls(plan) == [("done", {"text": "Found."})]
    with pytest.raises(ReplyMalformed, match="did not call done"):
        read(json.dumps({**CARDS, "action": [READ]}), only_done=True)


def test_at_most_eight_actions_are_taken_and_the_others_counted():
    plan = read(json.dumps({**CARDS, "action": [READ] * 11}))
    assert (len(plan.actions), plan.left_out) == (8, 3)
    assert "- 3 more: not done" in full_text(Step(1, plan=plan))


def test_calls_have_ids_of_their_own():
    plan = read(json.dumps({**CARDS, "action": [READ, READ]}))
    assert plan.actions[0].call.call_id != plan.actions[1].call.call_id


def test_objects_in_prose_are_not_taken_for_the_reply():
    text = f'First {{"index": 3}} then {{"read_file": {{"file_name": "b"}}}}: {PLAIN}'
    assert calls(read(text)) == EXPECTED


def test_half_a_character_in_a_reply_is_replaced() -> None:
    half = json.dumps({"what_i_see": "\ud83d", "action": [{"done": {"text": "a \ud800"}}]})
    for text in (half, json.dumps(half), half.replace("\\ud800", "\ud800")):
        plan = read(text)
        assert calls(plan) == [("done", {"text": "a �"})]


def test_a_reply_that_is_nested_without_end_names_that() -> None:
    for text in ('{"a":' * 20_000, '{"action": "' + "[" * 20_000 + '"}'):
        with pytest.raises(ReplyMalformed, match="nested too deeply"):
            read(text)
