import json

import pytest

from appliance.models.base import ReplyShape
from appliance.models.replies import compose, is_object
from tests.appliance.models.asking import ALL, CLAUDE, LOCAL, SHAPE, a_request, ask_both_ways, opened
from tests.stand_in import StandIn

REPLY = {"what_i_see": "A page.", "action": [{"wait": {}}]}
FACTS = ReplyShape("facts", "", {"type": "object", "properties": {"name": {}, "price": {}}, "required": ["name"]})


def said(value: object) -> str:
    return json.dumps(value)


@pytest.mark.parametrize("name", ALL)
@pytest.mark.parametrize("leak", ["text", "fence", "thinking", "string", "quoted", "xml"])
async def test_a_leaked_reply_is_put_together_again(name: str, leak: str):
    step = {"reply": {**REPLY, "what_i_see": "<b>"}, "__leak__": leak}
    async with StandIn([step]) as stand_in, opened(name, stand_in) as model:
        whole, streamed, _ = await ask_both_ways(model, a_request())
    assert json.loads(whole.text) == json.loads(streamed.text) == {**REPLY, "what_i_see": "<b>"}


@pytest.mark.parametrize("name", [CLAUDE, LOCAL])
async def test_parallel_calls_become_one_with_the_actions_in_order(name: str):
    steps = [
        {
            "__parallel__": [
                {"what_i_see": "A.", "action": [{"wait": {}}]},
                {"what_i_see": "B.", "action": [{"go_back": {}}]},
            ]
        }
    ]
    refuses = ["json_schema"]  # so that the compatible server is offered a tool
    async with StandIn(steps, refuses=refuses) as stand_in, opened(name, stand_in) as model:
        whole, streamed, _ = await ask_both_ways(model, a_request())
    expected = {"what_i_see": "A.", "action": [{"wait": {}}, {"go_back": {}}]}
    assert json.loads(whole.text) == json.loads(streamed.text) == expected


def test_replies_in_several_texts_become_one_and_repeated_ones_count_once():
    other = {**REPLY, "action": [{"go_back": {}}]}
    assert json.loads(compose(SHAPE, [said(REPLY), said(other)]))["action"] == [{"wait": {}}, {"go_back": {}}]
    assert json.loads(compose(SHAPE, [said(REPLY), said(REPLY)])) == REPLY


def test_what_was_said_well_comes_back_byte_for_byte():
    text = '{ "what_i_see": "A", "action": [ ] }'
    assert compose(SHAPE, [text]) == compose(SHAPE, [], [text]) == text
    assert compose(None, ["a", "b"], [], ["c"]) == "ab"


@pytest.mark.parametrize(
    "text",
    [
        said({"reply": REPLY}),
        said({"name": "reply", "input": REPLY}),
        said({"name": "reply", "arguments": said(REPLY)}),
        said(said(REPLY)),
        f"<reply><what_i_see>A page.</what_i_see><action>{said(REPLY['action'])}</action></reply>",
    ],
)
def test_a_wrapped_reply_is_unwrapped(text: str):
    assert json.loads(compose(SHAPE, [text])) == REPLY
    if not text.startswith("<"):
        assert json.loads(compose(SHAPE, [], [text])) == REPLY


def test_actions_missing_from_a_call_are_taken_from_beside_it():
    beside = f"So: {said({'action': [{'wait': {}}]})}"
    for texts, thoughts in (([beside], []), ([], [beside])):
        composed = compose(SHAPE, texts, [said({"what_i_see": "A page."})], thoughts)
        assert json.loads(composed) == REPLY


def test_what_contradicts_itself_is_left_as_it_was_said():
    text = f"Either {said(REPLY)} or {said({**REPLY, 'action': [{'go_back': {}}]})}"
    assert compose(SHAPE, [text]) == text
    assert compose(SHAPE, ["Hm."], thoughts=[text]) == "Hm."


def test_an_answer_in_the_text_counts_and_not_what_was_thought_before_it():
    assert compose(SHAPE, ['{"something": "else"}'], thoughts=[said(REPLY)]) == '{"something": "else"}'
    assert json.loads(compose(SHAPE, [said(REPLY)], thoughts=[said({**REPLY, "action": []})])) == REPLY


def test_a_shape_without_lists_is_known_by_its_required_fields():
    assert json.loads(compose(FACTS, ['It is {"name": "Lamp", "price": 3}.'])) == {"name": "Lamp", "price": 3}
    assert compose(FACTS, ['It is {"price": 3}.']) == 'It is {"price": 3}.'


@pytest.mark.parametrize("text", ["[" * 100_000, "{" * 5_000, '{"a": ' * 50_000])
def test_brackets_without_end_are_no_reply(text: str):
    assert compose(SHAPE, [text]) == text
    assert not is_object(text)
