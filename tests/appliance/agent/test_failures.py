"""Why a run failed, as its caller is told: every kind there is, each from the fault that stands behind it."""

import asyncio
import os
import signal
from decimal import Decimal
from pathlib import Path

import pytest

from appliance.agent.clocks import Clocks
from appliance.browser.chromium import Chromium
from appliance.browser.connection import Browser
from appliance.browser.policy import Policy
from appliance.errors import DatabaseUnavailable, RunFailed
from appliance.events import ActionFinished, FeedEvent, StepPlanned
from appliance.words import Ending, FailureKind
from tests.appliance.agent.conftest import Finish, Prepare
from tests.site import Site

WRITE = {"write_file": {"file_name": "notes.md", "content": "a"}}
DONE = {"done": {"text": "It is done."}}
NEVER_BACK = 3600
"""Seconds that a provider asks for and nobody waits for, so that its client gives up at once."""
ALL = pytest.mark.parametrize("provider", ["anthropic", "openai", "compatible"])

Row = tuple[dict[str, object], FailureKind, int | None]
FAULTS: dict[str, Row] = {
    "rate limit": ({"__http__": 429, "retry_after": NEVER_BACK}, FailureKind.PROVIDER_RATE_LIMIT, 429),
    "server": ({"__http__": 500, "retry_after": NEVER_BACK}, FailureKind.PROVIDER_SERVER_ERROR, 500),
    "overloaded": ({"__http__": 529, "retry_after": NEVER_BACK}, FailureKind.PROVIDER_SERVER_ERROR, 529),
    "unavailable": ({"__http__": 503, "retry_after": NEVER_BACK}, FailureKind.PROVIDER_SERVER_ERROR, 503),
    "dropped": ({"__drop__": True}, FailureKind.PROVIDER_CONNECTION_ERROR, None),
    "key": ({"__http__": 401}, FailureKind.PROVIDER_ERROR, 401),
    "credit": ({"__http__": 402}, FailureKind.PROVIDER_ERROR, 402),
    "model": ({"__http__": 404}, FailureKind.PROVIDER_ERROR, 404),
    "request": ({"__http__": 400}, FailureKind.PROVIDER_ERROR, 400),
}


@ALL
@pytest.mark.parametrize("fault", FAULTS)
async def test_a_fault_of_the_provider_is_told_by_its_kind_and_status(finish: Finish, provider: str, fault: str):
    failure, kind, status = FAULTS[fault]
    outcome, work = await finish([WRITE, failure], provider=provider)
    assert (outcome.ending, outcome.failure, outcome.status_code) == (Ending.FAILED, kind, status)
    assert (outcome.output, outcome.is_successful, outcome.steps) == (None, False, 2)
    closed = work.recorded.closed
    assert closed is not None
    assert (closed.failure, closed.status_code) == (kind, status)
    assert work.recorded.steps[1].answered is None


@pytest.mark.parametrize("fault", ["rate limit", "server", "dropped", "request"])
async def test_a_fault_that_an_action_met_is_told_as_what_it_is(finish: Finish, site: Site, fault: str):
    failure, kind, status = FAULTS[fault]
    steps = [{"navigate": {"url": site.url("/agent_order.html")}}, {"extract": {"query": "price"}}, DONE]
    outcome, _ = await finish({"steps": steps, "extracts": [failure]})
    assert (outcome.ending, outcome.failure, outcome.status_code) == (Ending.FAILED, kind, status)


@ALL
async def test_a_provider_that_does_not_answer_in_time_is_a_provider_timeout(finish: Finish, provider: str):
    outcome, _ = await finish([{"__hang__": 30}], provider=provider, clocks=Clocks(model_call=0.5))
    assert (outcome.ending, outcome.failure, outcome.status_code) == (
        Ending.FAILED,
        FailureKind.PROVIDER_TIMEOUT,
        None,
    )


async def test_a_provider_that_says_it_timed_out_is_a_provider_timeout(finish: Finish):
    outcome, _ = await finish([{"__http__": 408, "retry_after": NEVER_BACK}])
    assert (outcome.failure, outcome.status_code) == (FailureKind.PROVIDER_TIMEOUT, 408)


async def test_an_address_where_nobody_listens_is_a_connection_error(prepare: Prepare):
    work = prepare([DONE])
    await asyncio.to_thread(work.stand_in.close)
    outcome = await work.agent.run()
    assert (outcome.ending, outcome.failure) == (Ending.FAILED, FailureKind.PROVIDER_CONNECTION_ERROR)
    assert "refused" in outcome.summary.lower()


@ALL
async def test_a_failure_inside_an_answer_that_began_well_is_asked_about_once_more(finish: Finish, provider: str):
    broken = {"__stream_error__": "overloaded_error"}
    outcome, work = await finish([WRITE, broken, DONE], provider=provider)
    assert outcome.output == "It is done."
    assert work.notices == ["provider_retry"]


@ALL
async def test_the_second_failure_inside_an_answer_ends_the_run(finish: Finish, provider: str):
    broken = {"__stream_error__": "overloaded_error"}
    outcome, work = await finish([broken, WRITE, broken, DONE], provider=provider)
    assert (outcome.ending, outcome.failure) == (Ending.FAILED, FailureKind.PROVIDER_SERVER_ERROR)
    assert work.notices.count("provider_retry") == 1


async def test_a_run_past_its_own_time_is_a_session_timeout(finish: Finish):
    outcome, _ = await finish([{"__hang__": 30}], timeout=0.8)
    assert (outcome.ending, outcome.failure) == (Ending.TIMED_OUT, FailureKind.SESSION_TIMEOUT)


@ALL
@pytest.mark.parametrize("useless", ["I like turtles.", {"reply": WRITE, "__truncated__": 30}])
async def test_replies_that_cannot_be_used_are_invalid_output(finish: Finish, provider: str, useless: object):
    outcome, work = await finish([useless], provider=provider)
    assert (outcome.ending, outcome.failure) == (Ending.FAILED, FailureKind.INVALID_OUTPUT)
    assert len(work.asked) == 3


async def test_a_run_that_is_out_of_money_has_exceeded_its_budget(finish: Finish):
    outcome, _ = await finish([{"reply": WRITE, "__usage__": {"input": 10_000}}], max_cost_usd=Decimal("0.011"))
    assert (outcome.ending, outcome.failure) == (Ending.BUDGET_SPENT, FailureKind.BUDGET_EXCEEDED)


async def test_a_run_that_gives_up_is_an_agent_failure(finish: Finish):
    outcome, _ = await finish([{"read_file": {"file_name": "missing.md"}}])
    assert (outcome.ending, outcome.failure) == (Ending.FAILED, FailureKind.AGENT_FAILURE)


async def test_a_run_that_spends_its_steps_is_an_agent_failure(finish: Finish):
    outcome, _ = await finish([WRITE], max_steps=1)
    assert (outcome.ending, outcome.failure) == (Ending.STEPS_SPENT, FailureKind.AGENT_FAILURE)


async def test_a_browser_that_goes_away_is_an_agent_failure(prepare: Prepare, own_chromium: Chromium, policy: Policy):
    browser = await Browser.attach(own_chromium.websocket_url, policy=policy, chromium_exited=own_chromium.exited)
    work = prepare([{"wait": {"seconds": 25}}], on=browser)
    running = asyncio.create_task(work.agent.run())
    await work.until(lambda event: isinstance(event, StepPlanned))
    os.killpg(own_chromium.pgid, signal.SIGKILL)
    async with asyncio.timeout(20):
        outcome = await running
    await browser.close()
    assert (outcome.ending, outcome.failure) == (Ending.FAILED, FailureKind.AGENT_FAILURE)
    assert "browser" in outcome.summary.lower()


async def test_a_feed_that_takes_no_receipts_ends_the_run_with_an_outcome(finish: Finish):
    def full(event: FeedEvent) -> None:
        if isinstance(event, ActionFinished):
            raise DatabaseUnavailable("The database cannot be written: its disk is full; make room.")

    outcome, work = await finish([[WRITE, WRITE]], tell=full)
    assert (outcome.ending, outcome.failure) == (Ending.FAILED, FailureKind.AGENT_FAILURE)
    assert "disk is full" in outcome.summary
    closed = work.recorded.closed
    assert closed is not None
    assert closed.summary == outcome.summary


async def test_a_fault_of_our_own_does_not_stand_in_the_record_as_a_stop(prepare: Prepare):
    def crash(event: FeedEvent) -> None:
        if isinstance(event, StepPlanned):
            raise ZeroDivisionError

    work = prepare([WRITE], tell=crash)
    with pytest.raises(ZeroDivisionError):
        await work.agent.run()
    closed = work.recorded.closed
    assert closed is not None
    assert (closed.ending, closed.failure) == (Ending.FAILED, FailureKind.AGENT_FAILURE)
    assert "fault in our own program (ZeroDivisionError)" in closed.summary


async def test_a_stop_stays_a_stop_when_the_record_cannot_be_written_any_more(prepare: Prepare):
    work = prepare([{"wait": {"seconds": 25}}])
    running = asyncio.create_task(work.agent.run())
    await work.until(lambda event: isinstance(event, StepPlanned))
    record = work.folder / "history.json"
    record.unlink()
    record.mkdir()
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    assert work.agent.outcome_so_far().ending is Ending.STOPPED


async def test_a_fault_stays_what_it_is_when_the_record_cannot_be_written_any_more(finish: Finish, tmp_path: Path):
    def spoil(event: FeedEvent) -> None:
        if isinstance(event, StepPlanned):
            (tmp_path / "history.json").unlink()
            (tmp_path / "history.json").mkdir()
            raise RunFailed("The provider said no.", failure=FailureKind.PROVIDER_ERROR, status_code=403)

    outcome, _ = await finish([WRITE], tell=spoil)
    assert (outcome.failure, outcome.status_code) == (FailureKind.PROVIDER_ERROR, 403)


async def test_a_run_that_ends_well_has_no_failure(finish: Finish):
    outcome, _ = await finish([DONE])
    assert (outcome.failure, outcome.status_code) == (None, None)
