"""A page with a captcha in real Chromium, the action, and the service's stand-in that it asks."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from decimal import Decimal

import pytest

from appliance.browser.connection import Browser
from appliance.captcha.capsolver import CapSolver
from appliance.captcha.solving import Captchas
from tests.appliance.actions.conftest import Hands
from tests.site import Site
from tests.stand_in.solver import KEY, SolverService


@dataclass
class Counted:
    """The purse of a run, with what was charged to it."""

    left: Decimal = Decimal("Infinity")
    charged: list[Decimal] = field(default_factory=list[Decimal])

    def money_left(self) -> Decimal:
        return self.left - sum(self.charged)

    def charge_service(self, amount: Decimal) -> None:
        self.charged.append(amount)


@pytest.fixture
def service() -> Iterator[SolverService]:
    with SolverService() as service:
        yield service


@pytest.fixture
def purse() -> Counted:
    return Counted()


@pytest.fixture
def told() -> list[tuple[str, str]]:
    return []


@pytest.fixture
def hands(
    browser: Browser, site: Site, tmp_path, service: SolverService, purse: Counted, told: list[tuple[str, str]]
) -> Hands:
    hands = Hands(browser, site, tmp_path)

    async def tell(code: str, text: str) -> None:
        told.append((code, text))

    solver = CapSolver(KEY, service.url, poll_seconds=0.01)
    hands.context.captchas = Captchas(solver, Decimal("0.03"))
    hands.context.purse, hands.context.tell = purse, tell
    return hands
