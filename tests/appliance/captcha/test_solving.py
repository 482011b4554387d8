"""What a run may spend on captchas, when it gives one up, and where in a page a solution reaches."""

import base64
import io
from decimal import Decimal

import pytest
from PIL import Image

from appliance.actions.registry import Registry
from appliance.captcha.capsolver import CapSolver
from appliance.captcha.solving import Captchas
from appliance.sensitive import SensitiveData
from appliance.words import ReceiptStatus
from tests.appliance.actions.conftest import Hands
from tests.appliance.captcha.conftest import Counted
from tests.stand_in.solver import KEY, SolverService, Turn

UNSOLVABLE = Turn(error="ERROR_CAPTCHA_UNSOLVABLE", late=True)


def test_the_action_exists_only_where_a_service_is_set_up(hands: Hands) -> None:
    assert "solve_captcha" in Registry.for_context(hands.context).describe()
    hands.context.captchas = None
    assert "solve_captcha" not in Registry.for_context(hands.context).describe()


async def test_a_page_without_a_captcha_costs_nothing(hands: Hands, service: SolverService) -> None:
    await hands.open("product.html")
    receipt = await hands.act("solve_captcha")
    assert receipt.status is ReceiptStatus.NO_EFFECT
    assert "No captcha was found" in receipt.text
    assert service.tasks == []


async def test_a_second_try_follows_the_first_that_failed_and_both_are_paid(
    hands: Hands, service: SolverService, purse: Counted, told: list[tuple[str, str]]
) -> None:
    service.script = [UNSOLVABLE]
    await hands.open("captcha_recaptcha_invisible.html")
    receipt = await hands.act("solve_captcha")
    assert receipt.status is ReceiptStatus.OK
    assert purse.charged == [Decimal("0.0008")] * 2
    assert told == [("captcha", "Solved the invisible reCAPTCHA v2 for 0.0016 US dollars.")]
    assert "accepted" in await hands.text()


async def test_after_two_failures_it_is_given_up_and_not_tried_again_on_that_page(
    hands: Hands, service: SolverService, purse: Counted, told: list[tuple[str, str]]
) -> None:
    service.script = [UNSOLVABLE, UNSOLVABLE]
    await hands.open("captcha_recaptcha_v2.html")
    receipt = await hands.act("solve_captcha")
    assert receipt.status is ReceiptStatus.FAILED
    assert "was given up, which cost 0.0016 US dollars" in receipt.text
    assert told == [("captcha", "Gave up the reCAPTCHA v2, which cost 0.0016 US dollars: No captcha was solved: the "
                     "service could not solve it (said of …).")]  # fmt: skip
    again = await hands.act("solve_captcha")
    assert again.status is ReceiptStatus.BLOCKED
    assert "was tried 2 times" in again.text
    assert len(service.tasks) == 2

    await hands.open("captcha_recaptcha_v2.html")
    assert (await hands.act("solve_captcha")).status is ReceiptStatus.OK
    assert sum(purse.charged) == Decimal("0.0024")


async def test_a_site_whose_own_page_was_given_up_twice_is_left_alone(hands: Hands, service: SolverService) -> None:
    for _ in range(2):
        # On a host of its own, as its cookie stays in the browser that the tests share.
        await hands.browser.tab.navigate(hands.site.url("/captcha/guarded?never=1", 3))
        receipt = await hands.act("solve_captcha")
        assert receipt.status is ReceiptStatus.FAILED
        assert "It still stands in front of the site" in receipt.text
    assert len(service.tasks) == 4
    last = await hands.act("solve_captcha")
    assert last.status is ReceiptStatus.BLOCKED
    assert "stop trying there" in last.text
    assert len(service.tasks) == 4


@pytest.mark.parametrize("code", ["ERROR_ZERO_BALANCE", "ERROR_KEY_DENIED_ACCESS"])
async def test_an_account_that_allows_nothing_is_asked_once_in_a_run(
    code: str, hands: Hands, service: SolverService, purse: Counted
) -> None:
    service.script = [Turn(error=code)]
    await hands.open("captcha_turnstile.html")
    receipt = await hands.act("solve_captcha")
    assert receipt.status is ReceiptStatus.FAILED
    await hands.open("captcha_recaptcha_v2.html")
    again = await hands.act("solve_captcha")
    assert again.status is ReceiptStatus.BLOCKED
    assert "No captcha can be solved in this run" in again.text
    assert (len(service.tasks), purse.charged) == (1, [])


async def test_the_cap_of_a_run_is_kept_before_money_is_spent(hands: Hands, service: SolverService) -> None:
    hands.context.captchas = Captchas(CapSolver(KEY, service.url, poll_seconds=0.01), Decimal("0.001"))
    await hands.open("captcha_recaptcha_v2.html")
    assert (await hands.act("solve_captcha")).status is ReceiptStatus.OK
    await hands.open("captcha_recaptcha_invisible.html")
    receipt = await hands.act("solve_captcha")
    assert receipt.status is ReceiptStatus.BLOCKED
    assert (
        "0.001 US dollars that a run may spend on captchas do not cover another one (0.0008 are spent)" in receipt.text
    )
    assert len(service.tasks) == 1


async def test_the_money_of_the_run_is_kept_too(hands: Hands, service: SolverService, purse: Counted) -> None:
    purse.left = Decimal("0.0008")
    await hands.open("captcha_recaptcha_v2.html")
    receipt = await hands.act("solve_captcha")
    assert receipt.status is ReceiptStatus.BLOCKED
    assert "budget does not cover" in receipt.text
    assert service.tasks == []


async def test_what_the_service_says_it_cost_takes_the_place_of_its_list_price(
    hands: Hands, service: SolverService, purse: Counted
) -> None:
    service.script = [Turn(cost="0.0005")]
    await hands.open("captcha_recaptcha_v2.html")
    receipt = await hands.act("solve_captcha")
    assert receipt.text.startswith("Solved the reCAPTCHA v2 for 0.0005 US dollars")
    assert sum(purse.charged) == Decimal("0.0005")


async def test_a_widget_in_a_frame_of_another_site_is_solved_there(hands: Hands, service: SolverService) -> None:
    await hands.open("captcha_frame.html")
    receipt = await hands.act("solve_captcha")
    assert receipt.status is ReceiptStatus.OK, receipt.text
    assert "was called" in receipt.text
    await hands.act("click", on="Send")
    content = await hands.browser.read_content()
    assert "called; accepted; accepted;" in content.markdown


async def test_a_field_in_a_shadow_root_is_reached(hands: Hands) -> None:
    await hands.open("captcha_shadow.html")
    receipt = await hands.act("solve_captcha")
    assert receipt.status is ReceiptStatus.OK, receipt.text
    assert "typed g-recaptcha-response; accepted;" in await hands.text()


async def test_a_picture_in_a_frame_of_another_site_is_read_and_its_letters_typed(
    hands: Hands, service: SolverService
) -> None:
    await hands.open("captcha_image_frame.html")
    receipt = await hands.act("solve_captcha")
    assert receipt.status is ReceiptStatus.OK, receipt.text
    await hands.act("click", on="Send")
    assert "accepted" in (await hands.browser.read_content()).markdown
    with Image.open(io.BytesIO(base64.b64decode(service.tasks[0]["body"], validate=True))) as picture:
        assert (picture.format, picture.size) == ("PNG", (160, 50))
        assert picture.convert("RGB").getpixel((2, 2)) == (0xDD, 0xDD, 0xEE)


async def test_a_picture_that_grows_once_it_was_found_is_not_taken(hands: Hands, service: SolverService) -> None:
    await hands.open("captcha_image.html")
    await hands.js("""const picture = document.querySelector('img'); picture.parentNode.style.paddingTop = '5000px';
        addEventListener('scroll', () => { picture.width = 9000; picture.height = 2000; }); 1""")
    receipt = await hands.act("solve_captcha")
    assert receipt.status is ReceiptStatus.FAILED
    assert "9000 by 2000 pixels" in receipt.text
    assert service.tasks == []


async def test_a_page_that_has_no_place_for_the_solution_is_said_so(
    hands: Hands, purse: Counted, told: list[tuple[str, str]]
) -> None:
    await hands.open("captcha_nowhere.html")
    receipt = await hands.act("solve_captcha")
    assert receipt.status is ReceiptStatus.FAILED
    assert "has no place for the solution" in receipt.text
    assert purse.charged == [Decimal("0.0012")]
    assert told[0][1].startswith("A Turnstile was solved in vain")


async def test_the_service_is_told_nothing_of_the_query_of_an_address(hands: Hands, service: SolverService) -> None:
    await hands.open("captcha_recaptcha_v2.html?session=private#part")
    await hands.act("solve_captcha")
    assert service.tasks[0]["websiteURL"] == hands.site.url("/captcha_recaptcha_v2.html")


async def test_a_secret_in_what_the_service_would_be_told_is_not_told(hands: Hands, service: SolverService) -> None:
    hands.context.sensitive = SensitiveData.read({"user": "recaptcha_v2.html"})
    await hands.open("captcha_recaptcha_v2.html")
    receipt = await hands.act("solve_captcha")
    assert receipt.status is ReceiptStatus.BLOCKED
    assert "told a secret" in receipt.text
    assert service.tasks == []


async def test_nothing_of_ours_is_in_a_page_before_a_captcha_is_to_be_solved(hands: Hands) -> None:
    await hands.open("captcha_recaptcha_v3.html")
    before = "[Object.keys(window).length, grecaptcha.execute.toString()]"
    first = await hands.js(before)
    await hands.act("solve_captcha")
    await hands.act("click", on="Send")
    # The answer was given once; what the page had before is there again.
    assert await hands.js(before) == first
