"""What an agent's run tells of secrets and of refused addresses, on a real browser."""

import re
from pathlib import Path

import pytest

from appliance.agent.assignment import Assignment
from appliance.agent.outlets import Outlets
from appliance.agent.record import Record
from appliance.browser.policy import Policy
from appliance.events import Charge, FeedEvent, Notice
from appliance.sensitive import SensitiveData
from appliance.words import ReceiptStatus
from tests.appliance.agent.conftest import Finish
from tests.site import Site

DONE = {"done": {"text": "It is done."}}


async def test_outlets_let_no_secret_pass_to_feed_or_record(tmp_path: Path):
    told: list[FeedEvent] = []

    async def emit(event: FeedEvent, charges: tuple[Charge, ...] = ()) -> None:
        told.append(event)

    async def keep(number: int, screenshot: object) -> str:
        return ""

    outlets = Outlets(emit, keep, lambda tokens: None, Record(tmp_path / "history.json"))
    secrets = SensitiveData.read({"pw": "hunter-22"})
    outlets.without(secrets).run_opened(Assignment("Enter hunter-22."), "m")
    await outlets.without(secrets).notice("code", "It was hunter-22.")
    assert told == [Notice(code="code", text="It was <secret>pw</secret>.")]
    written = (tmp_path / "history.json").read_text()
    assert "hunter" not in written
    assert written.count("<secret>pw</secret>") == 2
    assert outlets.without(SensitiveData()) is outlets


class TestWithAllowedDomains:
    @pytest.fixture
    def policy(self) -> Policy:
        return Policy(private_allowed=("loopback",), allowed_domains=("127.0.0.1",))

    async def test_receipts_notes_and_one_notice_name_what_was_refused(self, finish: Finish, site: Site):
        elsewhere = site.url("/controls.html", host=2)
        link = f"document.body.innerHTML = '<a href={elsewhere}>Away</a>'"
        fetching = f"Promise.all([1, 2].map(() => fetch('{site.url('/x', host=3)}').catch(() => 0)))"
        steps = [
            {"navigate": {"url": site.url("/")}},
            {"navigate": {"url": elsewhere}},
            {"evaluate": {"code": link}},
            {"click": {"index": {"text": "Away"}}},
            {"evaluate": {"code": fetching}},
            {"navigate": {"url": site.url("/")}},
            DONE,
        ]
        site.requests.clear()
        outcome, work = await finish(steps)
        assert outcome.is_successful
        assert {seen.host for seen in site.requests} == {"127.0.0.1"}
        allowed = "is outside the domains this task may use (127.0.0.1)"
        navigated, clicked = work.receipts[1], work.receipts[3]
        assert (navigated.status, "127.0.0.2" in navigated.text, allowed in navigated.text) == (
            ReceiptStatus.BLOCKED,
            True,
            True,
        )
        assert f"a request was refused: http://127.0.0.2:{site.port} {allowed}" in clicked.text
        told = [notice.text for notice in work.of(Notice) if notice.code == "request_refused"]
        assert sorted(text.split(" ")[0] for text in told) == [
            f"http://127.0.0.2:{site.port}",
            f"http://127.0.0.3:{site.port}",
        ]
        assert (
            f"The page could not reach a site: http://127.0.0.3:{site.port} {allowed}"
            in work.asked[-1].text + work.asked[-2].text
        )


async def test_the_model_is_told_the_names_for_the_page_and_never_the_values(finish: Finish, site: Site):
    secrets = {"http://127.0.0.1": {"here": "hunter-22"}, "other.test": {"elsewhere": "another-one"}}
    steps = [
        {"navigate": {"url": site.url("/secret_login.html")}},
        {"input": {"index": {"label": "Password"}, "text": "<secret>here</secret>"}},
        {"checkpoint": {"file_name": "got.json", "value": "<secret>here</secret>", "partial": True}},
        DONE,
    ]
    outcome, work = await finish(steps, sensitive=secrets)
    assert outcome.is_successful
    assert "<secret>here</secret>" not in work.asked[0].text
    assert "Secrets you may enter on this page: <secret>here</secret>." in work.asked[1].text
    assert "elsewhere" not in work.asked[1].text
    assert "You typed: <secret>here</secret>" in work.asked[2].text.replace("\n", " ")
    for place in (*(request.text for request in work.asked), repr(work.events), repr(work.recorded)):
        assert "hunter" not in place
    kept = [path for path in work.folder.rglob("*") if path.is_file() and b"hunter-22" in path.read_bytes()]
    assert kept == []


async def test_the_model_does_not_read_a_secret_that_a_page_shows_sign_by_sign(finish: Finish, site: Site):
    steps = [
        {"navigate": {"url": site.url("/secret_scattered.html")}},
        {"input": {"index": {"label": "Password"}, "text": "<secret>pw</secret>"}},
        {"extract": {"query": "the signs"}},
        {"search_page": {"pattern": "h - u"}},
        {"find_elements": {"selector": "#boxes input"}},
        DONE,
    ]
    outcome, work = await finish(steps, sensitive={site.url(""): {"pw": "hunter7secret"}})
    assert outcome.is_successful
    said = [text for request in work.stand_in.requests for text in request.texts]
    assert any("[2]<button>" in text for text in said)
    for text in said:
        letters = re.findall(
            r"^\s*(?:- )?(?:(?:\*?\[\d+\])?<(?:button>|[^>]*value=\"?))?([a-z0-9])\b", text, re.MULTILINE
        )
        assert "hunter7secret" not in "".join(letters)
        assert "h - u - n" not in text
