"""Web addresses as a browser reads them, never as they are spelled, and the patterns of hosts that people write."""

import re
import unicodedata
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv6Address, ip_address
from urllib.parse import unquote

from appliance.errors import ActionRefused

Address = IPv4Address | IPv6Address

DEFAULT_PORTS = {"http": 80, "https": 443, "ws": 80, "wss": 443}
_CARRIERS = {"ws": "http", "wss": "https"}


@dataclass(frozen=True)
class WebAddress:
    """An address taken apart as a browser does it; `host` is lower case, an IP address in its usual form."""

    scheme: str
    host: str
    port: int

    @property
    def ip(self) -> Address | None:
        """The host as an IP address, None when it is a name."""
        return as_ip(self.host)

    @property
    def is_localhost(self) -> bool:
        """Whether the host is a name that always means this machine."""
        return self.host == "localhost" or self.host.endswith(".localhost")

    def __str__(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        port = "" if self.port == DEFAULT_PORTS.get(self.scheme) else f":{self.port}"
        return f"{self.scheme}://{host}{port}"


@dataclass(frozen=True)
class DomainPattern:
    """`example.com` (http or https, any port), `*.example.com` (its subdomains), `host:port`, `scheme://…`.

    A socket counts as the scheme that carries it: wss as https, ws as http.
    """

    host: str
    covers_subdomains: bool = False
    scheme: str = ""
    port: int | None = None

    @classmethod
    def parse(cls, text: str) -> "DomainPattern":
        """Read a pattern; raises ValueError with a clause that says what is wrong with it."""
        scheme, has_scheme, rest = text.strip().rpartition("://")
        scheme = scheme.lower()
        if has_scheme and scheme not in ("http", "https"):
            raise ValueError("its scheme is neither http nor https")
        rest = rest.removesuffix("/")
        covers_subdomains = rest.startswith("*.")
        rest = rest.removeprefix("*.")
        if "*" in rest:
            raise ValueError("a star may only stand in front, as in *.example.com")
        if re.search(r"[/?#@\\]", rest):
            raise ValueError("it names more than a host and a port")
        try:
            address = parse_address(f"{scheme or 'http'}://{rest}")
        except ActionRefused as error:
            raise ValueError("its host cannot be read") from error
        if address is None or (covers_subdomains and address.ip is not None):
            raise ValueError("its host cannot be read")
        port = address.port if re.search(r":\d+$", rest) else None
        return cls(address.host, covers_subdomains, scheme, port)

    def matches(self, address: WebAddress) -> bool:
        """Whether the pattern covers the address."""
        if self.scheme and _CARRIERS.get(address.scheme, address.scheme) != self.scheme:
            return False
        if self.port is not None and address.port != self.port:
            return False
        if self.covers_subdomains:
            return address.host.endswith(f".{self.host}")
        return address.host == self.host

    def __str__(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        star = "*." if self.covers_subdomains else ""
        return f"{f'{self.scheme}://' if self.scheme else ''}{star}{host}{'' if self.port is None else f':{self.port}'}"


def parse_address(url: str) -> WebAddress | None:
    """Take an http(s) or ws(s) address apart; None when it is another kind, ActionRefused when it is not one at all."""
    text = re.sub(r"[\t\r\n]", "", url).strip("".join(map(chr, range(0x21))))
    match = re.match(r"([a-zA-Z][a-zA-Z0-9+.-]*):", text)
    if match is None:
        raise ActionRefused(f"{shown(url)} is not a complete address; begin it with https:// or http://.")
    scheme = match[1].lower()
    if scheme not in DEFAULT_PORTS:
        return None
    rest = text[match.end() :].replace("\\", "/").lstrip("/")
    authority = re.split(r"[/?#]", rest, maxsplit=1)[0]
    host_and_port = authority.rpartition("@")[2]
    match = re.fullmatch(r"(\[[^\]]*\]|[^:]*)(?::([0-9]*))?", host_and_port)
    if match is None or len(match[2] or "") > 20 or (port := int(match[2] or DEFAULT_PORTS[scheme])) > 65535:
        raise ActionRefused(f"The host of {shown(url)} cannot be read; correct the address.")
    return WebAddress(scheme, _canonical_host(match[1], url), port)


def as_ip(host: str) -> Address | None:
    """Return a host in its usual form as an IP address, None when it is a name."""
    try:
        return ip_address(host)
    except ValueError:
        return None


def shown(url: str) -> str:
    """Return an address for a message: no user, no password, no query, not long."""
    without_query = re.split(r"[?#]", url, maxsplit=1)[0]
    return re.sub(r"//[^/\\]*@", "//", without_query)[:200] or "An empty address"


def _canonical_host(host: str, url: str) -> str:
    if host.startswith("["):
        ip = as_ip(host.strip("[]").partition("%")[0])
        if ip is None:
            raise ActionRefused(f"The host of {shown(url)} cannot be read; correct the address.")
        return str(ip)
    name = unicodedata.normalize("NFKC", unquote(host)).lower().replace("。", ".")
    if not name.isascii():
        name = _to_ascii(name, url)
    name = name.removesuffix(".")
    if not name or re.search(r"[\x00-\x20#%/:<>?@\[\\\]^|\x7f]", name):
        raise ActionRefused(f"The host of {shown(url)} cannot be read; correct the address.")
    ipv4 = _read_ipv4(name)
    return str(ipv4) if ipv4 is not None else name


def _to_ascii(name: str, url: str) -> str:
    # Few addresses need it, and its tables are large.
    import idna  # noqa: PLC0415

    try:
        return idna.encode(name, uts46=True).decode()
    except (idna.IDNAError, UnicodeError):
        pass
    try:
        # Browsers take more than the standard does, such as emoji.
        return name.encode("idna").decode()
    except UnicodeError as error:
        raise ActionRefused(f"The host of {shown(url)} is not a valid name; correct the address.") from error


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
    if len(part) > 100:
        return None
    if re.fullmatch(r"0x[0-9a-f]*", part):
        return int(part[2:] or "0", 16)
    if re.fullmatch(r"0[0-7]+", part):
        return int(part, 8)
    return int(part) if re.fullmatch(r"[0-9]+", part) else None
