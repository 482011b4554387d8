"""The action that has a captcha solved by a service, puts the solution into the page and measures what came of it."""

from decimal import Decimal

from appliance.actions.base import Action, ActionContext, Parameters, Receipt
from appliance.actions.measured import finish, sentence
from appliance.browser.effects import Effect, Watch
from appliance.captcha.base import Recognised
from appliance.captcha.placing import Placed
from appliance.captcha.solving import Captchas
from appliance.errors import ActionFailed, SolverFailed
from appliance.words import ReceiptStatus

DEADLINE_SECONDS = 280.0


class SolveCaptcha(Parameters):
    """Parameters of solve_captcha, which has none."""


async def _solve_captcha(context: ActionContext, _: SolveCaptcha) -> Receipt:
    captchas = context.captchas
    assert captchas is not None
    one = await captchas.find(context.browser)
    if one is None:
        text = "No captcha was found on this page: if one is still to come, wait_for it; else go on."
        return Receipt(ReceiptStatus.NO_EFFECT, text)
    captchas.check(one, context.purse)
    before = captchas.spent_usd
    while True:
        problem = ""
        try:
            placed, effect = await _try(context, captchas, one)
        except SolverFailed as failure:
            problem = failure.message
        else:
            again = await captchas.find(context.browser) if one.captcha.is_interstitial else None
            if again is None or not again.captcha.is_interstitial:
                return await _done(context, one, placed, effect, captchas.spent_usd - before)
            one, problem = again, "It still stands in front of the site after the solution was handed over."
        if not captchas.may_try(one, context.purse):
            return await _given_up(context, one, problem, captchas.spent_usd - before)


async def _try(context: ActionContext, captchas: Captchas, one: Recognised) -> tuple[Placed, Effect]:
    """Buy a solution, hand it over and measure what that does; the wait for the service is not part of it."""
    browser = context.browser
    redemption = await captchas.buy(browser, one, context.purse, context.sensitive.is_in)
    watch = await Watch.start(browser)
    try:
        placed = await captchas.hand_over(browser, one, redemption)
    except BaseException as failure:
        watch.stop()
        if isinstance(failure, ActionFailed):
            await context.tell("captcha", f"A {one.strategy.title} was solved in vain: {failure.message}")
        raise
    return placed, await finish(context, watch)


async def _done(context: ActionContext, one: Recognised, placed: Placed, effect: Effect, cost: Decimal) -> Receipt:
    assert context.captchas is not None
    context.captchas.close(one, is_solved=True)
    lead = f"Solved the {one.strategy.title} for {_money(cost)}"
    await context.tell("captcha", f"{lead}.")
    facts = (*placed.facts, *effect.facts)
    status = ReceiptStatus.NEEDS_DECISION if effect.needs_decision else ReceiptStatus.OK
    return Receipt(status, sentence(lead, facts), ends_chain=effect.ends_chain or effect.needs_decision)


async def _given_up(context: ActionContext, one: Recognised, problem: str, cost: Decimal) -> Receipt:
    assert context.captchas is not None
    context.captchas.close(one, is_solved=False)
    spent = f", which cost {_money(cost)}" if cost else ""
    await context.tell("captcha", f"Gave up the {one.strategy.title}{spent}: {problem}")
    text = f"{problem} The {one.strategy.title} was given up{spent}."
    return Receipt(ReceiptStatus.FAILED, text, ends_chain=True)


def _money(amount: Decimal) -> str:
    return f"{amount.normalize():f} US dollars"


SOLVE_CAPTCHA = Action(
    "solve_captcha",
    "Have the captcha in the way solved by a service (costs money, up to 2 minutes); then send the form yourself.",
    SolveCaptcha,
    _solve_captcha,
    deadline=DEADLINE_SECONDS,
    needs=lambda context: context.captchas is not None,
)
