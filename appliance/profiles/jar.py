"""What a login leaves in a browser: cookies, and what origins store; its identity and how it is kept as bytes."""

import zlib
from collections.abc import Iterable
from typing import Any

import msgspec

CookieIdentity = tuple[str, str, str, str, bool]


class Partition(msgspec.Struct, frozen=True, rename="camel"):
    """The site in whose pages a partitioned cookie counts."""

    top_level_site: str
    has_cross_site_ancestor: bool = False


class Cookie(msgspec.Struct, frozen=True, rename="camel", omit_defaults=True):
    """A cookie; `expires` is a Unix time in seconds, -1 where it ends with the browser.

    A domain that begins with a dot counts for what is below it, too.
    """

    name: str
    value: str
    domain: str
    path: str = "/"
    expires: float = -1
    http_only: bool = False
    secure: bool = False
    same_site: str | None = None
    partition_key: Partition | None = None

    @property
    def identity(self) -> CookieIdentity:
        """What makes it another cookie: name, domain, path and partition."""
        within = self.partition_key
        if within is None:
            return (self.name, self.domain, self.path, "", False)
        return (self.name, self.domain, self.path, within.top_level_site, within.has_cross_site_ancestor)


class Origin(msgspec.Struct, frozen=True, rename="camel", omit_defaults=True):
    """What the pages of one origin store; databases are documents in the shape of Playwright's storage state."""

    origin: str
    local: dict[str, str] = {}
    session: dict[str, str] = {}
    databases: list[dict[str, Any]] = []

    @property
    def is_empty(self) -> bool:
        """Whether nothing is stored."""
        return not (self.local or self.session or self.databases)


class Jar(msgspec.Struct, frozen=True):
    """The stored state of a profile; no cookie identity and no origin stands there twice."""

    cookies: tuple[Cookie, ...] = ()
    origins: tuple[Origin, ...] = ()

    @property
    def is_empty(self) -> bool:
        """Whether there is neither a cookie nor an entry of an origin."""
        return not self.cookies and all(origin.is_empty for origin in self.origins)

    @property
    def domains(self) -> tuple[str, ...]:
        """Return the domains of the cookies without leading dots, sorted."""
        return tuple(sorted({cookie.domain.lstrip(".") for cookie in self.cookies}))


def make_jar(cookies: Iterable[Cookie], origins: Iterable[Origin]) -> Jar:
    """Return a jar in its one order; of a cookie that stands there twice the last counts, origins are put together."""
    latest = {cookie.identity: cookie for cookie in cookies}
    joined: dict[str, Origin] = {}
    for origin in origins:
        known = joined.get(origin.origin)
        joined[origin.origin] = origin if known is None else _join(known, origin)
    kept = tuple(_in_order(joined[name]) for name in sorted(joined) if not joined[name].is_empty)
    return Jar(tuple(latest[identity] for identity in sorted(latest)), kept)


def pack_jar(jar: Jar) -> bytes:
    """Return the jar as bytes, compressed."""
    return zlib.compress(msgspec.json.encode(jar), 1)


def unpack_jar(data: bytes) -> Jar:
    """Return the jar that `pack_jar` packed; raises ValueError for other bytes."""
    try:
        return msgspec.json.decode(zlib.decompress(data), type=Jar)
    except (zlib.error, msgspec.DecodeError) as error:
        raise ValueError("these bytes are no packed jar") from error


def _join(first: Origin, second: Origin) -> Origin:
    databases = {database["name"]: database for database in (*first.databases, *second.databases)}
    return Origin(
        first.origin, {**first.local, **second.local}, {**first.session, **second.session}, list(databases.values())
    )


def _in_order(origin: Origin) -> Origin:
    if len(origin.databases) < 2:
        return origin
    return msgspec.structs.replace(origin, databases=sorted(origin.databases, key=lambda one: one["name"]))
