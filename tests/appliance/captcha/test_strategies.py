"""Every kind of captcha on a page that treats the solution as its real script does: known, solved, refused unspent."""

from dataclasses import dataclass
from typing import Any

import pytest

from appliance.captcha.registry import STRATEGIES
from appliance.words import ReceiptStatus
from tests.appliance.actions.conftest import Hands
from tests.appliance.captcha.conftest import Counted
from tests.stand_in.solver import SolverService


@dataclass(frozen=True)
class Case:
    """A page of the test site with a captcha of one kind; `task` is what the service is asked, but for the address.

    After solving, `press` is clicked; the page must then have said all of `says`. `bare` is a page that does not tell
    enough, of which the receipt says `lacks`.
    """

    kind: str
    page: str
    task: dict[str, Any]
    says: tuple[str, ...] = ("accepted",)
    press: str = ""
    bare: str = ""
    lacks: str = "site key"
    cost: str = "0.0008"


SOLVED = (
    Case(
        "recaptcha_v2",
        "captcha_recaptcha_v2.html",
        {"type": "ReCaptchaV2TaskProxyLess", "websiteKey": "6LcTestKeyV2-0001"},
        says=("called; accepted; accepted;", "answers solved:6LcTestKeyV2-0001"),
        press="Send",
    ),
    Case(
        "recaptcha_v2_invisible",
        "captcha_recaptcha_invisible.html",
        {"type": "ReCaptchaV2TaskProxyLess", "websiteKey": "6LcTestKeyInv-0002", "isInvisible": True},
    ),
    Case(
        "recaptcha_v2_enterprise",
        "captcha_recaptcha_v2_enterprise.html",
        {
            "type": "ReCaptchaV2EnterpriseTaskProxyLess",
            "websiteKey": "6LcTestKeyEnt-0003",
            "pageAction": "LOGIN",
            "enterprisePayload": {"s": "secretOfThePage"},
        },
        cost="0.001",
    ),
    Case(
        "recaptcha_v3",
        "captcha_recaptcha_v3.html",
        {
            "type": "ReCaptchaV3TaskProxyLess",
            "websiteKey": "6LcTestKeyV3-0004",
            "pageAction": "contact",
            "minScore": 0.7,
        },
        press="Send",
        bare="captcha_recaptcha_v3_button.html?nokey",
        cost="0.001",
    ),
    Case(
        "recaptcha_v3",
        "captcha_recaptcha_v3_button.html",
        {
            "type": "ReCaptchaV3TaskProxyLess",
            "websiteKey": "6LcTestKeyV3B-0006",
            "pageAction": "vote",
            "minScore": 0.9,
        },
        cost="0.001",
    ),
    Case(
        "recaptcha_v3_enterprise",
        "captcha_recaptcha_v3_enterprise.html",
        {"type": "ReCaptchaV3EnterpriseTaskProxyLess", "websiteKey": "6LcTestKeyV3E-0005", "minScore": 0.7},
        press="Order",
        cost="0.003",
    ),
    Case(
        "turnstile",
        "captcha_turnstile.html",
        {
            "type": "AntiTurnstileTaskProxyLess",
            "websiteKey": "0x4AAAAAAATest",
            "metadata": {"action": "comment", "cdata": "c-17"},
        },
        says=("called; accepted", "answers solved:0x4AAAAAAATest"),
        press="Send",
        cost="0.0012",
    ),
    Case(
        "turnstile",
        "captcha_turnstile_explicit.html",
        {"type": "AntiTurnstileTaskProxyLess", "websiteKey": "0x4AAAAAAATest", "metadata": {"action": "reply"}},
        bare="captcha_turnstile.html?nokey",
        cost="0.0012",
    ),
    Case(
        "turnstile",
        "captcha_turnstile_react.html",
        {"type": "AntiTurnstileTaskProxyLess", "websiteKey": "0x4AAAAAAATest"},
        bare="captcha_turnstile.html?nokey",
        cost="0.0012",
    ),
    Case(
        "geetest_v3",
        "captcha_geetest_v3.html",
        {
            "type": "GeeTestTaskProxyLess",
            "gt": "81dc9bdb52d04dc20036dbd8313ed055",
            "challenge": "d93591bdf7860e1e4ee2fca799911215",
        },
        says=(
            "success; accepted; accepted",
            "sent d93591bdf7860e1e4ee2fca799911215 solved:81dc9bdb52d04dc20036dbd8313ed055|jordan",
        ),
        press="Register",
        lacks="its gt and its challenge",
        cost="0.0012",
    ),
    Case(
        "geetest_v4",
        "captcha_geetest_v4.html",
        {"type": "GeeTestTaskProxyLess", "captchaId": "244bcb8b9846215df5af4c624a750db4"},
        says=("accepted", "id 244bcb8b9846215df5af4c624a750db4 time 1700000000"),
        lacks="captcha id",
        cost="0.0012",
    ),
    Case(
        "mtcaptcha",
        "captcha_mtcaptcha.html",
        {"type": "MtCaptchaTaskProxyLess", "websiteKey": "MTPublic-test0001"},
        cost="0.002",
    ),
    Case(
        "aws_waf",
        "captcha/guarded",
        {"type": "AntiAwsWafTaskProxyLess", "awsKey": "AQIDAtest", "awsIv": "A6wetest", "awsContext": "rGXmtest"},
        says=(),
        bare="captcha/guarded?never&lacks=iv",
        lacks="key, iv and context",
        cost="0.002",
    ),
    Case(
        "image_text",
        "captcha_image.html",
        {"type": "ImageToTextTask", "module": "common"},
        press="Send",
        lacks="field for what it says",
        cost="0.0004",
    ),
)
RECOGNISED = {
    "hcaptcha": "captcha_hcaptcha.html",
    "datadome": "captcha_datadome.html",
    "cloudflare_page": "captcha_cloudflare.html",
    "recaptcha_grid": "captcha_grid.html",
    "aws_grid": "captcha_aws_grid.html",
}


def test_every_strategy_has_a_case_here() -> None:
    known = {strategy.kind for strategy in STRATEGIES}
    assert known == {case.kind for case in SOLVED} | set(RECOGNISED)
    assert {strategy.kind for strategy in STRATEGIES if strategy.is_solvable} == {case.kind for case in SOLVED}


@pytest.mark.parametrize("case", SOLVED, ids=lambda case: case.page)
async def test_it_is_recognised_and_solved_and_the_page_takes_the_solution(
    case: Case, hands: Hands, service: SolverService, purse: Counted, told: list[tuple[str, str]]
) -> None:
    await hands.open(case.page)
    captchas = hands.context.captchas
    assert captchas is not None
    found = await captchas.find(hands.browser)
    assert found is not None
    assert found.strategy.kind == case.kind

    receipt = await hands.act("solve_captcha")

    assert receipt.status is ReceiptStatus.OK, receipt.text
    assert case.task.items() <= service.tasks[0].items()
    assert service.tasks[0]["websiteURL"] == hands.site.url(f"/{case.page}")
    if case.press:
        await hands.act("click", on=case.press)
    if case.says:
        log = await hands.text()
        assert all(words in log for words in case.says), log
        assert "refused" not in log
    assert sum(purse.charged) == found.strategy.price_usd
    assert told == [("captcha", f"Solved the {found.strategy.title} for {case.cost} US dollars.")]
    assert "solved:" not in receipt.text  # the token is nobody's business but the page's


@pytest.mark.parametrize("case", SOLVED, ids=lambda case: case.page)
async def test_one_that_does_not_tell_enough_is_refused_before_anything_is_spent(
    case: Case, hands: Hands, service: SolverService, purse: Counted
) -> None:
    await hands.open(case.bare or f"{case.page}?nokey")
    receipt = await hands.act("solve_captcha")
    assert receipt.status is ReceiptStatus.FAILED
    assert case.lacks in receipt.text
    assert "was not handed to the service" in receipt.text
    assert (service.tasks, purse.charged) == ([], [])


@pytest.mark.parametrize(("kind", "page"), RECOGNISED.items())
async def test_what_is_recognised_only_is_said_plainly(
    kind: str, page: str, hands: Hands, service: SolverService
) -> None:
    await hands.open(page)
    captchas = hands.context.captchas
    assert captchas is not None
    found = await captchas.find(hands.browser)
    assert found is not None
    assert found.strategy.kind == kind
    receipt = await hands.act("solve_captcha")
    assert receipt.status is ReceiptStatus.BLOCKED
    assert f"This is a {found.strategy.title}, which is recognised but not solved here." in receipt.text
    assert service.tasks == []
