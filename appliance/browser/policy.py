"""Which addresses the agent's browser may open: decided on the address as a browser reads it, never on its spelling."""

import asyncio
import re
import socket
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass
from functools import cache, cached_property
from ipaddress import IPv4Address, IPv4Network, IPv6Network, ip_address, ip_network
from typing import Any

from appliance.addresses import DEFAULT_PORTS, Address, DomainPattern, WebAddress, parse_address, shown
from appliance.errors import ActionRefused

Network = IPv4Network | IPv6Network

HARMLESS = re.compile(r"\s*(?:data:|blob:|about:(?:blank|srcdoc)(?:[?#]|\s*$))", re.IGNORECASE)
"""What never leaves the browser. Other `about:` addresses are pages of Chromium itself."""

# Addresses that hand out credentials of the machine or reach its link: refused whatever the settings say.
FORBIDDEN_NETWORKS = tuple(
    ip_network(text)
    for text in (
        *("169.254.0.0/16", "fe80::/10", "fd00:ec2::/32"),
        *("168.63.129.16/32", "100.100.100.200/32", "192.0.0.192/32"),
    )
)
FORBIDDEN_NAMES = frozenset({"metadata.google.internal", "metadata.goog", "metadata", "instance-data"})
MAKERS_HOSTS = frozenset(
    {
        *("accounts.google.com", "clients2.google.com", "update.googleapis.com", "android.clients.google.com"),
        *("optimizationguide-pa.googleapis.com", "content-autofill.googleapis.com", "mtalk.google.com"),
    }
)
"""Hosts that Chromium calls for itself, whatever its flags say; pages may ask for them as for any other."""
PRIVATE_NETWORKS = tuple(
    ip_network(text)
    for text in ("10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "100.64.0.0/10", "fc00::/7", "fec0::/10")
)
LOOPBACK_NETWORKS = tuple(ip_network(text) for text in ("127.0.0.0/8", "::1/128", "0.0.0.0/32", "::/128"))


async def resolve_name(host: str) -> tuple[Address, ...]:
    """Return every address that this machine finds for a name; raises OSError when it finds none within 5 s."""
    loop = asyncio.get_running_loop()
    try:
        async with asyncio.timeout(5.0):
            found = await loop.getaddrinfo(host, None, type=socket.SOCK_STREAM)
    except UnicodeError as error:
        raise OSError(f"{host[:80]} is no name that could be looked up") from error
    return tuple({ip_address(str(entry[4][0]).partition("%")[0]) for entry in found})


@dataclass(frozen=True)
class Policy:
    """What may be opened.

    `own_ports` are ports of this appliance: refused on every address of this machine. `private_allowed` opens
    private ground: the words `private` and `loopback`, host names, addresses or networks. `allowed_domains`, when
    not empty, narrows everything to these (see DomainPattern). `own_pages` are beginnings of addresses of this
    appliance that may be opened all the same: its demonstration site. `resolve` finds the addresses of a name.
    """

    own_ports: frozenset[int] = frozenset()
    private_allowed: tuple[str, ...] = ()
    allowed_domains: tuple[str, ...] = ()
    own_pages: tuple[str, ...] = ()
    resolve: Callable[[str], Awaitable[tuple[Address, ...]]] = resolve_name

    def check_url(self, url: str, *, is_passive: bool = False) -> None:
        """Raise ActionRefused, saying why, when this address must not be opened; names are not looked up.

        A passive request (a picture, style, font, sound or script that a page shows or runs) may leave the allowed
        domains, since sites are made of several hosts.
        """
        if _is_harmless(url):
            return
        address = parse_address(url)
        if address is None:
            raise ActionRefused(f"{shown(url)} is not a web address; only http and https may be opened.")
        if not is_passive:
            self.check_domain(address)
        if not self.is_own_page(url):
            self._check_host(address)

    def allows(self, url: str) -> bool:
        """Whether an address may be opened, as far as its name tells; pages of the browser itself may stay."""
        try:
            self.check_url(url)
        except ActionRefused:
            return not url.startswith(("http:", "https:"))
        return True

    async def check_reachable(self, url: str, *, is_passive: bool = False) -> None:
        """As `check_url`, and for a name also every address it resolves to.

        Raises ActionRefused; OSError when the name cannot be resolved within 5 s.
        """
        self.check_url(url, is_passive=is_passive)
        address = None if _is_harmless(url) else parse_address(url)
        if address is not None and not self.is_own_page(url):
            await self.find_addresses(address)

    async def find_addresses(self, address: WebAddress, *, is_own_page: bool = False) -> tuple[Address, ...]:
        """Return the IP addresses that may be connected to for a host, all of them judged.

        Raises ActionRefused when any of them is refused ground; OSError when the name cannot be resolved.
        """
        if not is_own_page:
            self._check_host(address)
        if address.ip is not None:
            return (address.ip,)
        if address.is_localhost:
            return (ip_address("127.0.0.1"), ip_address("::1"))
        found = await self.resolve(address.host)
        for ip in found:
            if not is_own_page:
                self._check_ip(address, ip)
        return found

    def check_domain(self, address: WebAddress) -> None:
        """Raise ActionRefused when the address is outside the allowed domains, if there are any."""
        if self.allowed_domains and not any(pattern.matches(address) for pattern in self._domains):
            allowed = ", ".join(self.allowed_domains)
            raise ActionRefused(f"{address} is outside the domains this task may use ({allowed}).")

    def needs_lookup(self, url: str) -> bool:
        """Whether the decision on an address depends on what its name resolves to."""
        if url.partition(":")[0].lower() not in DEFAULT_PORTS:
            return False
        try:
            address = parse_address(url)
        except ActionRefused:
            return False
        return address is not None and address.ip is None and not address.is_localhost

    def is_own_page(self, url: str) -> bool:
        """Whether this is an address of our own demonstration site.

        In its plainest spelling only: whatever a browser rewrites before it asks is judged when it does.
        """
        plain = re.split(r"[?#]", url, maxsplit=1)[0]
        is_plain = ".." not in plain and re.fullmatch(r"[a-zA-Z0-9_:/.~-]+", plain) is not None
        return is_plain and plain.startswith(self.own_pages)

    def interception_patterns(self) -> list[dict[str, Any]]:
        """Return the patterns of requests to stop and ask about.

        Every document, whatever names refused ground, and what pages ask of hosts that the browser calls for itself;
        with allowed domains, every request there is.
        """
        patterns: list[dict[str, Any]] = [{"urlPattern": "*", "resourceType": "Document"}]
        if self.allowed_domains:
            return [*patterns, {"urlPattern": "http*"}, {"urlPattern": "ws*"}]
        patterns += [{"urlPattern": f"*://{host}/*"} for host in sorted(MAKERS_HOSTS)]
        patterns += [{"urlPattern": f"*://*:{port}/*"} for port in sorted(self.own_ports)]
        patterns += [{"urlPattern": f"*://{host}*"} for host in ("169.254.", "metadata.", "[fe80:", "[fd00:ec2:")]
        if "loopback" not in self.private_allowed:
            patterns += [{"urlPattern": f"*://{host}*"} for host in ("127.", "localhost", "0.0.0.0", "[:")]
        if "private" not in self.private_allowed:
            hosts = ("10.", "192.168.", "172.1", "172.2", "172.3", "100.", "[f")
            patterns += [{"urlPattern": f"*://{host}*"} for host in hosts]
        return patterns

    def _check_host(self, address: WebAddress) -> None:
        if address.host in FORBIDDEN_NAMES:
            raise ActionRefused(f"{address} hands out credentials of the machine and is never opened.")
        if address.ip is not None:
            self._check_ip(address, address.ip)
        elif address.is_localhost:
            self._check_ip(address, ip_address("127.0.0.1"))

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
    def _domains(self) -> tuple[DomainPattern, ...]:
        return tuple(map(DomainPattern.parse, self.allowed_domains))

    @cached_property
    def _allowed_names(self) -> frozenset[str]:
        return frozenset(entry.lower().rstrip(".") for entry in self.private_allowed)

    @cached_property
    def _allowed_networks(self) -> tuple[Network, ...]:
        return tuple(_networks(self.private_allowed))


def _is_harmless(url: str) -> bool:
    return HARMLESS.match(url) is not None


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


@cache
def _own_addresses() -> frozenset[Address]:
    """Return the addresses this machine is known by, as far as its own host name says."""
    try:
        found = socket.getaddrinfo(socket.gethostname(), None, type=socket.SOCK_STREAM)
    except OSError:
        return frozenset()
    return frozenset(ip_address(str(entry[4][0]).partition("%")[0]) for entry in found)
