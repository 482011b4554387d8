"""Reads and writes storage states, the JSON documents in which Playwright and others exchange what a login leaves."""

from typing import Annotated, Any, Literal
from urllib.parse import urlsplit

import msgspec
from msgspec import Meta, Struct

from appliance.errors import RequestInvalid
from appliance.profiles.jar import Cookie, Jar, Origin, Partition, make_jar

MOST_BYTES = 20_000_000
"""How long a storage state may be as JSON."""


class _CookieState(Struct, rename="camel"):
    name: str
    value: str
    domain: Annotated[str, Meta(min_length=1, max_length=1_000)]
    path: Annotated[str, Meta(min_length=1)] = "/"
    expires: Annotated[float, Meta(ge=-1, le=1e12)] | None = -1
    http_only: bool = False
    secure: bool = False
    same_site: Literal["Strict", "Lax", "None"] | None = None
    partition_key: str | Partition | None = None
    has_cross_site_ancestor: bool = msgspec.field(default=False, name="_crHasCrossSiteAncestor")


class _Entry(Struct):
    name: str
    value: str


class _Member(Struct):
    k: str
    v: "_Coded" = None


class _Object(Struct):
    """What JSON has no word for; only the parts that hold others are looked into."""

    o: list[_Member] = []
    a: list["_Coded"] = []
    mp: list["_Coded"] = []
    st: list["_Coded"] = []


_Coded = _Object | str | int | float | bool | None


class _Record(Struct, rename="camel"):
    key_encoded: _Coded = None
    value_encoded: _Coded = None


class _Store(Struct, rename="camel"):
    name: str
    auto_increment: bool = False
    key_path: str | None = None
    key_path_array: list[str] | None = None
    indexes: list[dict[str, Any]] = []
    records: list[_Record] = []


class _Database(Struct):
    name: str
    version: Annotated[int, Meta(ge=1)]
    stores: list[_Store]


class _OriginState(Struct, rename="camel"):
    origin: str
    local_storage: list[_Entry] = []
    session_storage: list[_Entry] = []
    indexed_db: list[dict[str, Any]] = msgspec.field(default_factory=list[dict[str, Any]], name="indexedDB")


class _State(Struct):
    cookies: list[_CookieState] | None = None
    origins: list[_OriginState] | None = None


def read_storage_state(document: bytes | dict[str, Any], *location: str) -> Jar:
    """Return the jar that a storage state describes; cookies or origins may be missing, not both.

    Raises RequestInvalid, which names the place in the document but none of its values, below `location`.
    """
    if isinstance(document, bytes) and len(document) > MOST_BYTES:
        raise RequestInvalid(
            f"The storage state has more than {MOST_BYTES // 1_000_000} MB; leave origins out that are not needed.",
            *location,
        )
    try:
        if isinstance(document, bytes):
            state = msgspec.json.decode(document, type=_State)
        else:
            state = msgspec.convert(document, type=_State)
        if state.cookies is None and state.origins is None:
            raise RequestInvalid(
                "The storage state has neither cookies nor origins; send one as Playwright writes it.", *location
            )
        cookies = [_read_cookie(cookie) for cookie in state.cookies or ()]
        return make_jar(cookies, [_read_origin(origin) for origin in state.origins or ()])
    except (msgspec.DecodeError, UnicodeDecodeError, ValueError, RecursionError) as error:
        reason = "it is nested too deeply" if isinstance(error, RecursionError) else f"{error}".rstrip(".")
        raise RequestInvalid(
            f"The storage state cannot be used: {reason}; send one as Playwright writes it.", *location
        ) from error


def write_storage_state(jar: Jar) -> dict[str, Any]:
    """Return the jar as a storage state, session storage beside local storage."""
    return {
        "cookies": [_write_cookie(cookie) for cookie in jar.cookies],
        "origins": [_write_origin(origin) for origin in jar.origins],
    }


def _read_cookie(state: _CookieState) -> Cookie:
    partition = state.partition_key
    if isinstance(partition, str):
        partition = Partition(partition, state.has_cross_site_ancestor) if partition else None
    return Cookie(
        name=state.name,
        value=state.value,
        domain=state.domain,
        path=state.path,
        expires=-1 if state.expires is None or state.expires < 0 else state.expires,
        http_only=state.http_only,
        secure=state.secure,
        same_site=state.same_site,
        partition_key=partition,
    )


def _read_origin(state: _OriginState) -> Origin:
    parts = urlsplit(state.origin)
    if not parts.netloc or state.origin != f"{parts.scheme}://{parts.netloc}" or "@" in parts.netloc:
        raise ValueError("an origin is no scheme and host, as https://example.com")
    for database in state.indexed_db:
        msgspec.convert(database, type=_Database)
    return Origin(
        state.origin,
        {entry.name: entry.value for entry in state.local_storage},
        {entry.name: entry.value for entry in state.session_storage},
        state.indexed_db,
    )


def _write_cookie(cookie: Cookie) -> dict[str, Any]:
    state: dict[str, Any] = {
        "name": cookie.name,
        "value": cookie.value,
        "domain": cookie.domain,
        "path": cookie.path,
        "expires": cookie.expires,
        "httpOnly": cookie.http_only,
        "secure": cookie.secure,
        # Playwright takes no cookie without it; Lax is what browsers make of a missing one.
        "sameSite": cookie.same_site or "Lax",
    }
    if cookie.partition_key is not None:
        state["partitionKey"] = cookie.partition_key.top_level_site
        state["_crHasCrossSiteAncestor"] = cookie.partition_key.has_cross_site_ancestor
    return state


def _write_origin(origin: Origin) -> dict[str, Any]:
    state: dict[str, Any] = {"origin": origin.origin, "localStorage": _write_entries(origin.local)}
    if origin.session:
        state["sessionStorage"] = _write_entries(origin.session)
    if origin.databases:
        state["indexedDB"] = origin.databases
    return state


def _write_entries(entries: dict[str, str]) -> list[dict[str, str]]:
    return [{"name": name, "value": value} for name, value in entries.items()]
