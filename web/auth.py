"""Who may call the API: a key in X-Browser-Use-API-Key or as a bearer token, and a brake on guessing."""

import hmac
import math
import secrets
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from litestar.connection import ASGIConnection, Request
from litestar.handlers.base import BaseRouteHandler

from appliance.errors import NotAuthenticated, NotFound, TooManyRequests
from appliance.persistence.database import Database, Transaction
from appliance.persistence.keys import find_key, hash_key
from appliance.persistence.records import Payer
from appliance.persistence.sessions import find_team_of
from appliance.persistence.teams import find_first_team
from appliance.settings import Settings

KEY_HEADER = "X-Browser-Use-API-Key"
_FREE_FAILURES = 5
_LONGEST_WAIT = 60.0
_FORGET_AFTER = 900.0
_LONGEST_KEY = 500
_MOST_ADDRESSES = 10_000


def new_key() -> str:
    """Return a new API key; whoever makes it shows it once, since only its hash is kept."""
    return f"ph_{secrets.token_urlsafe(32)}"


@dataclass
class _Failures:
    count: int = 0
    last: float = 0.0

    @property
    def wait(self) -> float:
        """Seconds from the last failure in which no key is looked at: 1, 2, 4 … after the free ones."""
        return min(_LONGEST_WAIT, 2.0 ** (self.count - _FREE_FAILURES)) if self.count >= _FREE_FAILURES else 0.0


@dataclass
class KeyThrottle:
    """Makes an address that sends wrong keys wait ever longer between guesses; a quarter of an hour forgets them."""

    clock: Callable[[], float] = time.monotonic
    _failures: dict[str, _Failures] = field(default_factory=dict[str, _Failures])

    def check(self, address: str) -> None:
        """Raise TooManyRequests while the address has to wait."""
        failures = self._failures.get(address)
        left = failures.last + failures.wait - self.clock() if failures else 0.0
        if left > 0:
            seconds = math.ceil(left)
            raise TooManyRequests(f"Too many wrong API keys from {address}; try again in {seconds} s.", seconds)

    def note_failure(self, address: str) -> None:
        """Count one wrong key."""
        now = self.clock()
        failures = self._failures.pop(address, None) or _Failures()
        failures.count += 1
        failures.last = now
        # Put at the end, the oldest stay in front.
        self._failures[address] = failures
        self._forget_old(now)

    def note_success(self, address: str) -> None:
        """Forget the wrong keys of an address that has sent a right one."""
        self._failures.pop(address, None)

    def _forget_old(self, now: float) -> None:
        while self._failures:
            oldest = next(iter(self._failures))
            if len(self._failures) <= _MOST_ADDRESSES and now - self._failures[oldest].last <= _FORGET_AFTER:
                return
            del self._failures[oldest]


class KeyGate:
    """Lets requests with a valid key pass; a guard for the routers of the API.

    Leaves in the connection's state who pays, `payer`: None for the bootstrap key, which belongs to no team and may see
    them all. With any other key, another team's session is as good as absent.
    """

    def __init__(self, settings: Settings, database: Database, throttle: KeyThrottle | None = None) -> None:
        self._open_to_all = settings.allow_insecure_no_auth
        self._bootstrap_hash = hash_key(settings.api_key.get_secret_value()) if settings.api_key else None
        self._database = database
        self._throttle = throttle or KeyThrottle()

    def __deepcopy__(self, _memo: dict[int, Any]) -> "KeyGate":
        # Litestar copies a router's guards along with its handlers; this one holds the open database.
        return self

    async def guard(self, connection: ASGIConnection[Any, Any, Any, Any], _handler: BaseRouteHandler) -> None:
        """Raise NotAuthenticated without a valid key, TooManyRequests after too many wrong ones.

        Raises NotFound where the path names another team's session.
        """
        connection.state.payer = None
        if self._open_to_all:
            return
        key = _read_key(connection)
        if not key:
            raise NotAuthenticated(f"Send an API key in the header {KEY_HEADER} or as a bearer token.")
        address = connection.client.host if connection.client else "unknown"
        # A right key always passes, so that a guesser behind the same proxy locks nobody out.
        try:
            payer = await self._recognize(key, connection.path_params.get("session_id"))
        except NotAuthenticated:
            self._throttle.check(address)
            self._throttle.note_failure(address)
            raise
        self._throttle.note_success(address)
        connection.state.payer = payer

    async def _recognize(self, key: str, session_id: UUID | None) -> Payer | None:
        """Return who pays with this key; raises NotAuthenticated for an unknown one."""
        key_hash = hash_key(key[:_LONGEST_KEY])
        if self._bootstrap_hash is not None and hmac.compare_digest(key_hash, self._bootstrap_hash):
            return None
        if len(key) > _LONGEST_KEY:
            raise _unknown_key()
        payer = await self._database.read_kept(
            ("payer", key_hash), lambda transaction: _find_payer(transaction, key_hash)
        )
        if session_id is not None:
            team_id = await self._database.read_kept(
                ("team of", session_id), lambda transaction: find_team_of(transaction, session_id)
            )
            if team_id != payer.team_id:
                raise NotFound("Session not found")
        return payer


async def _find_payer(transaction: Transaction, key_hash: str) -> Payer:
    """Return who pays with the key of this hash; raises NotAuthenticated when none is known that still works."""
    record = await find_key(transaction, key_hash)
    if record is None:
        raise _unknown_key()
    return Payer(record.team_id or (await find_first_team(transaction)).id, record.user_id, record.id)


def _unknown_key() -> NotAuthenticated:
    return NotAuthenticated("The API key is not known; check it, or make one with: pilothouse key create NAME")


def provide_payer(request: Request[Any, Any, Any]) -> Payer | None:
    """Return who pays for what the request starts; None for who belongs to no team."""
    return request.state.payer


def _read_key(connection: ASGIConnection[Any, Any, Any, Any]) -> str:
    if key := connection.headers.get(KEY_HEADER, "").strip():
        return key
    scheme, _, token = connection.headers.get("Authorization", "").partition(" ")
    return token.strip() if scheme.lower() == "bearer" else ""
