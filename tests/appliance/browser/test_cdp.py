import pytest

from appliance.browser.cdp import CdpConnection, CdpError, CdpTimeout, SessionGone
from appliance.browser.chromium import Chromium
from appliance.browser.connection import Browser
from appliance.errors import BrowserLost


async def test_a_refused_command_names_itself_and_the_reason(browser: Browser) -> None:
    with pytest.raises(CdpError, match=r"refused Nonsense\.doIt"):
        await browser.cdp.send("Nonsense.doIt")


async def test_a_command_of_an_unknown_session_says_so(browser: Browser) -> None:
    with pytest.raises(SessionGone):
        await browser.cdp.send("Page.enable", session_id="nobody")


async def test_a_command_that_is_not_answered_ends_at_its_time(browser: Browser) -> None:
    with pytest.raises(CdpTimeout, match=r"within 0\.2 s"):
        await browser.cdp.send(
            "Runtime.evaluate",
            {"expression": "new Promise(() => 0)", "awaitPromise": True},
            browser.tab.session_id,
            timeout=0.2,
        )


async def test_an_event_that_does_not_come_ends_at_its_time(browser: Browser) -> None:
    with pytest.raises(CdpTimeout):
        await browser.cdp.wait_for("Page.loadEventFired", timeout=0.1)


async def test_a_closed_socket_refuses_every_command(chromium: Chromium) -> None:
    cdp = await CdpConnection.connect(chromium.websocket_url)
    await cdp.close()

    assert cdp.closed.is_set()
    with pytest.raises(BrowserLost):
        await cdp.send("Browser.getVersion")
    with pytest.raises(BrowserLost):
        await cdp.wait_for("Page.loadEventFired", timeout=1)


async def test_a_page_with_half_a_character_is_read_like_any_other(browser: Browser) -> None:
    script = "document.title='t\\ud83d';document.body.innerHTML='<button>Save \\ud83d</button><p>p \\udc00</p>'"
    await browser.tab.navigate(f"data:text/html,<body><script>{script}</script>")

    seen = await browser.observe(with_screenshot=False)

    assert "Save �" in "\n".join(seen.lines)
    answer = await browser.cdp.send("Runtime.evaluate", {"expression": "'\\ud83d'"}, browser.tab.session_id)
    assert answer["result"]["value"] == "�"


async def test_half_a_character_in_a_command_is_sent_as_the_sign_for_what_is_unknown(browser: Browser) -> None:
    answer = await browser.cdp.send("Runtime.evaluate", {"expression": "'a\ud83d'"}, browser.tab.session_id)

    assert answer["result"]["value"] == "a�"
