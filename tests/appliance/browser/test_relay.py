"""The network as the browser really uses it: a Chromium of its own, names of our own, and what the sites then got."""

import asyncio
import socket
import struct
from collections.abc import AsyncIterator, Callable
from contextlib import suppress
from ipaddress import ip_address
from pathlib import Path
from typing import Any

import pytest

from appliance.addresses import Address
from appliance.browser.chromium import Chromium, ChromiumOptions
from appliance.browser.connection import Browser
from appliance.browser.policy import Policy
from appliance.browser.relay import Relay
from appliance.errors import ActionRefused
from tests.site import Site

NAMES = {
    "good.test": "127.0.0.1",
    "sub.good.test": "127.0.0.1",
    "evil.test": "127.0.0.2",
    "ahead.test": "127.0.0.2",
    "cdn.test": "127.0.0.3",
    "inner.test": "10.0.0.7",
    "metadata.test": "169.254.169.254",
}


class Names:
    """A resolver of our own; `asked` is every name it was asked for. `changing.test` has another address each time."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    async def __call__(self, host: str) -> tuple[Address, ...]:
        self.asked.append(host)
        if host == "changing.test":
            return (ip_address("127.0.0.3" if self.asked.count(host) == 1 else "127.0.0.1"),)
        name = host if host.count(".") == 1 or host in NAMES else host.partition(".")[2]
        if name not in NAMES or host == "nowhere.good.test":
            raise OSError(f"no such name {host}")
        return (ip_address(NAMES[name]),)


@pytest.fixture
def names() -> Names:
    return Names()


@pytest.fixture
def policy(names: Names) -> Policy:
    return Policy(private_allowed=("loopback",), allowed_domains=("good.test", "*.good.test"), resolve=names)


@pytest.fixture
async def relay(policy: Policy) -> AsyncIterator[Relay]:
    relay = await Relay.open(policy)
    yield relay
    await relay.close()


@pytest.fixture
async def browser(relay: Relay, display: int, tmp_path: Path) -> AsyncIterator[Browser]:
    options = ChromiumOptions("", display, 0, tmp_path / "profile", width=1280, height=800, flags=relay.flags)
    chromium = await Chromium.start(options)
    browser = await Browser.attach(
        chromium.websocket_url,
        policy=relay.policy,
        downloads_dir=tmp_path / "downloads",
        chromium_exited=chromium.exited,
    )
    browser.use_relay(relay)
    yield browser
    await browser.close()
    await chromium.stop()


@pytest.fixture
def at(site: Site) -> Callable[[str, str], str]:
    """Return the address of a path on a named host of the test site."""
    site.requests.clear()
    return lambda host, path="/": f"http://{host}:{site.port}{path}"


def got(site: Site, host: str) -> list[str]:
    return [seen.path for seen in site.requests if seen.host == host]


async def test_an_allowed_site_works_and_its_names_are_looked_up_once(
    browser: Browser, site: Site, at: Any, names: Names
) -> None:
    for path in ("/", "/controls.html", "/redirect?to=/"):
        assert (await browser.tab.navigate(at("good.test", path))).error is None
    assert (await browser.tab.navigate(at("sub.good.test"))).status == 200
    assert [names.asked.count(host) for host in ("good.test", "sub.good.test")] == [1, 1]


DOCUMENTS = {
    "link": "location.href = FORBIDDEN",
    "pop-up": "window.open(FORBIDDEN)",
    "redirect": "location.href = '/redirect?to=' + FORBIDDEN",
    "frame": "document.body.append(Object.assign(document.createElement('iframe'), {src: FORBIDDEN}))",
    "form": "document.body.insertAdjacentHTML('beforeend', `<form method=post action=${FORBIDDEN}><input name=a>`);"
    "document.forms[0].submit()",
    "refresh": "document.head.insertAdjacentHTML('beforeend',"
    " `<meta http-equiv=refresh content='0;url=${FORBIDDEN}'>`)",
    "download": "Object.assign(document.createElement('a'), {href: FORBIDDEN, download: 'x'}).click()",
}
SCRIPTS = {
    "post": "fetch(URL, {mode: 'no-cors', method: 'POST', body: 'x'}).then(() => 'reached', () => 'refused')",
    "get": "fetch(URL, {mode: 'no-cors'}).then(() => 'reached', () => 'refused')",
    "xhr": "new Promise(done => { const x = new XMLHttpRequest(); x.open('GET', URL);"
    "x.onloadend = () => done(x.status ? 'reached' : 'refused'); x.send(); })",
    "events": "new Promise(done => { const e = new EventSource(URL); e.onopen = () => done('reached');"
    "e.onerror = () => { e.close(); done('refused'); }; })",
    "socket": "new Promise(done => { const s = new WebSocket(URL.replace('http', 'ws'));"
    "s.onopen = () => done('reached'); s.onclose = () => done('refused'); })",
    "beacon": "(navigator.sendBeacon(URL, 'x'), 'refused')",
    "worker": "new Promise(done => { const w = new Worker('/policy_worker.js');"
    "w.onmessage = (event) => done(event.data); w.postMessage(URL); })",
}


async def until_refused(browser: Browser, host: str) -> str:
    """Wait until a request to the host was refused, and return why."""
    async with asyncio.timeout(30):
        while True:
            for refusal in browser.refusals:
                if host in refusal.address:
                    return refusal.reason
            await browser.settle(0.5)


async def test_documents_of_other_domains_are_refused_however_they_are_asked_for(
    browser: Browser, site: Site, at: Any
) -> None:
    for kind, code in DOCUMENTS.items():
        host = f"{kind}.evil.test"
        await browser.tab.navigate(at("good.test"))
        await browser.tab.evaluate(f"(() => {{ const FORBIDDEN = '{at(host, '/attachment?x')}'; {code} }})()")
        assert "good.test, *.good.test" in await until_refused(browser, host)
        assert got(site, host) == []


async def test_an_agents_own_navigation_names_what_is_refused_and_what_is_allowed(browser: Browser, at: Any) -> None:
    for url in (at("evil.test"), at("good.test", f"/redirect?to={at('evil.test')}")):
        with pytest.raises(ActionRefused, match=r"evil\.test.*outside the domains.*good\.test"):
            await browser.tab.navigate(url)


async def test_scripts_reach_no_other_domain(browser: Browser, site: Site, at: Any) -> None:
    await browser.tab.navigate(at("good.test"))
    for kind, code in SCRIPTS.items():
        host = f"{kind}.evil.test"
        answer = await browser.tab.evaluate(f"(() => {{ const URL = '{at(host, '/scripted')}'; return {code}; }})()")
        assert (kind, answer) == (kind, "refused")
        await until_refused(browser, host)
        assert got(site, host) == []
    seen = await browser.observe(with_screenshot=False)
    for kind in SCRIPTS:
        assert len([note for note in seen.notes if f"{kind}.evil.test" in note]) == 1


async def test_neither_a_service_worker_nor_web_transport_reaches_another_domain(
    display: int, site: Site, at: Any, names: Names, tmp_path: Path
) -> None:
    # Service workers need a site that counts as safe, which of ours only those on loopback do.
    relay = await Relay.open(Policy(private_allowed=("loopback",), allowed_domains=("127.0.0.1",), resolve=names))
    chromium = await Chromium.start(ChromiumOptions("", display, 0, tmp_path / "profile", flags=relay.flags))
    browser = await Browser.attach(chromium.websocket_url, policy=relay.policy)
    browser.use_relay(relay)
    await browser.tab.navigate(site.url("/"))
    code = f"""(async () => {{
      await navigator.serviceWorker.register('/policy_worker.js');
      const ready = await navigator.serviceWorker.ready;
      return await new Promise((done) => {{
        navigator.serviceWorker.onmessage = (event) => done(event.data);
        ready.active.postMessage('{at("evil.test", "/from-worker")}');
      }});
    }})()"""
    assert await browser.tab.evaluate(code) == "refused"
    assert got(site, "evil.test") == []
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as server:
        server.bind(("127.0.0.2", 0))
        server.setblocking(False)
        url = f"https://127.0.0.2:{server.getsockname()[1]}/"
        code = f"new WebTransport('{url}').ready.then(() => 'reached', () => 'refused')"
        assert await browser.tab.evaluate(code, timeout=60) == "refused"
        with pytest.raises(BlockingIOError):
            server.recv(100)
    await browser.close()
    await chromium.stop()
    await relay.close()


async def test_what_a_page_shows_or_runs_may_come_from_elsewhere(browser: Browser, site: Site, at: Any) -> None:
    await browser.tab.navigate(at("good.test"))
    shown = f"<img src='{at('cdn.test', '/picture')}'><link rel=stylesheet href='{at('cdn.test', '/style')}'>"
    await browser.tab.evaluate(f"void document.body.insertAdjacentHTML('beforeend', `{shown}`)")
    script = at("cdn.test", "/policy_worker.js")
    await browser.tab.evaluate(f"import('{script}').then(() => 1, () => 0)")
    loading = (
        "new Promise((done) => { const one = document.createElement('script');"
        f" one.onload = one.onerror = () => done(1); one.src = '{script}?2'; document.body.append(one); }})"
    )
    await browser.tab.evaluate(loading)
    await browser.settle()
    assert {"/picture", "/style", "/policy_worker.js?2"} <= set(got(site, "cdn.test"))


def show(address: str) -> str:
    """Return code that shows a picture and is done when that has loaded or failed."""
    return (
        f"new Promise((done) => {{ const one = new Image(); one.src = '{address}';"
        " one.onload = one.onerror = () => done(1); })"
    )


async def test_a_picture_whose_address_carries_a_secret_stays_inside(browser: Browser, site: Site, at: Any) -> None:
    browser.hide(tuple, lambda url: "hunter-22" in url)
    await browser.tab.navigate(at("good.test"))
    for address in (at("cdn.test", "/picture?d=hunter-22"), at("cdn.test", "/picture?d=other"), "/own?hunter-22"):
        await browser.tab.evaluate(show(address))
    assert got(site, "cdn.test") == ["/picture?d=other"]
    assert "/own?hunter-22" in got(site, "good.test")


async def test_calls_between_browsers_send_nothing_past_the_relay(browser: Browser, at: Any) -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as server:
        server.bind(("127.0.0.1", 0))
        server.setblocking(False)
        address = f"stun:127.0.0.1:{server.getsockname()[1]}"
        await browser.tab.navigate(at("good.test"))
        code = f"""(async () => {{
          const call = new RTCPeerConnection({{ iceServers: [{{ urls: '{address}' }}] }});
          call.createDataChannel('x');
          await call.setLocalDescription(await call.createOffer());
          for (let turn = 0; turn < 20; turn += 1) await fetch('/').then((answer) => answer.text());
          return call.iceGatheringState;
        }})()"""
        assert await browser.tab.evaluate(code, timeout=60) != "new"
        with pytest.raises(BlockingIOError):
            server.recv(100)


async def test_connections_ahead_of_time_do_not_even_look_the_name_up(
    browser: Browser, site: Site, at: Any, names: Names
) -> None:
    await browser.tab.navigate(at("good.test"))
    hints = "".join(
        f"<link rel={kind} href='{at('ahead.test')}'>"
        for kind in ("preconnect", "dns-prefetch", "prefetch", "prerender")
    )
    await browser.tab.evaluate(f"void document.head.insertAdjacentHTML('beforeend', `{hints}`)")
    rules = (
        f'{{"prefetch": [{{"source": "list", "urls": ["{at("ahead.test", "/ruled")}"], "eagerness": "immediate"}}]}}'
    )
    await browser.tab.evaluate(
        "void document.head.append(Object.assign(document.createElement('script'),"
        f" {{type: 'speculationrules', textContent: '{rules}'}}))"
    )
    # The same said of an allowed site has its effect, so by then it would have had one.
    hint = f"<link rel=preconnect href='{at('sub.good.test')}'>"
    await browser.tab.evaluate(f"void document.head.insertAdjacentHTML('beforeend', `{hint}`)")
    async with asyncio.timeout(30):
        while "sub.good.test" not in names.asked:
            await browser.settle(0.5)
    assert "ahead.test" not in names.asked
    assert got(site, "ahead.test") == []


class TestWithoutAllowedDomains:
    @pytest.fixture
    def policy(self, names: Names, site: Site) -> Policy:
        return Policy(private_allowed=("127.0.0.2", "127.0.0.3"), resolve=names)

    async def test_one_resolution_is_what_is_connected_to(
        self, browser: Browser, site: Site, at: Any, names: Names
    ) -> None:
        await browser.tab.navigate(at("changing.test", "/first"))
        code = f"fetch('{at('changing.test', '/second')}').then((answer) => answer.status)"
        assert await browser.tab.evaluate(code) == 404
        assert names.asked.count("changing.test") == 1

    async def test_names_of_private_ground_are_reached_by_nothing(self, browser: Browser, site: Site, at: Any) -> None:
        for host in ("good.test", "inner.test", "metadata.test"):
            await self._try(browser, at, host)
            assert got(site, host) == []

    async def _try(self, browser: Browser, at: Any, host: str) -> None:
        with pytest.raises(ActionRefused):
            await browser.tab.navigate(at(host))
        await browser.tab.navigate(at("cdn.test"))
        for code in (
            f"fetch('{at(host)}', {{mode: 'no-cors'}}).then(() => 'reached', () => 'refused')",
            f"new Promise((done) => {{ const one = new Image(); one.onload = () => done('reached');"
            f" one.onerror = () => done('refused'); one.src = '{at(host)}'; }})",
            f"new Promise((done) => {{ const one = new WebSocket('{at(host).replace('http', 'ws')}');"
            " one.onopen = () => done('reached'); one.onclose = () => done('refused'); })",
        ):
            assert await browser.tab.evaluate(code) == "refused"

    async def test_a_site_that_is_not_there_is_told_as_such(self, browser: Browser, at: Any) -> None:
        assert "cannot be resolved" in ((await browser.tab.navigate("http://nowhere.test/")).error or "")
        assert (await browser.tab.navigate("http://127.0.0.3:1025/")).error == "the site refused the connection"


async def ask(port: int, *parts: bytes) -> bytes:
    """Return what the relay answers to these bytes until it ends the connection or is done."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    answer = b""
    for part in parts:
        writer.write(part)
    async with asyncio.timeout(20):
        while (some := await reader.read(1000)) and len(answer + some) < 12:
            answer += some
        answer += some
    writer.close()
    return answer


def request(host: str, port: int) -> bytes:
    return b"\x05\x01\x00\x03" + bytes([len(host)]) + host.encode() + struct.pack("!H", port)


@pytest.mark.parametrize(
    ("lane", "host", "is_open"),
    [
        ("http", "good.test", True),
        ("http", "GOOD.test", True),
        ("http", "evil.test", False),
        ("socket", "good.test", True),
        ("socket", "evil.test", False),
        ("https", "169.254.169.254", False),
        ("http", "nowhere.good.test", False),
        ("http", "good.test%00", False),
        ("http", "", False),
    ],
)
async def test_the_relay_alone_refuses_too(lane: Any, host: str, is_open: bool, relay: Relay, site: Site) -> None:
    answer = await ask(relay.ports[lane], b"\x05\x01\x00", request(host, site.port))
    assert answer[:2] == b"\x05\x00"
    assert (answer[3:4] == b"\x00") is is_open


@pytest.mark.parametrize(
    "noise", [b"GET / HTTP/1.1\r\n\r\n", b"\x04\x01", b"\x05\x01\x00\x05\x02\x00\x01" + bytes(9), b"\x05" * 2000]
)
async def test_noise_at_the_relay_ends_the_connection(noise: bytes, relay: Relay) -> None:
    reader, writer = await asyncio.open_connection("127.0.0.1", relay.ports["http"])
    writer.write(noise)
    async with asyncio.timeout(20):
        with suppress(ConnectionResetError):
            await reader.read()
    writer.close()


async def test_our_own_ports_are_refused_by_every_address_of_this_machine(site: Site, names: Names) -> None:
    relay = await Relay.open(Policy(own_ports=frozenset({site.port}), private_allowed=("loopback",), resolve=names))
    for host in ("127.0.0.1", "good.test", "localhost", "::1"):
        answer = await ask(relay.ports["http"], b"\x05\x01\x00", request(host, site.port))
        assert answer[3:4] != b"\x00"
    answer = await ask(relay.ports["http"], b"\x05\x01\x00", request("127.0.0.1", relay.ports["https"]))
    assert answer[3:4] != b"\x00"
    await relay.close()
