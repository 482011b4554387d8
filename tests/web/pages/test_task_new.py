from uuid import UUID

import pytest
from playwright.sync_api import expect

from appliance.words import Effort
from tests.web.api.running import RunningServer
from tests.web.browsing import Visitor
from web.pages.forms import read_schema

SCHEMA = '{"type": "object", "properties": {"name": {"type": "string"}}}'


def session_id(visitor: Visitor) -> UUID:
    return UUID(visitor.page.url.rsplit("/", 1)[1])


def test_a_task_is_started_with_everything_that_was_chosen(eva: Visitor, server: RunningServer) -> None:
    page = eva.page
    page.get_by_label("Task", exact=True).fill("Record the lamp\nOpen http://127.0.0.1:1/lamp")
    page.get_by_label("Model").select_option("gpt-5.6-terra")
    page.get_by_text("More", exact=True).click()
    page.get_by_label("Most steps").fill("12")
    page.get_by_label("Most money, in dollars").fill("0,75")
    page.get_by_label("Effort").select_option("high")
    page.get_by_label("Keep the session open for follow-ups").check()
    page.get_by_label("Output schema").fill(SCHEMA)
    page.get_by_role("button", name="Start").click()
    page.wait_for_url("**/sessions/*")
    session = server.do(lambda: server.appliance.sessions.find(session_id(eva)))
    assert session.model == "gpt-5.6-terra"
    assert (session.max_steps, str(session.max_cost_usd), session.effort) == (12, "0.75", Effort.HIGH)
    assert session.keep_alive
    assert session.output_schema == read_schema(SCHEMA)
    expect(page.get_by_role("heading", name="Record the lamp")).to_be_visible()
    eva.open(f"/?again={session.id}")
    expect(page.get_by_label("Task", exact=True)).to_have_value("Record the lamp\nOpen http://127.0.0.1:1/lamp")
    expect(page.get_by_label("Model")).to_have_value("gpt-5.6-terra")
    expect(page.get_by_label("Most money, in dollars")).to_have_value("0.75")
    assert eva.complaints == []


def test_the_keyboard_alone_starts_a_task(eva: Visitor) -> None:
    expect(eva.page.get_by_label("Task", exact=True)).to_be_focused()
    eva.page.keyboard.type("Say hello from the keyboard")
    eva.page.keyboard.press("Control+Enter")
    eva.page.wait_for_url("**/sessions/*")
    expect(eva.page.get_by_role("heading", name="Say hello from the keyboard")).to_be_visible()


def test_models_without_a_key_say_which_one_they_wait_for(eva: Visitor) -> None:
    option = eva.page.locator("option", has_text="claude-sonnet-5.5")
    assert "needs ANTHROPIC_API_KEY" in option.inner_text()
    assert option.is_disabled()
    assert not eva.page.locator("option", has_text="autopilot").is_disabled()


def test_a_schema_is_checked_without_leaving_the_page(eva: Visitor) -> None:
    page = eva.page
    page.get_by_text("More", exact=True).click()
    for text, verdict in (
        ('{"type": "object", ', "This is not JSON: "),
        ('{"type": "wrong"}', "not a usable JSON Schema"),
        ("[1]", "A schema is a JSON object"),
        (SCHEMA, "This schema can be used. Fields: name."),
    ):
        page.get_by_label("Output schema").fill(text)
        page.get_by_role("button", name="Check").click()
        expect(page.locator("#schema-verdict")).to_contain_text(verdict)
    assert page.url == f"{eva.url}/"
    assert eva.complaints == []


@pytest.mark.parametrize(
    ("label", "value", "error"),
    [
        ("Most steps", "0", "Give a whole number from 1 to 1000."),
        ("Most money, in dollars", "much", "Give an amount in dollars"),
        ("Output schema", "{", "This is not JSON"),
    ],
)
def test_a_wrong_field_is_named_and_nothing_typed_is_lost(eva: Visitor, label: str, value: str, error: str) -> None:
    page = eva.page
    page.get_by_label("Task", exact=True).fill("Keep these words")
    page.get_by_text("More", exact=True).click()
    field = page.get_by_label(label)
    field.fill(value)
    page.evaluate("document.querySelector('.task-form').noValidate = true")
    page.get_by_role("button", name="Start").click()
    expect(page.get_by_text(error)).to_be_visible()
    expect(field).to_have_value(value)
    expect(field).to_have_attribute("aria-invalid", "true")
    expect(page.get_by_label("Task", exact=True)).to_have_value("Keep these words")
