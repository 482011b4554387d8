"""One HTTP request of our own: through the browser's policy, to the address that was judged, within bounds.

Each name is looked up once and the connection goes to what that look-up gave; every redirect is judged anew.
"""

import asyncio
import base64
import re
import socket
import zlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING
from urllib.parse import unquote_to_bytes, urljoin

from appliance.addresses import Address, WebAddress, parse_address, shown
from appliance.browser.policy import Policy
from appliance.errors import ActionFailed, ActionRefused

if TYPE_CHECKING:
    import httpx

SECONDS = 30.0
"""Of a request with all its redirects."""
CONNECT_SECONDS = 10.0
MAX_BYTES = 8_000_000
"""Of an answer, decompressed: what one file of the scratchpad may have."""
MAX_REDIRECTS = 10

_REDIRECTS = frozenset({301, 302, 303, 307, 308})
_CROSSING = frozenset({"accept", "accept-language", "user-agent", "content-type"})
"""Headers of the caller's that go on to another site; any other may be a key to the first."""
_UNSAFE_PORTS = frozenset(
    {
        1, 7, 9, 11, 13, 15, 17, 19, 20, 21, 22, 23, 25, 37, 42, 43, 53, 69, 77, 79, 87, 95, 101, 102, 103, 104, 109,
        110, 111, 113, 115, 117, 119, 123, 135, 137, 139, 143, 161, 179, 389, 427, 465, 512, 513, 514, 515, 526, 530,
        531, 532, 540, 548, 554, 556, 563, 587, 601, 636, 989, 990, 993, 995, 1719, 1720, 1723, 2049, 3659, 4045, 4190,
        5060, 5061, 6000, 6566, 6665, 6666, 6667, 6668, 6669, 6679, 6697, 10080
    }
)  # fmt: skip
"""Ports that no browser opens by HTTP, since servers of other kinds listen there."""


@dataclass(frozen=True)
class Wanted:
    """What is asked for; header names in lower case."""

    url: str
    method: str = "GET"
    headers: Mapping[str, str] = field(default_factory=dict[str, str])
    body: bytes = b""


@dataclass(frozen=True)
class Fetched:
    """What came: `data` decompressed, `lack` a clause on what is missing of it, "" when it is whole."""

    url: str
    status: int
    reason: str
    headers: Mapping[str, str]
    data: bytes
    lack: str = ""


async def fetch(
    policy: Policy,
    wanted: Wanted,
    check: Callable[[Wanted], None],
    *,
    seconds: float = SECONDS,
    max_bytes: int = MAX_BYTES,
) -> Fetched:
    """Return the answer to a request, that of the last redirect; an error status is an answer like any other.

    `check` may refuse what is about to be sent, redirects too. Raises ActionRefused when the policy or the check does
    not let an address be opened, ActionFailed when there is no answer.
    """
    import httpx  # noqa: PLC0415 - heavy, and most runs fetch nothing

    transport = await asyncio.to_thread(httpx.AsyncHTTPTransport, limits=httpx.Limits(max_keepalive_connections=0))
    incoming = _Incoming(max_bytes)
    try:
        async with asyncio.timeout(seconds):
            await _follow(transport, policy, wanted, check, incoming)
    except TimeoutError as error:
        if incoming.response is None:
            raise ActionFailed(f"{shown(wanted.url)} did not answer within {seconds:g} s; try another way.") from error
        incoming.lack = f"it did not end within {seconds:g} s"
    finally:
        await asyncio.shield(transport.aclose())
    return incoming.result()


class _Incoming:
    """The answer as far as it has come."""

    def __init__(self, max_bytes: int) -> None:
        self.url = ""
        self.response: httpx.Response | None = None
        self.data = bytearray()
        self.lack = ""
        self._max_bytes = max_bytes

    async def read(self, url: str, response: "httpx.Response") -> None:
        """Take in an answer up to the limit."""
        import httpx  # noqa: PLC0415 - loaded by now

        self.url, self.response = url, response
        expand = _expander(response.headers.get("content-encoding", ""))
        try:
            async for chunk in response.aiter_raw():
                if not self._take(expand, chunk):
                    self.lack = f"only its first {self._max_bytes:,} bytes were taken"
                    return
        except httpx.HTTPError:
            self.lack = "the connection broke off before its end"
        except zlib.error:
            self.lack = "its compression is broken from there on"

    def _take(self, expand: "Callable[[bytes, int], bytes]", chunk: bytes) -> bool:
        """Add a piece and return whether there is room for more."""
        self.data += expand(chunk, self._max_bytes + 1 - len(self.data))
        is_within = len(self.data) <= self._max_bytes
        del self.data[self._max_bytes :]
        return is_within

    def result(self) -> Fetched:
        """Return what has come."""
        assert self.response is not None
        headers = {name.lower(): value for name, value in self.response.headers.items()}
        reason = self.response.reason_phrase
        return Fetched(self.url, self.response.status_code, reason, headers, bytes(self.data), self.lack)


async def _follow(
    transport: "httpx.AsyncHTTPTransport",
    policy: Policy,
    wanted: Wanted,
    check: Callable[[Wanted], None],
    incoming: _Incoming,
) -> None:
    for hop in range(MAX_REDIRECTS + 1):
        try:
            response = await _send(transport, policy, wanted, check)
        except ActionRefused as refusal:
            raise ActionRefused(f"It redirects on, and {refusal.message}" if hop else refusal.message) from refusal
        try:
            location = response.headers.get("location")
            if response.status_code not in _REDIRECTS or not location:
                await incoming.read(wanted.url, response)
                return
        finally:
            await response.aclose()
        wanted = _redirected(wanted, response.status_code, location)
    raise ActionFailed(f"{shown(wanted.url)} redirects more than {MAX_REDIRECTS} times; there is nothing to be had.")


async def _send(
    transport: "httpx.AsyncHTTPTransport", policy: Policy, wanted: Wanted, check: Callable[[Wanted], None]
) -> "httpx.Response":
    """Return the answer to one request, its body not yet read."""
    import httpx  # noqa: PLC0415 - loaded by now

    address = _judge(policy, wanted.url)
    check(wanted)
    is_own_page = policy.is_own_page(wanted.url)
    try:
        found = await policy.find_addresses(address, is_own_page=is_own_page)
    except OSError as error:
        raise ActionFailed(f"The name of {address} cannot be resolved; check its spelling.") from error
    problem: Exception | None = None
    for ip in sorted(found, key=lambda one: one.version):
        if not is_own_page and address.port in policy.own_ports and _is_this_machine(ip):
            raise ActionRefused(f"{address} belongs to this appliance itself and is never opened.")
        try:
            return await transport.handle_async_request(_request(wanted, address, ip))
        except (httpx.ConnectError, httpx.ConnectTimeout) as error:
            problem = error
        except httpx.HTTPError as error:
            raise ActionFailed(f"{address} gave no answer that can be read ({_said(error)}).") from error
    raise ActionFailed(f"{address} cannot be reached ({_said(problem)}); check the address.") from problem


def _judge(policy: Policy, url: str) -> WebAddress:
    address = parse_address(url)
    if address is None or address.scheme not in ("http", "https"):
        raise ActionRefused(f"{shown(url)} is not a web address; only http and https can be fetched.")
    policy.check_url(url)
    if address.port in _UNSAFE_PORTS:
        raise ActionRefused(f"{address} is a port for another kind of server; browsers do not open it either.")
    return address


def _request(wanted: Wanted, address: WebAddress, ip: Address) -> "httpx.Request":
    """Return the request to an IP address for the host: name and port are those judged, never read a second time."""
    import httpx  # noqa: PLC0415 - loaded by now

    user, target = _user_and_target(wanted.url)
    host = str(address).partition("://")[2]
    headers = {"host": host, "accept": "*/*", "accept-encoding": "gzip, deflate", "user-agent": "Pilothouse"}
    if user:
        headers["authorization"] = "Basic " + base64.b64encode(unquote_to_bytes(user)).decode()
    headers |= wanted.headers
    at = f"[{ip}]" if ip.version == 6 else str(ip)
    url = httpx.URL(f"{address.scheme}://{at}:{address.port}").copy_with(raw_path=target.encode())
    extensions = {"sni_hostname": address.host, "timeout": httpx.Timeout(None, connect=CONNECT_SECONDS).as_dict()}
    return httpx.Request(wanted.method, url, headers=headers, content=wanted.body or None, extensions=extensions)


def _user_and_target(url: str) -> tuple[str, str]:
    """Return the user with the password, and path with query, of an address, taken apart as `parse_address` does."""
    text = re.sub(r"[\t\r\n]", "", url).strip("".join(map(chr, range(0x21)))).partition("#")[0]
    rest = text.partition(":")[2].lstrip("/\\")
    match = re.match(r"[^/?\\]*", rest)
    authority = match[0] if match else ""
    path, question_mark, query = rest[len(authority) :].partition("?")
    path = path.replace("\\", "/")
    target = (path if path.startswith("/") else f"/{path}") + question_mark + query
    return authority.rpartition("@")[0], re.sub(r"[^!-~]+", _percent, target)


def _percent(match: re.Match[str]) -> str:
    return "".join(f"%{byte:02X}" for byte in match[0].encode(errors="replace"))


def _redirected(wanted: Wanted, status: int, location: str) -> Wanted:
    """Return the request that follows a redirect as browsers make it."""
    try:
        url = urljoin(wanted.url, location)
    except ValueError as error:
        raise ActionFailed(f"{shown(wanted.url)} redirects to what is no address.") from error
    becomes_get = status == 303 or (status in (301, 302) and wanted.method == "POST")
    if becomes_get and wanted.method != "HEAD":
        headers = {name: value for name, value in wanted.headers.items() if name != "content-type"}
        wanted = replace(wanted, method="GET", body=b"", headers=headers)
    if parse_address(url) != parse_address(wanted.url):
        headers = {name: value for name, value in wanted.headers.items() if name in _CROSSING}
        wanted = replace(wanted, headers=headers)
    return replace(wanted, url=url)


def _expander(encoding: str) -> "Callable[[bytes, int], bytes]":
    """Return what decompresses piece by piece, never making more bytes than there is room for."""
    encoding = encoding.strip().lower()
    if encoding in ("", "identity"):
        return lambda chunk, room: chunk[:room]
    if encoding in ("gzip", "x-gzip"):
        return zlib.decompressobj(wbits=31).decompress
    if encoding == "deflate":
        return _Deflated()
    raise ActionFailed(f"The answer is compressed as {encoding[:40]!r}, which was not asked for and cannot be read.")


class _Deflated:
    """Expands `deflate`, which some servers send with and some without its frame."""

    def __init__(self) -> None:
        self._expand = zlib.decompressobj()
        self._is_begun = False

    def __call__(self, chunk: bytes, room: int) -> bytes:
        if not self._is_begun and chunk:
            self._is_begun = True
            has_frame = chunk[0] & 0x0F == 8 and (len(chunk) < 2 or (chunk[0] * 256 + chunk[1]) % 31 == 0)
            self._expand = zlib.decompressobj() if has_frame else zlib.decompressobj(wbits=-15)
        return self._expand.decompress(chunk, room)


def _is_this_machine(ip: Address) -> bool:
    """Whether an address is one of this machine's: what leads there then begins there, too. Nothing is sent."""
    family = socket.AF_INET6 if ip.version == 6 else socket.AF_INET
    with socket.socket(family, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect((str(ip), 9))
        except OSError:
            return False
        return probe.getsockname()[0] == str(ip)


def _said(error: Exception | None) -> str:
    return str(error)[:200] if error is not None and str(error) else type(error).__name__
