import json
from typing import Any

import pytest

from appliance.content import Content
from appliance.errors import RunFailed
from appliance.models.autopilot import Autopilot, find_address, is_same_page
from appliance.models.base import ModelRequest, Purpose, Scene
from appliance.words import FailureKind

PAGE = Content("http://a.test/lamp", "Lamp", "# Lamp\n\nShines.", ({"@type": "Product", "name": "Arc", "sku": "A1"},))
SCHEMA = {"type": "object", "required": ["name"], "properties": {"name": {"type": "string"}, "sku": {"type": "string"}}}


async def step(model: Autopilot, **facts: Any) -> dict[str, Any]:
    scene = Scene(**{"task": "Read http://a.test/lamp please.", **facts})
    reply = await model.ask(ModelRequest(Purpose.STEP, "", (), scene=scene))
    assert reply.model_name == "autopilot"
    assert sum((reply.tokens.input, reply.tokens.output)) == 0
    value = json.loads(reply.text)
    assert all(value[name].endswith(".") for name in ("what_i_see", "plan_to_goal", "next_move"))
    (action,) = value["action"]
    return action


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
    await step(model, url="http://a.test/lamp", step=2, carried="x")
    assert list(await step(model, url="http://other.test/", step=3)) == ["navigate"]


async def test_a_page_that_does_not_open_or_cannot_be_read_ends_the_run_with_a_reason():
    model = Autopilot()
    await step(model, url="about:blank")
    done = (await step(model, url="about:blank", step=2))["done"]
    assert done["success"] is False
    assert "http://a.test/lamp could not be read" in done["text"]
    for number in range(1, 4):
        assert "done" not in await step(model, url="http://a.test/lamp", step=number)
    assert "done" in await step(model, url="http://a.test/lamp", step=4)


async def test_a_task_without_an_address_is_declined_in_plain_words():
    done = (await step(Autopilot(), task="Find me a cheap flight."))["done"]
    assert done["success"] is False
    assert "names no web address" in done["text"]
    assert "set a provider key" in done["text"]


async def test_with_a_schema_it_hands_in_the_json():
    carried = await extract(output_schema=SCHEMA)
    assert json.loads(carried) == {"name": "Arc", "sku": "A1"}
    done = (await step(Autopilot(), url=PAGE.url, output_schema=SCHEMA, carried=f"From the page:\n{carried}"))["done"]
    assert json.loads(done["text"]) == {"name": "Arc", "sku": "A1"}
    assert done["success"] is True


@pytest.mark.parametrize(
    ("schema", "carried", "reason"),
    [
        ({"type": "object", "required": ["price"], "properties": {"price": {"type": "number"}}}, "{}", "state price"),
        ({"type": "array", "items": {"type": "string"}}, None, "only plain fields of an object"),
        (
            {"type": "object", "required": ["rows"], "properties": {"rows": {"type": "array", "items": SCHEMA}}},
            None,
            "rows cannot be filled",
        ),
    ],
)
async def test_a_schema_it_cannot_fill_fails_the_run_with_what_is_missing(
    schema: dict[str, Any], carried: str | None, reason: str
):
    with pytest.raises(RunFailed, match=reason) as failed:
        await step(Autopilot(), url=PAGE.url, output_schema=schema, carried=carried)
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
