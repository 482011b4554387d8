"""A captcha in a run: its cost in the receipt, the feed and the outcome, also of a run that is cut off."""

import asyncio
from decimal import Decimal

import pytest

from appliance.captcha.capsolver import CapSolver
from appliance.captcha.solving import Captchas
from appliance.events import Notice
from appliance.words import ReceiptStatus
from tests.appliance.agent.conftest import Prepare
from tests.site import Site
from tests.stand_in.solver import KEY, SolverService, Turn

DONE = {"done": {"text": "It is done."}}
PRICE = Decimal("0.0008")


def steps(site: Site) -> list[object]:
    return [{"navigate": {"url": site.url("/captcha_recaptcha_v2.html")}}, {"solve_captcha": {}}, DONE]


@pytest.fixture
def captchas():
    with SolverService() as service:
        yield service, Captchas(CapSolver(KEY, service.url, poll_seconds=0.01), Decimal("0.03"))


async def test_what_it_cost_is_told_with_the_action_and_part_of_the_whole(prepare: Prepare, site: Site, captchas):
    service, solving = captchas
    work = prepare(steps(site), captchas=solving)
    outcome = await work.agent.run()
    assert outcome.is_successful
    (receipt,) = [one for one in work.receipts if one.name == "solve_captcha"]
    assert (receipt.status, receipt.cost_usd) == (ReceiptStatus.OK, PRICE)
    assert outcome.services_usd == PRICE
    tokens = outcome.tokens
    model = Decimal(tokens.input + tokens.cache_read + tokens.cache_write + tokens.output) / 1_000_000
    assert outcome.cost_usd == model + PRICE
    assert Notice(code="captcha", text="Solved the reCAPTCHA v2 for 0.0008 US dollars.") in work.events
    assert service.given


async def test_the_key_and_the_token_reach_neither_model_nor_feed_nor_record(prepare: Prepare, site: Site, captchas):
    service, solving = captchas
    service.script = [Turn(error="ERROR_CAPTCHA_UNSOLVABLE", late=True)]
    work = prepare(steps(site), captchas=solving)
    await work.agent.run()
    written = "\n".join([*(one.text for one in work.stand_in.requests), *map(repr, work.events)])
    written += (work.folder / "history.json").read_text()
    assert "reCAPTCHA v2" in written
    assert KEY not in written
    assert "solved:6LcTestKeyV2-0001" not in written


async def test_a_run_that_is_stopped_while_the_service_works_owes_its_price(prepare: Prepare, site: Site, captchas):
    service, solving = captchas
    service.script = [Turn(pending=100_000)]
    work = prepare(steps(site), captchas=solving)
    running = asyncio.create_task(work.agent.run())
    assert await asyncio.to_thread(service.polled.wait, 60)
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    assert work.agent.outcome_so_far().services_usd == PRICE
