"""Which addresses the agent's browser may open: decided on the address as a browser reads it, never on its spelling."""

import asyncio
import re
import socket
import unicodedata
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass
from functools import cached_property
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network
from typing import Any
from urllib.parse import unquote

from appliance.errors import ActionRefused

Address = IPv4Address | IPv6Address
Network = IPv4Network | IPv6Network

DEFAULT_PORTS = {"http": 80, "https": 443, "ws": 80, "wss": 443}
HARMLESS_SCHEMES = frozenset({"about", "data", "blob"})

# Addresses that hand out credentials of the machine or reach its link: refused whatever the settings say.
FORBIDDEN_NETWORKS = tuple(
    ip_network(text)
    for text in ("169.254.0.0/16", "fe80::/10", "fd00:ec2::/32", "168.63.129.16/32", "100.100.100.200/32")
)
FORBIDDEN_NAMES = frozenset({"metadata.google.internal", "metadata.goog", "metadata", "instance-data"})
PRIVATE_NETWORKS = tuple(
    ip_network(text) for text in ("10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "100.64.0.0/10", "fc00::/7")
)
LOOPBACK_NETWORKS = tuple(ip_network(text) for text in ("127.0.0.0/8", "::1/128", "0.0.0.0/32", "::/128"))


@dataclass(frozen=True)
class WebAddress:
    """An address taken apart as a browser does it; `host` is lower case, an IP address in its usual form."""

    scheme: str
    host: str
    port: int

    @property
    def ip(self) -> Address | None:
        """The host as an IP address, None when it is a name."""
        return _as_ip(self.host)

    def __str__(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        port = "" if self.port == DEFAULT_PORTS.get(self.scheme) else f":{self.port}"
        return f"{self.scheme}://{host}{port}"


def parse_address(url: str) -> WebAddress | None:
    """Take an http(s) or ws(s) address apart; None when it is another kind, ActionRefused when it is not one at all."""
    text = re.sub(r"[\t\r\n]", "", url).strip("".join(map(chr, range(0x21))))
    match = re.match(r"([a-zA-Z][a-zA-Z0-9+.-]*):", text)
    if match is None:
        raise ActionRefused(f"{_shown(url)} is not a complete address; begin it with https:// or http://.")
    scheme = match[1].lower()
    if scheme not in DEFAULT_PORTS:
        return None
    rest = text[match.end() :].replace("\\", "/").lstrip("/")
    authority = re.split(r"[/?#]", rest, maxsplit=1)[0]
    host_and_port = authority.rpartition("@")[2]
    match = re.fullmatch(r"(\[[^\]]*\]|[^:]*)(?::(\d*))?", host_and_port)
    if match is None or (port := int(match[2] or DEFAULT_PORTS[scheme])) > 65535:
        raise ActionRefused(f"The host of {_shown(url)} cannot be read; correct the address.")
    return WebAddress(scheme, _canonical_host(match[1], url), port)


async def resolve_name(host: str) -> tuple[Address, ...]:
    """Return every address that this machine finds for a name; raises OSError when it finds none within 5 s."""
    loop = asyncio.get_running_loop()
    async with asyncio.timeout(5.0):
        found = await loop.getaddrinfo(host, None, type=socket.SOCK_STREAM)
    return tuple({ip_address(str(entry[4][0]).partition("%")[0]) for entry in found})


@dataclass(frozen=True)
class Policy:
    """What may be opened.

    `own_ports` are ports of this appliance: refused on every address of this machine. `private_allowed` opens
    private ground: the words `private` and `loopback`, host names, addresses or networks. `allowed_domains`, when
    not empty, narrows everything to these: `example.com`, `*.example.com`, `host:port`, `scheme://host`.
    `own_pages` are beginnings of addresses of this appliance that may be opened all the same: its demonstration site.
    `resolve` finds the addresses of a name.
    """

    own_ports: frozenset[int] = frozenset()
    private_allowed: tuple[str, ...] = ()
    allowed_domains: tuple[str, ...] = ()
    own_pages: tuple[str, ...] = ()
    resolve: Callable[[str], Awaitable[tuple[Address, ...]]] = resolve_name

    def check_url(self, url: str) -> None:
        """Raise ActionRefused, saying why, when this address must not be opened; names are not looked up."""
        if url.strip().partition(":")[0].lower() in HARMLESS_SCHEMES:
            return
        address = parse_address(url)
        if address is None:
            raise ActionRefused(f"{_shown(url)} is not a web address; only http and https may be opened.")
        self._check_domain(address)
        if self._is_own_page(url):
            return
        if address.host in FORBIDDEN_NAMES:
            raise ActionRefused(f"{address} hands out credentials of the machine and is never opened.")
        if address.ip is not None:
            self._check_ip(address, address.ip)
        elif _is_localhost(address.host):
            self._check_ip(address, ip_address("127.0.0.1"))

    async def check_reachable(self, url: str) -> None:
        """As `check_url`, and for a name also every address it resolves to.

        Raises ActionRefused; OSError when the name cannot be resolved within 5 s.
        """
        self.check_url(url)
        address = None if url.strip().partition(":")[0].lower() in HARMLESS_SCHEMES else parse_address(url)
        if address is None or address.ip is not None or _is_localhost(address.host) or self._is_own_page(url):
            return
        for ip in await self.resolve(address.host):
            self._check_ip(address, ip)

    def needs_lookup(self, url: str) -> bool:
        """Whether the decision on an address depends on what its name resolves to."""
        if url.partition(":")[0].lower() not in DEFAULT_PORTS:
            return False
        try:
            address = parse_address(url)
        except ActionRefused:
            return False
        return address is not None and address.ip is None and not _is_localhost(address.host)

    def interception_patterns(self) -> list[dict[str, Any]]:
        """Return the patterns of requests to stop and ask about: every document, and whatever names refused ground."""
        patterns: list[dict[str, Any]] = [{"urlPattern": "*", "resourceType": "Document"}]
        patterns += [{"urlPattern": f"*://*:{port}/*"} for port in sorted(self.own_ports)]
        patterns += [{"urlPattern": f"*://{host}*"} for host in ("169.254.", "metadata.", "[fe80:", "[fd00:ec2:")]
        if "loopback" not in self.private_allowed:
            patterns += [{"urlPattern": f"*://{host}*"} for host in ("127.", "localhost", "0.0.0.0", "[:")]
        if "private" not in self.private_allowed:
            hosts = ("10.", "192.168.", "172.1", "172.2", "172.3", "100.", "[f")
            patterns += [{"urlPattern": f"*://{host}*"} for host in hosts]
        return patterns

    def _is_own_page(self, url: str) -> bool:
        # In its plainest spelling only: whatever a browser rewrites before it asks is judged when it does.
        plain = re.split(r"[?#]", url, maxsplit=1)[0]
        is_plain = ".." not in plain and re.fullmatch(r"[a-zA-Z0-9_:/.~-]+", plain) is not None
        return is_plain and plain.startswith(self.own_pages)

    def _check_domain(self, address: WebAddress) -> None:
        if self.allowed_domains and not any(_matches(address, pattern) for pattern in self.allowed_domains):
            allowed = ", ".join(self.allowed_domains)
            raise ActionRefused(f"{address} is outside the domains this task may use ({allowed}).")

    def _check_ip(self, address: WebAddress, ip: Address) -> None:
        ip = _unpacked(ip)
        if _is_in(ip, FORBIDDEN_NETWORKS):
            raise ActionRefused(f"{address} is a link-local or metadata address and is never opened.")
        loopback = _is_in(ip, LOOPBACK_NETWORKS)
        if address.port in self.own_ports and (loopback or ip in _own_addresses()):
            raise ActionRefused(f"{address} belongs to this appliance itself and is never opened by its browser.")
        if loopback or _is_in(ip, PRIVATE_NETWORKS):
            if not self._is_private_allowed(address.host, ip, "loopback" if loopback else "private"):
                raise ActionRefused(
                    f"{address} is in a private network; BROWSE_PRIVATE can allow it, the agent itself cannot."
                )
        elif ip.is_multicast or ip.is_reserved:
            raise ActionRefused(f"{address} is not an address of a web server.")

    def _is_private_allowed(self, host: str, ip: Address, kind: str) -> bool:
        return kind in self.private_allowed or host in self._allowed_names or _is_in(ip, self._allowed_networks)

    @cached_property
    def _allowed_names(self) -> frozenset[str]:
        return frozenset(entry.lower().rstrip(".") for entry in self.private_allowed)

    @cached_property
    def _allowed_networks(self) -> tuple[Network, ...]:
        return tuple(_networks(self.private_allowed))


def _matches(address: WebAddress, pattern: str) -> bool:
    scheme, has_scheme, rest = pattern.strip().lower().rpartition("://")
    if has_scheme and scheme != address.scheme:
        return False
    if not has_scheme and address.scheme not in ("http", "https"):
        return False
    rest = rest.partition("/")[0]
    host, _, port = rest.rpartition(":") if re.search(r":\d+$", rest) else (rest, "", "")
    if port and int(port) != address.port:
        return False
    host = host.strip("[]").rstrip(".")
    if host.startswith("*."):
        return address.host.endswith(host[1:]) and len(address.host) > len(host) - 1
    return address.host == host


def _canonical_host(host: str, url: str) -> str:
    if host.startswith("["):
        ip = _as_ip(host.strip("[]").partition("%")[0])
        if ip is None:
            raise ActionRefused(f"The host of {_shown(url)} cannot be read; correct the address.")
        return str(ip)
    name = unicodedata.normalize("NFKC", unquote(host)).lower().replace("。", ".")
    if not name.isascii():
        try:
            name = name.encode("idna").decode()
        except UnicodeError as error:
            raise ActionRefused(f"The host of {_shown(url)} is not a valid name; correct the address.") from error
    name = name.removesuffix(".")
    if not name or re.search(r"[\x00-\x20#%/:<>?@\[\\\]^|\x7f]", name):
        raise ActionRefused(f"The host of {_shown(url)} cannot be read; correct the address.")
    ipv4 = _read_ipv4(name)
    return str(ipv4) if ipv4 is not None else name


def _read_ipv4(name: str) -> IPv4Address | None:
    """Read every spelling a browser takes for an IPv4 address: decimal, octal, hexadecimal, one to four parts."""
    parts = name.split(".")
    numbers = [_read_number(part) for part in parts]
    if numbers[-1] is None or len(parts) > 4 or None in numbers:
        return None
    *front, last = (number or 0 for number in numbers)
    if any(number > 255 for number in front) or last >= 256 ** (5 - len(parts)):
        return None
    value = last
    for position, number in enumerate(front):
        value += number * 256 ** (3 - position)
    return IPv4Address(value)


def _read_number(part: str) -> int | None:
    if re.fullmatch(r"0x[0-9a-f]*", part):
        return int(part[2:] or "0", 16)
    if re.fullmatch(r"0[0-7]+", part):
        return int(part, 8)
    return int(part) if re.fullmatch(r"\d+", part) else None


def _as_ip(host: str) -> Address | None:
    try:
        return ip_address(host)
    except ValueError:
        return None


def _unpacked(ip: Address) -> Address:
    """Return the IPv4 address that is packed into an IPv6 one, or the address itself."""
    if isinstance(ip, IPv4Address):
        return ip
    if ip in IPv6Network("64:ff9b::/96"):
        return IPv4Address(int(ip) & 0xFFFFFFFF)
    return ip.ipv4_mapped or ip.sixtofour or ip


def _is_in(ip: Address, networks: Iterable[Network]) -> bool:
    return any(ip.version == network.version and ip in network for network in networks)


def _networks(entries: Iterable[str]) -> Iterable[Network]:
    for entry in entries:
        try:
            yield ip_network(entry, strict=False)
        except ValueError:
            continue


def _is_localhost(host: str) -> bool:
    return host == "localhost" or host.endswith(".localhost")


def _own_addresses() -> frozenset[Address]:
    """Return the addresses this machine is known by, as far as its own host name says."""
    try:
        found = socket.getaddrinfo(socket.gethostname(), None, type=socket.SOCK_STREAM)
    except OSError:
        return frozenset()
    return frozenset(ip_address(str(entry[4][0]).partition("%")[0]) for entry in found)


def _shown(url: str) -> str:
    """Return an address for a message: no user, no password, no query, not long."""
    without_query = re.split(r"[?#]", url, maxsplit=1)[0]
    return re.sub(r"//[^/\\]*@", "//", without_query)[:200] or "An empty address"
