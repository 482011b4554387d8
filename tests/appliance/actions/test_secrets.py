"""Secrets filled into real fields of the origins they are meant for, and into nothing else."""

import pytest

from appliance.sensitive import SensitiveData
from appliance.words import ReceiptStatus
from tests.appliance.actions.conftest import Hands
from tests.site import Site

PASSWORD = "Tr0ub4dor&3 ümläut"


@pytest.fixture
def secret(hands: Hands) -> SensitiveData:
    hands.context.sensitive = SensitiveData.read(
        {
            "http://127.0.0.1": {"pw": PASSWORD, "site_bu_2fa_code": "JBSWY3DPEHPK3PXP"},
            "http://127.0.0.2": {"other": PASSWORD},
        }
    )
    return hands.context.sensitive


async def test_a_secret_is_entered_read_back_unseen_and_shown_as_dots(hands: Hands, secret: SensitiveData) -> None:
    await hands.open("secret_login.html")
    receipt = await hands.act("input", on="Password", text="<secret>pw</secret>")
    assert (receipt.status, f"it holds {len(PASSWORD)} characters, equal to what was entered" in receipt.text) == (
        ReceiptStatus.OK,
        True,
    )
    assert PASSWORD not in repr(receipt)
    assert await hands.js("document.getElementById('password').value") == PASSWORD
    assert await hands.js("getComputedStyle(document.getElementById('password')).webkitTextSecurity") == "disc"
    assert await hands.text("keys") == "keys were seen"


async def test_a_field_that_takes_only_a_part_is_told_as_unequal(hands: Hands, secret: SensitiveData) -> None:
    await hands.open("secret_login.html")
    receipt = await hands.act("input", on="Code", text="<secret>pw</secret>")
    assert "unequal to what was entered" in receipt.text
    assert PASSWORD[:6] not in receipt.text


async def test_a_code_is_made_when_it_is_entered(hands: Hands, secret: SensitiveData) -> None:
    await hands.open("secret_login.html")
    receipt = await hands.act("input", on="Code", text="<secret>site_bu_2fa_code</secret>")
    code = await hands.js("document.getElementById('code').value")
    assert (receipt.status, len(code), code.isdecimal()) == (ReceiptStatus.OK, 6, True)
    assert code not in repr(receipt)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("<secret>other</secret>", "is for http://127.0.0.2"),
        ("<secret>missing</secret>", 'no secret "missing"'),
        ("a <secret>pw</secret> b <secret>missing</secret>", 'no secret "missing"'),
    ],
)
async def test_what_does_not_belong_is_not_typed_at_all(
    hands: Hands, secret: SensitiveData, text: str, why: str
) -> None:
    await hands.open("secret_login.html")
    receipt = await hands.act("input", on="Password", text=text)
    assert receipt.status is ReceiptStatus.FAILED
    assert why in receipt.text
    assert "typed" in receipt.text
    assert await hands.js("document.getElementById('password').value") == ""
    assert await hands.text("mirror") == "nothing yet"


async def test_a_placeholder_is_never_typed_when_there_are_no_secrets(hands: Hands) -> None:
    await hands.open("secret_login.html")
    receipt = await hands.act("input", on="Password", text="<secret>pw</secret>")
    assert (receipt.status, await hands.text("mirror")) == (ReceiptStatus.FAILED, "nothing yet")


@pytest.mark.parametrize(
    ("name", "parameters"),
    [
        ("navigate", {"url": "http://127.0.0.1:1/?d=<secret>pw</secret>"}),
        ("send_keys", {"keys": "<secret>pw</secret>"}),
        ("evaluate", {"code": "'<secret>pw</secret>'"}),
        ("search", {"query": "<secret>pw</secret>"}),
    ],
)
async def test_no_other_action_takes_a_secret(
    hands: Hands, secret: SensitiveData, name: str, parameters: dict[str, str]
) -> None:
    await hands.open("secret_login.html")
    url = hands.browser.tab.url
    receipt = await hands.act(name, **parameters)
    assert receipt.status is ReceiptStatus.FAILED
    assert "only be entered with input" in receipt.text
    assert hands.browser.tab.url == url


async def test_the_frames_own_origin_counts_and_no_key_can_land_outside(hands: Hands, secret: SensitiveData) -> None:
    await hands.open("secret_frame.html")
    refused = await hands.act("input", on="Note", text="<secret>other</secret>")
    assert "was not typed on http://127.0.0.1" in refused.text
    refused = await hands.act("input", on="Password", text="<secret>pw</secret>")
    assert "was not typed on http://127.0.0.2" in refused.text
    refused = await hands.act("input", on="Loose", text="<secret>pw</secret>")
    assert "without an address of its own" in refused.text
    entered = await hands.act("input", on="Password", text="<secret>other</secret>")
    assert entered.status is ReceiptStatus.OK
    assert "equal to what was entered" in entered.text
    seen = secret.redact("\n".join((await hands.browser.observe(with_screenshot=False)).lines))
    assert "You typed: <secret>" in seen.replace("\n", " ").replace("  ", " ")
    assert "keys were seen" not in seen


@pytest.mark.parametrize("label", ["Framed", "Left"])
async def test_typing_ends_when_the_keys_would_go_to_another_site(
    hands: Hands, secret: SensitiveData, site: Site, label: str
) -> None:
    await hands.open("secret_stolen.html")
    receipt = await hands.act("input", on=label, text="<secret>pw</secret>")
    assert receipt.status is ReceiptStatus.FAILED
    assert PASSWORD not in repr(receipt)
    # What is on its way while the page is left cannot be called back.
    assert len([path for path in site.paths() if path.startswith("/stolen")]) <= 1


async def test_no_key_goes_to_a_tab_that_opens_meanwhile(hands: Hands, secret: SensitiveData, site: Site) -> None:
    await hands.open("secret_stolen.html")
    tab = hands.browser.tab
    await hands.act("input", on="Opening", text="<secret>pw</secret>")
    assert hands.browser.tab is not tab
    assert await tab.run("() => document.getElementById('opening').value.length") == len(PASSWORD)
    assert [path for path in site.paths() if path.startswith("/stolen")] == []


async def test_pictures_show_dots_where_the_page_repeats_a_secret(hands: Hands, secret: SensitiveData) -> None:
    await hands.open("secret_login.html")
    hands.browser.hide(lambda: secret.values, secret.is_in)
    await hands.act("input", on="Password", text="<secret>pw</secret>")
    assert (await hands.browser.observe()).screenshot is not None
    for element in ("mirror", "password"):
        style = await hands.js(f"getComputedStyle(document.getElementById('{element}')).webkitTextSecurity")
        assert (element, style) == (element, "disc")
    assert await hands.js("getComputedStyle(document.querySelector('h1')).webkitTextSecurity") == "none"


async def test_pictures_show_dots_in_shadow_roots_and_in_frames_of_other_origins(hands: Hands) -> None:
    await hands.open("secret_shown.html")
    await hands.index("In a closed root")
    hands.browser.hide(lambda: ("hunter-22",), lambda _: False)
    await hands.browser.conceal()
    style = "getComputedStyle({}).webkitTextSecurity"
    assert await hands.js(style.format("document.getElementById('loose')")) == "disc"
    assert await hands.js(style.format("window.sealed.querySelector('button')")) == "disc"
    answers = await hands.browser.run_everywhere("() => " + style.format("document.querySelector('h1, p')"))
    assert [answer.value for answer in answers if answer.url.startswith("data:")] == ["disc"]


async def test_pictures_show_dots_however_a_page_writes_the_secret(hands: Hands) -> None:
    await hands.open("secret_shown.html")
    hands.browser.hide(lambda: ("hunter-22",), lambda _: False)
    await hands.browser.conceal()
    dotted = "[...document.querySelectorAll('{}')].map((one) => getComputedStyle(one).webkitTextSecurity)"
    assert await hands.js(dotted.format("#parted b, #parted i, #upper, #unseen, #drawn")) == ["disc"] * 5
    assert await hands.js(dotted.format("h1, #clear")) == ["none"] * 2
    color = (
        "[...document.querySelectorAll('#hint, #choice, #alt')].map((one) => getComputedStyle(one).webkitTextFillColor)"
    )
    assert await hands.js(color) == ["rgba(0, 0, 0, 0)"] * 3


async def test_the_beginning_of_a_secret_whose_typing_was_broken_off_is_one_too(hands: Hands):
    hands.context.sensitive = SensitiveData.read({hands.site.url(""): {"pin": "hunter2-secret"}})
    await hands.open("secret_stolen.html")
    done = await hands.act("input", on="Late", text="<secret>pin</secret>")
    assert done.status is ReceiptStatus.FAILED
    mirrored = await hands.text("mirror")
    typed = mirrored.split()[2]
    assert 4 <= len(typed) < len("hunter2-secret")
    assert hands.context.sensitive.redact(mirrored) == "You typed <secret>pin</secret> so far"
