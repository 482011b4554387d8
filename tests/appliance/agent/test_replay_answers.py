"""What a replay hands in and does again of runs that filled in an answer, read in bulk, or met a captcha."""

import asyncio
import json
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from appliance.agent.recorded import RecordedRun
from appliance.browser.connection import Browser
from appliance.captcha.capsolver import CapSolver
from appliance.captcha.solving import Captchas
from appliance.words import Completion, Ending
from tests.appliance.agent.conftest import Finish
from tests.appliance.agent.replaying import Stage
from tests.site import Site
from tests.stand_in.solver import KEY, SolverService

LAMPS: dict[str, Any] = {
    "type": "object",
    "properties": {
        "lamps": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {"name": {"type": "string"}, "sku": {"type": "string"}, "link": {"type": "string"}},
                "required": ["name"],
            },
        }
    },
    "required": ["lamps"],
}
DONE = {"done": {"text": "All is there."}}


@pytest.fixture
async def stage(browser: Browser, site: Site, tmp_path: Path) -> Stage:
    return Stage(browser, site, tmp_path)


async def fresh(stage: Stage) -> None:
    old = await stage.browser.list_tabs()
    await stage.browser.open_tab("about:blank")
    for tab in old:
        await stage.browser.close_tab(tab.tab_id)


def states(report: Any) -> list[tuple[str, str, str]]:
    return [(action.name, action.state, action.why) for action in report.actions]


async def test_an_answer_that_was_filled_in_again_comes_with_where_it_was_read_today(finish: Finish, stage: Stage):
    site = stage.site
    steps = [
        {"navigate": {"url": site.url("/bulk/list?count=3")}},
        {"find_links": {"href_contains": "/bulk/item"}},
        {"read_pages": {}},
        {"add_items_from_file": {"name": "rows_draft.json"}},
        DONE,
    ]
    first, work = await finish(steps, output_schema=LAMPS)
    assert first.is_successful
    await fresh(stage)
    again = await stage.again(work.recorded)
    assert again.report.completion is Completion.COMPLETE, states(again.report)
    assert (again.outcome.ending, again.outcome.is_successful) == (Ending.DONE, True)
    assert again.outcome.output == first.output
    assert again.outcome.provenance is not None
    source = again.outcome.provenance["/lamps/0/name"]
    assert source["status"] == "read"
    assert source["at"] > (first.provenance or {})["/lamps/0/name"]["at"]


async def test_a_recorded_answer_keeps_its_sources_without_the_pictures_of_another_session(
    finish: Finish, stage: Stage
):
    steps = [
        {"navigate": {"url": stage.site.url("/bulk/item?n=3")}},
        {"done": {"text": json.dumps({"lamps": [{"name": "Lamp 3"}]})}},
    ]
    first, work = await finish(steps, output_schema=LAMPS)
    recorded = (first.provenance or {})["/lamps/0/name"]
    assert recorded["screenshot"]
    await fresh(stage)
    again = await stage.again(work.recorded)
    assert (again.outcome.output, again.outcome.is_successful) == (first.output, True)
    source = (again.outcome.provenance or {})["/lamps/0/name"]
    assert source == {name: recorded[name] for name in ("status", "url", "quote", "at")}


async def test_a_recorded_answer_that_did_not_fit_does_not_fit_the_second_time_either(finish: Finish, stage: Stage):
    schema = {"type": "object", "properties": {"sku": {"type": "string"}}, "required": ["sku"]}
    steps = [
        {"navigate": {"url": stage.site.url("/bulk/item?n=3")}},
        {"look": {"from_line": 1}},
        {"mark_absent": {"field": "sku", "reason": "It is not there."}},
        DONE,
    ]
    first, work = await finish(steps, output_schema=schema)
    assert (first.ending, first.is_successful) == (Ending.DONE, False)
    await fresh(stage)
    again = await stage.again(work.recorded)
    assert (again.outcome.output, again.outcome.is_successful) == (first.output, False), states(again.report)


async def test_a_run_that_ended_early_is_done_again_as_far_as_it_came(finish: Finish, stage: Stage):
    steps = [
        {"navigate": {"url": stage.site.url("/bulk/item?n=3")}},
        {"add_item": {"item": {"name": "Lamp 3"}}},
        {"__http__": 401},
    ]
    first, work = await finish(steps, output_schema=LAMPS)
    assert first.output == {"lamps": [{"name": "Lamp 3"}]}
    await fresh(stage)
    again = await stage.again(work.recorded)
    assert again.outcome.output == first.output, states(again.report)
    assert again.outcome.is_successful
    assert (again.outcome.provenance or {})["/lamps/0/name"]["status"] == "read"


async def test_a_replay_that_breaks_off_hands_over_what_it_has(finish: Finish, stage: Stage):
    steps = [
        {"navigate": {"url": stage.site.url("/bulk/item?n=3")}},
        {"add_item": {"item": {"name": "Lamp 3"}}},
        {"navigate": {"url": stage.site.url("/bulk/item?n=4")}},
        DONE,
    ]
    _, work = await finish(steps, output_schema=LAMPS)
    run = work.recorded
    assert run.steps[2].answered is not None
    run.steps[2].answered.calls[0].arguments["url"] = "http://127.0.0.1:1/"
    await fresh(stage)
    again = await stage.again(run)
    assert again.report.completion is Completion.PARTIAL
    assert again.outcome.output == {"lamps": [{"name": "Lamp 3"}]}
    await fresh(stage)
    again = await stage.again(run, max_steps=2)
    assert (again.outcome.ending, again.outcome.is_successful) == (Ending.STEPS_SPENT, True)
    assert again.outcome.output == {"lamps": [{"name": "Lamp 3"}]}
    assert again.outcome.notice is not None


async def test_what_was_only_looked_at_counts_for_the_answer_of_a_replay_too(finish: Finish, stage: Stage):
    link = stage.site.url("/bulk/about")
    steps = [
        {"navigate": {"url": stage.site.url("/bulk/list?count=3")}},
        {"extract": {"query": "Where is more said?", "extract_links": True}},
        {"add_item": {"item": {"name": "Lamp 3", "link": link}}},
        {"mark_absent": {"field": "sku", "reason": "Not on the list.", "index": 0}},
        DONE,
    ]
    first, work = await finish({"steps": steps, "extracts": ["There."]}, output_schema=LAMPS)
    assert first.is_successful, first
    assert "link" in first.output["lamps"][0], first.output
    await fresh(stage)
    again = await stage.again(work.recorded)
    assert again.report.completion is Completion.COMPLETE, states(again.report)
    assert again.outcome.output == first.output


async def captcha_run(finish: Finish, stage: Stage, service: SolverService) -> RecordedRun:
    steps = [
        {"navigate": {"url": stage.site.url("/captcha_recaptcha_v2.html")}},
        {"solve_captcha": {}},
        {"done": {"text": "It is done."}},
    ]
    first, work = await finish(steps, captchas=bought_at(service))
    assert first.services_usd > 0
    await fresh(stage)
    return work.recorded


def bought_at(service: SolverService) -> Captchas:
    return Captchas(CapSolver(KEY, service.url, poll_seconds=0.01), Decimal("0.03"))


def elsewhere(run: RecordedRun, url: str) -> RecordedRun:
    """Return the run with another first page, to which its receipts are adapted as well."""
    assert run.steps[0].answered is not None
    run.steps[0].answered.calls[0].arguments["url"] = url
    return run


async def test_a_captcha_is_solved_again_only_where_one_is_there(finish: Finish, stage: Stage):
    with SolverService() as service:
        run = await captcha_run(finish, stage, service)
        again = await stage.again(run, captchas=bought_at(service))
        assert [action.state for action in again.report.actions] == ["held", "held"], states(again.report)
        assert again.outcome.services_usd > 0
        bought = len(service.tasks)
        await fresh(stage)
        again = await stage.again(elsewhere(run, stage.site.url("/bulk/about")), captchas=bought_at(service))
        assert states(again.report)[1][:2] == ("solve_captcha", "held")
        assert again.outcome.services_usd == 0
        assert len(service.tasks) == bought


async def test_without_a_service_only_a_captcha_that_is_there_ends_a_replay(finish: Finish, stage: Stage):
    with SolverService() as service:
        run = await captcha_run(finish, stage, service)
        again = await stage.again(run)
        assert states(again.report)[1][:2] == ("solve_captcha", "failed")
        assert "no service is set up" in states(again.report)[1][2]
        await fresh(stage)
        again = await stage.again(elsewhere(run, stage.site.url("/bulk/about")))
        assert states(again.report)[1][:2] == ("solve_captcha", "held")


async def test_a_request_that_failed_is_not_made_again(finish: Finish, stage: Stage):
    asked: list[bytes] = []

    async def hang_up(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        asked.append(await reader.readline())
        writer.close()

    steps = [{"http_fetch": {"url": stage.site.url("/bulk/about"), "method": "POST"}}, {"done": {"text": "Sent."}}]
    _, work = await finish(steps)
    run = work.recorded
    await fresh(stage)
    async with await asyncio.start_server(hang_up, "127.0.0.1", 0) as server:
        port = server.sockets[0].getsockname()[1]
        again = await stage.again(elsewhere(run, f"http://127.0.0.1:{port}/"))
    assert states(again.report)[0][:2] == ("http_fetch", "failed")
    assert len(asked) == 1
