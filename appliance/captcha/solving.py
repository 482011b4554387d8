"""The captchas of one run: found, handed to the service within a cap, put into the page, given up after two tries."""

from collections import Counter
from collections.abc import Callable, Hashable, Mapping
from decimal import Decimal
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit, urlunsplit

import structlog

from appliance.captcha.base import Recognised, Redemption, Solution, Solver, Strategy
from appliance.captcha.placing import Placed, place, take_picture
from appliance.captcha.probe import find_captchas
from appliance.captcha.purse import Purse
from appliance.errors import ActionFailed, ActionRefused, CaptchaIncomplete, SolverFailed

if TYPE_CHECKING:
    from appliance.browser.connection import Browser

log = structlog.get_logger()

SETTLE_SECONDS, SETTLE_AT_LEAST = 3.0, 0.5
MOST_TRIES = 2
"""How often a captcha is tried, and how many that stand in front of a site are given up before the site is."""


class Captchas:
    """What one run spends on captchas and what it has given up; `cap_usd` is the most it may spend on them."""

    def __init__(self, solver: Solver, cap_usd: Decimal) -> None:
        self.spent_usd = Decimal(0)
        self._solver = solver
        self._cap = cap_usd
        self._tries: Counter[tuple[Hashable, ...]] = Counter()
        self._given_up: Counter[str] = Counter()
        self._out_of_service = ""

    async def find(self, browser: "Browser") -> Recognised | None:
        """Return the captcha to begin with on the current page, None without one; raises ActionFailed.

        A page that shows none, or not all of it, is given time to settle and looked at again.
        """
        found = await find_captchas(browser.tab)
        if not found or found[0].strategy.missing(found[0].captcha):
            await browser.settle(SETTLE_SECONDS, at_least=SETTLE_AT_LEAST)
            found = await find_captchas(browser.tab)
        return found[0] if found else None

    def check(self, one: Recognised, purse: Purse) -> None:
        """Raise, with nothing spent, when the captcha is not to be tried (any more).

        ActionRefused says which rule forbids it, CaptchaIncomplete what the page does not tell.
        """
        strategy, host = one.strategy, _host(one)
        if not strategy.is_solvable:
            raise ActionRefused(
                f"This is a {strategy.title}, which is recognised but not solved here. {strategy.advice}"
            )
        if missing := strategy.missing(one.captcha):
            raise CaptchaIncomplete(
                f"The {strategy.title} was not handed to the service: the page does not tell {' and '.join(missing)}. "
                "Let it load in full and try again, or take another way."
            )
        if self._out_of_service:
            raise ActionRefused(f"{self._out_of_service} No captcha can be solved in this run: take another way.")
        if one.captcha.is_interstitial and self._given_up[host] >= MOST_TRIES:
            raise ActionRefused(
                f"Captchas in front of {host} were given up {MOST_TRIES} times: stop trying there. Take another way, "
                "or say in the answer that it stands in the way."
            )
        if self._tries[_identity(one)] >= MOST_TRIES:
            raise ActionRefused(
                f"This {strategy.title} was tried {MOST_TRIES} times and is not tried again on this page. Take another "
                "way; if the site itself asks for a new one, navigate to the page anew first."
            )
        self._check_money(strategy, purse)

    async def buy(
        self, browser: "Browser", one: Recognised, purse: Purse, is_secret: Callable[[str], bool]
    ) -> Redemption:
        """Have the captcha solved once and return what to do with the solution.

        What it costs is counted as soon as the service takes the task on, whatever becomes of it. Raises SolverFailed,
        ActionFailed when its picture cannot be taken, ActionRefused when the service would be told a secret.
        """
        task = await self._task(browser, one)
        if any(is_secret(str(value)) for value in task.values()):
            raise ActionRefused("The captcha was not handed to the service, which would have been told a secret by it.")
        self._tries[_identity(one)] += 1
        solution = await self._solution(one, task, purse)
        redeem = one.strategy.redeem
        assert redeem is not None
        return redeem(one.captcha, solution.values)

    async def hand_over(self, browser: "Browser", one: Recognised, redemption: Redemption) -> Placed:
        """Put the solution into the page; raises ActionFailed when it has no place for it."""
        placed = await place(browser, one.captcha, redemption)
        if not placed.facts:
            raise ActionFailed(
                "The page has no place for the solution, so it was bought in vain; look at the page again."
            )
        return placed

    def close(self, one: Recognised, *, is_solved: bool) -> None:
        """Note how it went; what stands in front of a site starts afresh the next time, unless given up twice."""
        if one.captcha.is_interstitial:
            self._given_up[_host(one)] += not is_solved
            del self._tries[_identity(one)]

    def may_try(self, one: Recognised, purse: Purse) -> bool:
        """Whether the rules allow a try, or another one."""
        try:
            self.check(one, purse)
        except (ActionRefused, CaptchaIncomplete):
            return False
        return True

    async def _solution(self, one: Recognised, task: Mapping[str, Any], purse: Purse) -> Solution:
        price = one.strategy.price_usd or Decimal(0)

        def charge(amount: Decimal) -> None:
            self.spent_usd += amount
            purse.charge_service(amount)

        try:
            solution = await self._solver.solve(task, lambda: charge(price))
        except SolverFailed as failure:
            if failure.is_final:
                self._out_of_service = failure.message
                log.warning("the service for captchas cannot be used", reason=failure.message)
            raise
        if solution.cost_usd is not None and solution.cost_usd != price:
            charge(solution.cost_usd - price)
        return solution

    async def _task(self, browser: "Browser", one: Recognised) -> dict[str, Any]:
        build = one.strategy.build
        assert build is not None
        task = build(one.captcha, _address(browser.tab.url, in_full=one.strategy.sends_page))
        if one.captcha.picture:
            task["body"] = await take_picture(browser, one.captcha)
        return task

    def _check_money(self, strategy: Strategy, purse: Purse) -> None:
        price = strategy.price_usd or Decimal(0)
        if self.spent_usd + price > self._cap:
            raise ActionRefused(
                f"The {self._cap.normalize():f} US dollars that a run may spend on captchas do not cover another one "
                f"({self.spent_usd.normalize():f} are spent): take another way."
            )
        if price >= purse.money_left():
            raise ActionRefused("The run's budget does not cover solving a captcha: take another way.")


def _identity(one: Recognised) -> tuple[Hashable, ...]:
    """Return what stays the same as long as it is the same captcha: in front of a site the site, else the document."""
    if one.captcha.is_interstitial:
        return _host(one), one.strategy.kind
    return one.captcha.document.world, one.strategy.kind, one.captcha.key


def _host(one: Recognised) -> str:
    return urlsplit(one.captcha.document.page_url).hostname or ""


def _address(url: str, *, in_full: bool) -> str:
    """Return the address that the service is told: what is in its query or fragment may be nobody's business."""
    parts = urlsplit(url)
    place = parts.netloc.rpartition("@")[2]
    return urlunsplit((parts.scheme, place, parts.path or "/", parts.query if in_full else "", ""))
