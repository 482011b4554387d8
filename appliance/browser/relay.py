"""The only way out of a browser: a SOCKS proxy on loopback that resolves each name once and connects to what it judged.

It covers what request interception cannot see: sockets, preconnects, workers, and names whose addresses change between
the check and the connection. Chromium is told to resolve nothing by itself.
"""

import asyncio
from collections.abc import Callable
from dataclasses import replace
from typing import Literal

import structlog

from appliance.addresses import DEFAULT_PORTS, Address, WebAddress, parse_address
from appliance.browser.names import HeldNames
from appliance.browser.policy import MAKERS_HOSTS, Policy
from appliance.browser.tunnel import Reached, Tunnel
from appliance.errors import ActionRefused, BrowserUnavailable

CONNECT_SECONDS = 15.0
"""How long all addresses of a host together may take to answer."""
STAGGER_SECONDS = 0.3
"""When the next address of a host is tried beside one that does not answer."""

Lane = Literal["http", "https", "socket"]
_LANES: tuple[Lane, ...] = ("http", "https", "socket")

OnRefusal = Callable[[WebAddress, str], None]

_log = structlog.get_logger()


class Relay:
    """The way out of one browser, with one port each for http, https and sockets.

    `policy` is the given one with names that are looked up once; give it to `Browser.attach` too, with the relay.
    `on_refusal` gets what was refused and why.
    """

    def __init__(self, policy: Policy) -> None:
        """Not listening yet; use `open`."""
        self.policy = replace(policy, resolve=HeldNames(policy.resolve))
        self.on_refusal: OnRefusal | None = None
        self._servers: dict[Lane, asyncio.Server] = {}
        self._tunnels: set[Tunnel] = set()
        self._expected: set[tuple[str, int]] = set()
        self._own_pages: set[tuple[str, int]] = set()
        self._problems: dict[tuple[str, int], str] = {}

    @classmethod
    async def open(cls, policy: Policy) -> "Relay":
        """Listen on loopback; raises BrowserUnavailable when no port can be had."""
        relay = cls(policy)
        loop = asyncio.get_running_loop()
        try:
            for lane in _LANES:
                relay._servers[lane] = await loop.create_server(relay._tunnel_of(lane), "127.0.0.1", 0)
        except OSError as error:
            await relay.close()
            raise BrowserUnavailable(f"There is no free port for the browser's way out ({error.strerror}).") from error
        relay.policy = replace(relay.policy, own_ports=relay.policy.own_ports | set(relay.ports.values()))
        return relay

    @property
    def ports(self) -> dict[Lane, int]:
        """The port of each lane on 127.0.0.1."""
        return {lane: int(server.sockets[0].getsockname()[1]) for lane, server in self._servers.items()}

    @property
    def flags(self) -> tuple[str, ...]:
        """What Chromium must be started with so that everything goes through here."""
        ports = self.ports
        lanes = {"http": ports["http"], "https": ports["https"], "socks": ports["socket"]}
        proxies = ";".join(f"{scheme}=socks5://127.0.0.1:{port}" for scheme, port in lanes.items())
        return (
            f"--proxy-server={proxies}",
            "--proxy-bypass-list=<-loopback>",
            "--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1",
            "--webrtc-ip-handling-policy=disable_non_proxied_udp",
        )

    def narrow(self, allowed_domains: tuple[str, ...]) -> None:
        """Allow these domains from now on, all of them when there are none; `policy` is another one afterwards.

        What was judged good by others counts no more, and connections that go on are cut.
        """
        if allowed_domains == self.policy.allowed_domains:
            return
        self.policy = replace(self.policy, allowed_domains=allowed_domains)
        self._expected.clear()
        self._own_pages.clear()
        self._problems.clear()
        for tunnel in tuple(self._tunnels):
            tunnel.abort()

    def expect(self, url: str) -> None:
        """Let connections to the host of an address through that was judged good as a whole."""
        address = parse_address(url) if url.partition(":")[0] in DEFAULT_PORTS else None
        if address is None:
            return
        place = (address.host, address.port)
        if self.policy.is_own_page(url):
            self._own_pages.add(place)
        self._expected.add(place)

    def problem_of(self, url: str) -> str | None:
        """Return in a clause why the last connection to the host of an address failed, None when it did not."""
        try:
            address = parse_address(url)
        except ActionRefused:
            return None
        return self._problems.get((address.host, address.port)) if address else None

    async def close(self) -> None:
        """Listen no more and cut every connection."""
        for server in self._servers.values():
            server.close()
        for tunnel in tuple(self._tunnels):
            tunnel.abort()
        for server in self._servers.values():
            await server.wait_closed()

    def _tunnel_of(self, lane: Lane) -> Callable[[], Tunnel]:
        def make() -> Tunnel:
            async def reach(host: str, port: int) -> Reached:
                return await self._reach(lane, host, port)

            return Tunnel(reach, self._tunnels)

        return make

    async def _reach(self, lane: Lane, host: str, port: int) -> Reached:
        """Return the open connection; raises OSError, which says nothing to the browser but that there is none."""
        place = (host, port)
        try:
            # As a browser's own spelling: an IP address without brackets, a name in lower case.
            address = self._judge(lane, host, port)
            place = (address.host, address.port)
            if address.host in MAKERS_HOSTS and place not in self._expected:
                raise ActionRefused(f"Only the browser itself asked for {address}.")
            is_own_page = lane == "http" and place in self._own_pages
            found = await self.policy.find_addresses(address, is_own_page=is_own_page)
            async with asyncio.timeout(CONNECT_SECONDS):
                reached = await _connect(found, port)
            if not is_own_page and port in self.policy.own_ports and reached.is_this_machine:
                reached.cut()
                raise ActionRefused(f"{address} belongs to this appliance itself and is never opened by its browser.")
        except ActionRefused as refusal:
            self._note(lane, place, refusal)
            raise ConnectionRefusedError(refusal.message) from refusal
        except OSError as error:
            self._problems[place] = _explain(error)
            raise
        self._problems.pop(place, None)
        return reached

    def _note(self, lane: Lane, place: tuple[str, int], refusal: ActionRefused) -> None:
        self._problems[place] = refusal.message
        _log.debug("connection refused by policy", reason=refusal.message)
        # What nobody asked the gate for is no page's doing, but a connection ahead of time or Chromium's own business.
        if self.on_refusal is not None and (lane == "socket" or place in self._expected):
            scheme = ("wss" if place[1] == 443 else "ws") if lane == "socket" else lane
            self.on_refusal(WebAddress(scheme, *place), refusal.message)

    def _judge(self, lane: Lane, host: str, port: int) -> WebAddress:
        literal = f"[{host}]" if ":" in host else host
        schemes = ("wss", "ws") if lane == "socket" else (lane,)
        last: ActionRefused | None = None
        for scheme in schemes:
            address = parse_address(f"{scheme}://{literal}:{port}")
            assert address is not None
            if lane != "socket" and (address.host, address.port) in self._expected:
                return address
            try:
                self.policy.check_domain(address)
            except ActionRefused as refusal:
                last = refusal
            else:
                return address
        assert last is not None
        raise last


async def _connect(addresses: tuple[Address, ...], port: int) -> Reached:
    """Connect to the first address that answers, each begun a little after the one before; raises OSError."""
    loop = asyncio.get_running_loop()
    attempts: list[asyncio.Task[tuple[asyncio.Transport, Reached]]] = []
    problem: OSError = ConnectionRefusedError("no address")
    waiting = list(addresses)
    try:
        while waiting or any(not attempt.done() for attempt in attempts):
            if waiting:
                host = str(waiting.pop(0))
                attempts.append(asyncio.create_task(loop.create_connection(Reached, host, port)))
            open_attempts = [attempt for attempt in attempts if not attempt.done()]
            await asyncio.wait(
                open_attempts, timeout=STAGGER_SECONDS if waiting else None, return_when=asyncio.FIRST_COMPLETED
            )
            for attempt in [attempt for attempt in attempts if attempt.done()]:
                if (failure := attempt.exception()) is None:
                    attempts.remove(attempt)
                    return attempt.result()[1]
                attempts.remove(attempt)
                if not isinstance(failure, OSError):
                    raise failure
                problem = failure
        raise problem
    finally:
        for attempt in attempts:
            attempt.cancel()
            attempt.add_done_callback(_drop)


def _drop(attempt: "asyncio.Task[tuple[asyncio.Transport, Reached]]") -> None:
    if not attempt.cancelled() and attempt.exception() is None:
        attempt.result()[0].abort()


def _explain(error: OSError) -> str:
    if isinstance(error, ConnectionRefusedError):
        return "the site refused the connection"
    if isinstance(error, TimeoutError):
        return "the site did not answer in time"
    if isinstance(error, ConnectionError):
        return "the connection was cut by the site"
    return "the name of the site cannot be resolved" if _is_lookup(error) else "the site cannot be reached from here"


def _is_lookup(error: OSError) -> bool:
    return type(error).__name__ == "gaierror"
