import json
from typing import Any

import jsonschema_rs
import pytest

from appliance.actions.base import Action, ActionContext, Parameters, Receipt
from appliance.actions.registry import ACTIONS, Registry
from appliance.errors import ActionInvalid, BrowserLost
from appliance.words import ReceiptStatus
from tests.appliance.actions.conftest import Hands

NAMES = """navigate search go_back wait wait_for click hover drag scroll find_text input send_keys dropdown_options
    select_dropdown upload_file answer_dialog switch close look search_page find_elements extract screenshot save_as_pdf
    evaluate write_file replace_file read_file checkpoint remember recall
    add_item update_item update_items set_field remove_items mark_absent read_output search_output add_items_from_file
    update_items_from_file solve_captcha done find_links read_pages http_fetch
    run_code_file"""


def reply(*calls: dict[str, Any]) -> dict[str, Any]:
    return {"what_i_see": "a", "plan_to_goal": "b", "next_move": "c", "action": list(calls)}


def test_every_action_of_the_design_is_there():
    assert {action.name for action in ACTIONS} == set(NAMES.split())
    assert all(f"\n{name} {{" in "\n" + Registry().describe() for name in NAMES.split())


def test_the_schema_is_small_and_takes_good_replies_only():
    schema = Registry().reply_schema()
    validator = jsonschema_rs.validator_for(schema)
    assert len(json.dumps(schema, separators=(",", ":"))) < 220 * len(ACTIONS)
    assert "$ref" not in json.dumps(schema)
    assert validator.is_valid(reply({"click": {"index": 12}}, {"done": {"text": "x", "success": True}}))
    assert validator.is_valid(reply({"go_back": {}}))
    assert validator.is_valid(reply({"select_dropdown": {"index": 1, "text": ["a", "b"]}}))
    assert not validator.is_valid(reply())
    assert not validator.is_valid(reply(*[{"go_back": {}}] * 9))
    assert not validator.is_valid(reply({"input": {"index": 1}}))
    assert not validator.is_valid(reply({"fly": {}}))
    assert not validator.is_valid({"action": [{"go_back": {}}]})


@pytest.mark.parametrize(
    ("call", "fields"),
    [
        ({"click": {"index": "12", "x": None}}, {"index": 12, "x": None}),
        ({"input": {"index": 3, "text": 42, "submit": "true"}}, {"text": "42", "submit": True}),
        ({"go_back": None}, {}),
        ({"go_back": {}, "click": None}, {}),
        ({"navigate": "https://example.com"}, {"url": "https://example.com"}),
        ({"done": {"text": {"a": 1}}}, {"text": {"a": 1}}),
        ({"wait": {}}, {"seconds": 3.0}),
    ],
)
def test_obvious_slips_are_read_as_meant(call: dict[str, Any], fields: dict[str, Any]):
    parsed = Registry().parse(call)
    assert {name: getattr(parsed.parameters, name) for name in fields} == fields


@pytest.mark.parametrize(
    ("call", "says"),
    [
        ({"clik": {"index": 1}}, "did you mean click?"),
        ({"fly": {}}, "there are: navigate"),
        ({}, "one key"),
        ([], "one key"),
        ({"click": {"index": 1}, "go_back": {}}, "exactly one key"),
        ({"click": {"index": "abc"}}, "click takes {index?: int, x?: int, "),
        ({"click": {"indx": 1}}, "indx: "),
        ({"input": {"index": 1}}, "text: Field required"),
        ({"wait": {"seconds": 1000}}, "seconds: "),
        ({"input": 5}, "input takes"),
    ],
)
def test_a_defect_is_named(call: Any, says: str):
    with pytest.raises(ActionInvalid) as caught:
        Registry().parse(call)
    assert says in caught.value.message


class Nothing(Parameters):
    pass


async def test_a_crash_of_ours_is_a_failed_receipt_and_a_lost_browser_is_not(hands: Hands):
    async def crash(context: ActionContext, _: Nothing) -> Receipt:
        raise ZeroDivisionError

    async def lose(context: ActionContext, _: Nothing) -> Receipt:
        raise BrowserLost("gone")

    async def hang(context: ActionContext, _: Nothing) -> Receipt:
        await hands.browser.lost.wait()
        return Receipt(ReceiptStatus.OK, "")

    registry = Registry(
        [
            Action("crash", "", Nothing, crash),
            Action("lose", "", Nothing, lose),
            Action("hang", "", Nothing, hang, deadline=0.05),
        ]
    )
    done = await registry.run(hands.context, registry.parse({"crash": {}}))
    assert (done.status, done.ends_chain) == (ReceiptStatus.FAILED, True)
    assert "ZeroDivisionError" in done.text
    assert "given up after 0.05 s" in (await registry.run(hands.context, registry.parse({"hang": {}}))).text
    with pytest.raises(BrowserLost):
        await registry.run(hands.context, registry.parse({"lose": {}}))
