import json
from typing import Any

import pytest

from appliance.content import Content
from appliance.errors import RunFailed
from appliance.models.addresses import find_address, is_same_page
from appliance.models.autopilot import Autopilot
from appliance.models.base import ModelRequest, Purpose, Scene
from appliance.store.coverage import Coverage, FieldCoverage
from appliance.words import FailureKind

PAGE = Content("http://a.test/lamp", "Lamp", "# Lamp\n\nShines.", ({"@type": "Product", "name": "Arc", "sku": "A1"},))
SCHEMA = {"type": "object", "required": ["name"], "properties": {"name": {"type": "string"}, "sku": {"type": "string"}}}


async def step(model: Autopilot, **facts: Any) -> dict[str, Any]:
    (action,) = await chain(model, **facts)
    return action


async def chain(model: Autopilot, **facts: Any) -> list[dict[str, Any]]:
    scene = Scene(**{"task": "Read http://a.test/lamp please.", **facts})
    reply = await model.ask(ModelRequest(Purpose.STEP, "", (), scene=scene))
    assert reply.model_name == "autopilot"
    assert sum((reply.tokens.input, reply.tokens.output)) == 0
    value = json.loads(reply.text)
    assert all(value[name].endswith(".") for name in ("what_i_see", "plan_to_goal", "next_move"))
    return value["action"]


async def extract(**facts: Any) -> str:
    scene = Scene(**{"task": "Read it.", "content": PAGE, **facts})
    return (await Autopilot().ask(ModelRequest(Purpose.EXTRACT, "", (), scene=scene))).text


async def test_it_opens_the_page_reads_it_and_hands_in_what_it_says():
    model = Autopilot()
    assert await step(model, url="about:blank") == {"navigate": {"url": "http://a.test/lamp"}}
    assert list(await step(model, url="http://a.test/lamp", step=2)) == ["extract"]
    done = await step(model, url="http://a.test/lamp", step=3, carried="# Lamp\n\nShines.")
    assert done == {"done": {"text": "# Lamp\n\nShines.", "success": True}}


async def test_a_redirect_is_followed_and_an_open_page_not_opened_again():
    model = Autopilot()
    await step(model, url="about:blank")
    assert list(await step(model, url="http://a.test/en/lamp", step=2)) == ["extract"]
    assert list(await step(Autopilot(), url="http://a.test/lamp/#top")) == ["extract"]


async def test_a_second_task_is_planned_afresh_whatever_its_step_number():
    model = Autopilot()
    await step(model, url="about:blank")
    await step(model, url="http://a.test/lamp", step=2)
    await step(model, url="http://a.test/lamp", step=3, carried="x")
    assert list(await step(model, url="http://other.test/", step=4)) == ["navigate"]


async def test_a_page_that_does_not_open_or_cannot_be_read_ends_the_run_with_a_reason():
    model = Autopilot()
    await step(model, url="about:blank")
    failed = (("navigate", "failed", "The page could not be opened, it was refused."),)
    done = (await step(model, url="about:blank", step=2, last=failed))["done"]
    assert done["success"] is False
    assert "http://a.test/lamp could not be read: The page could not be opened, it was refused." in done["text"]
    model = Autopilot()
    for number in range(1, 3):
        assert "extract" in await step(model, url="http://a.test/lamp", step=number)
    assert "done" in await step(model, url="http://a.test/lamp", step=3)


async def test_a_task_without_an_address_is_declined_in_plain_words():
    done = (await step(Autopilot(), task="Find me a cheap flight."))["done"]
    assert done["success"] is False
    assert "names no web address" in done["text"]
    assert "set a provider key" in done["text"]


def empty(*names: str) -> Coverage:
    """The coverage of an answer without a list that lacks these required fields."""
    return Coverage(0, (), tuple(FieldCoverage(name, True, 0, (), (0,)) for name in names))


async def test_with_a_schema_it_fills_in_what_the_page_states_and_hands_that_in():
    model = Autopilot()
    facts = {"url": PAGE.url, "output_schema": SCHEMA, "coverage": empty("name")}
    assert list(await step(model, **facts)) == ["extract"]
    carried = f"From the page:\n{await extract(output_schema=SCHEMA)}"
    written, added, done = await chain(model, **facts, step=2, carried=carried)
    assert json.loads(written["write_file"]["content"]) == {"name": "Arc", "sku": "A1", "_page": PAGE.url}
    assert added == {"add_items_from_file": {"name": written["write_file"]["file_name"]}}
    assert done["done"]["success"] is True


async def test_what_the_page_does_not_state_is_marked_absent_and_the_answer_not_called_whole():
    schema = {
        **SCHEMA,
        "required": ["name", "price"],
        "properties": {**SCHEMA["properties"], "price": {"type": "number"}},
    }
    model = Autopilot()
    facts = {"url": PAGE.url, "output_schema": schema, "coverage": empty("name", "price")}
    await step(model, **facts)
    *_, marked, done = await chain(model, **facts, step=2, carried=await extract(output_schema=schema))
    assert marked["mark_absent"]["field"] == "price"
    assert done["done"]["success"] is False


async def test_an_answer_that_is_sent_back_again_and_again_ends_the_run():
    model = Autopilot()
    facts = {"url": PAGE.url, "output_schema": SCHEMA, "coverage": empty("name")}
    await step(model, **facts)
    actions = await chain(model, **facts, step=2, carried=await extract(output_schema=SCHEMA))
    bounced = {**facts, "last": (("done", "failed", "done was sent back: it lacks something."),)}
    tries = 1
    with pytest.raises(RunFailed, match="done was sent back: it lacks something"):
        while "done" in actions[-1]:
            actions = await chain(model, **bounced, step=2 + tries)
            tries += 1
    assert tries == 4


async def test_in_the_turn_for_the_answer_alone_it_hands_in_what_there_is():
    done = (await step(Autopilot(), url=PAGE.url, output_schema=SCHEMA, coverage=empty("name"), only_done=True))["done"]
    assert done["success"] is False


async def test_a_dialog_that_holds_up_the_page_is_declined():
    model = Autopilot()
    await step(model, url="about:blank")
    held_up = (("navigate", "needs_decision", "A dialog asks: Leave?"),)
    assert await step(model, url="about:blank", step=2, last=held_up) == {"answer_dialog": {"accept": False}}
    answered = (("answer_dialog", "ok", "Declined."),)
    assert list(await step(model, url="about:blank", step=3, last=answered)) == ["navigate"]


@pytest.mark.parametrize(
    ("schema", "coverage", "reason"),
    [
        (
            {"type": "object", "required": ["price"], "properties": {"price": {"type": "number"}}},
            empty("price"),
            "price",
        ),
        ({"type": "array", "items": {"type": "string"}}, empty(""), "list of plain values"),
        ({"type": "string"}, None, "only fields of an object"),
    ],
)
async def test_a_schema_it_cannot_fill_fails_the_run_with_what_is_missing(
    schema: dict[str, Any], coverage: Coverage | None, reason: str
):
    model = Autopilot()
    carried = await extract(output_schema=schema)
    with pytest.raises(RunFailed, match=reason) as failed:
        for number in (1, 2):
            await step(model, url=PAGE.url, output_schema=schema, coverage=coverage, carried=carried, step=number)
    assert failed.value.failure is FailureKind.AGENT_FAILURE
    assert "choose a model" in failed.value.message


async def test_without_a_schema_the_page_is_returned_as_markdown_under_its_title():
    assert await extract() == "# Lamp\n\nShines."
    assert await extract(content=Content("http://x/", " A  page ", "Text.")) == "# A page\n\nText."
    assert await extract(content=Content("http://x/", "", "Text.")) == "# http://x/\n\nText."


async def test_a_huge_page_is_cut_and_says_so():
    text = await extract(content=Content("http://x/", "Long", "word " * 50_000))
    assert len(text) < 101_000
    assert text.endswith("(Cut here: the page has 250,007 characters.)")


async def test_its_reply_can_be_streamed():
    pieces: list[str] = []

    async def keep(piece: str) -> None:
        pieces.append(piece)

    scene = Scene("Read http://a.test/", url="about:blank")
    reply = await Autopilot().ask(ModelRequest(Purpose.STEP, "", (), scene=scene), keep)
    assert "".join(pieces) == reply.text


@pytest.mark.parametrize(
    ("task", "address"),
    [
        ("Open http://127.0.0.1:8421/demo/, then read.", "http://127.0.0.1:8421/demo/"),
        ("Read (see https://x.test/a_(b)).", "https://x.test/a_(b)"),
        ("“https://x.test/a?b=c&d=1”.", "https://x.test/a?b=c&d=1"),
        ("Go to example.com/shop and back", "https://example.com/shop"),
        ("HTTPS://X.test/Y!", "HTTPS://X.test/Y"),
        ("Mail ann@example.com about notes.md", None),
        ("Sum 1.5 and 2.5, e.g. quickly", None),
        ("Nothing here", None),
    ],
)
def test_the_first_address_of_a_task_is_found_without_the_sentence_around_it(task: str, address: str | None):
    assert find_address(task) == address


def test_the_same_page_is_known_by_its_address():
    assert is_same_page("http://A.test/x/#top", "http://a.test/x")
    assert is_same_page("http://a.test/", "http://a.test")
    assert not is_same_page("http://a.test/?q=1", "http://a.test/")
    assert not is_same_page("https://a.test/", "http://a.test/")
