"""What Chromium calls for itself stays unanswered; what a page asks of the same hosts goes its way."""

from pathlib import Path

import pytest

from appliance.browser.chromium import Chromium, ChromiumOptions
from appliance.browser.connection import Browser
from appliance.browser.policy import Policy
from appliance.browser.relay import Relay
from tests.appliance.browser.test_relay import Names, ask, request
from tests.site import Site


@pytest.fixture
def names() -> Names:
    return Names()


async def test_what_the_browser_calls_for_itself_is_not_even_looked_up_but_pages_may_ask_for_it(names: Names) -> None:
    relay = await Relay.open(Policy(resolve=names))
    host = "accounts.google.com"
    call = (b"\x05\x01\x00", request(host, 443))

    assert (await ask(relay.ports["https"], *call))[3:4] != b"\x00"
    assert names.asked == []
    relay.expect(f"https://{host}/signin")
    assert (await ask(relay.ports["https"], *call))[3:4] != b"\x00"
    assert names.asked == [host]
    await relay.close()


async def test_a_script_of_a_page_may_come_from_where_the_browser_calls_for_itself(
    display: int, tmp_path: Path, names: Names, site: Site
) -> None:
    relay = await Relay.open(Policy(private_allowed=("loopback",), resolve=names))
    options = ChromiumOptions("", display, 0, tmp_path / "profile", width=800, height=600, flags=relay.flags)
    chromium = await Chromium.start(options)
    browser = await Browser.attach(chromium.websocket_url, policy=relay.policy)
    browser.use_relay(relay)
    await browser.tab.navigate(site.url("/"))
    assert "accounts.google.com" not in names.asked

    code = "import('http://accounts.google.com/gsi.js').then(() => 'there', () => 'not there')"
    assert await browser.tab.evaluate(code) == "not there"

    assert "accounts.google.com" in names.asked
    await browser.close()
    await chromium.stop()
    await relay.close()
