"""Who is at the pages: passwords, the sign-ins that cookies stand for, and the brakes on guessing.

Knows nothing of forms or templates. A cookie holds a random token; the store holds only its hash, so that neither the
data folder nor a backup lets anybody in.
"""

import asyncio
import secrets
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import timedelta
from functools import cache
from hashlib import sha256
from typing import Any, Self

import msgspec
from litestar.connection import ASGIConnection
from litestar.datastructures import Cookie
from litestar.handlers.base import BaseRouteHandler
from litestar.middleware import ASGIMiddleware
from litestar.stores.base import Store
from litestar.stores.file import FileStore
from litestar.types import ASGIApp, Receive, Scope, Send
from pwdlib import PasswordHash
from pwdlib.hashers.argon2 import Argon2Hasher

from appliance.errors import NotAuthenticated, RequestInvalid, TooManyRequests
from appliance.settings import Settings

COOKIE_NAME = "pilothouse"
LIFETIME = timedelta(days=14)
LEAST_PASSWORD_LENGTH = 10
_MOST_PASSWORD_LENGTH = 1000
_WINDOW_SECONDS = 15 * 60.0
_MOST_FAILURES_OF_ACCOUNT = 8
_MOST_FAILURES_OF_ADDRESS = 24

_hasher = PasswordHash((Argon2Hasher(),))


class Viewer(msgspec.Struct, frozen=True):
    """The person a page is made for."""

    email: str


async def hash_password(password: str) -> str:
    """Return the argon2 hash; raises RequestInvalid for a password that is too short or absurdly long."""
    if not LEAST_PASSWORD_LENGTH <= len(password) <= _MOST_PASSWORD_LENGTH:
        raise RequestInvalid(f"Choose a password of at least {LEAST_PASSWORD_LENGTH} characters.", "body", "password")
    return await asyncio.to_thread(_hasher.hash, password)


async def is_password(password: str, password_hash: str | None) -> bool:
    """Whether the password is the one of the hash; takes as long when there is no hash."""
    if len(password) > _MOST_PASSWORD_LENGTH:
        return False
    genuine = await asyncio.to_thread(lambda: _hasher.verify(password, password_hash or _hash_of_nobody()))
    return genuine and password_hash is not None


@cache
def _hash_of_nobody() -> str:
    return _hasher.hash(secrets.token_urlsafe(16))


class SignIns:
    """The sign-ins that are open; each has a token, which its cookie carries."""

    def __init__(self, store: Store, *, secure: bool) -> None:
        self._store = store
        self._secure = secure

    async def open(self, viewer: Viewer) -> Cookie:
        """Start a sign-in and return its cookie; always a new token, so that one planted before is worth nothing."""
        token = secrets.token_urlsafe(32)
        await self._store.set(_key_of(token), msgspec.json.encode(viewer), expires_in=LIFETIME)
        return self._cookie(token, int(LIFETIME.total_seconds()))

    async def find(self, token: str | None) -> Viewer | None:
        """Return the person whose open sign-in the token stands for."""
        if not token or len(token) > 100:
            return None
        stored = await self._store.get(_key_of(token))
        return None if stored is None else msgspec.json.decode(stored, type=Viewer)

    async def close(self, token: str | None) -> Cookie:
        """End the sign-in on the server and return the cookie that removes the browser's."""
        if token:
            await self._store.delete(_key_of(token))
        return self._cookie("", 0)

    def _cookie(self, value: str, max_age: int) -> Cookie:
        return Cookie(
            key=COOKIE_NAME, value=value, max_age=max_age, path="/", httponly=True, secure=self._secure, samesite="lax"
        )


def _key_of(token: str) -> str:
    return sha256(token.encode()).hexdigest()


@dataclass
class Throttle:
    """Counts failures by account and by address in the last quarter of an hour, and refuses more after too many."""

    clock: Callable[[], float] = time.monotonic
    _failures: dict[str, deque[float]] = field(default_factory=dict[str, deque[float]])

    def check(self, account: str, address: str) -> None:
        """Raise TooManyRequests while account or address must wait."""
        self._check(f"account {account.strip().lower()}", _MOST_FAILURES_OF_ACCOUNT)
        self._check(f"address {address}", _MOST_FAILURES_OF_ADDRESS)

    def note_failure(self, account: str, address: str) -> None:
        """Count one failed attempt."""
        now = self.clock()
        self._forget_old(now)
        for key in (f"account {account.strip().lower()}", f"address {address}"):
            self._failures.setdefault(key, deque(maxlen=_MOST_FAILURES_OF_ADDRESS)).append(now)

    def note_success(self, account: str) -> None:
        """Forget the failures of an account whose owner has just proved to be there."""
        self._failures.pop(f"account {account.strip().lower()}", None)

    def _check(self, key: str, most: int) -> None:
        now = self.clock()
        recent = [at for at in self._failures.get(key, ()) if now - at < _WINDOW_SECONDS]
        if len(recent) >= most:
            wait = max(1, int(recent[-most] + _WINDOW_SECONDS - now) + 1)
            minutes = -(-wait // 60)
            raise TooManyRequests(
                f"Too many wrong attempts. Try again in {minutes} {'minute' if minutes == 1 else 'minutes'}.", wait
            )

    def _forget_old(self, now: float) -> None:
        stale = [key for key, times in self._failures.items() if now - times[-1] >= _WINDOW_SECONDS]
        for key in stale:
            del self._failures[key]


class RecognizeViewer(ASGIMiddleware):
    """Puts the signed-in person, or None, into the scope's `user`; refuses nothing."""

    def __init__(self, sign_ins: SignIns, everybody: Viewer | None = None) -> None:
        self._sign_ins = sign_ins
        self._everybody = everybody

    async def handle(self, scope: Scope, receive: Receive, send: Send, next_app: ASGIApp) -> None:
        """Look the cookie up and go on."""
        token = ASGIConnection[Any, Any, Any, Any](scope).cookies.get(COOKIE_NAME)
        scope["user"] = self._everybody or await self._sign_ins.find(token)
        await next_app(scope, receive, send)

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        # Litestar copies a router's layers for each route; the sign-ins behind this one are to stay the same.
        return self


def viewer_of(connection: ASGIConnection[Any, Any, Any, Any]) -> Viewer | None:
    """Return the signed-in person of a request or socket."""
    scope: Any = connection.scope
    viewer = scope.get("user")
    return viewer if isinstance(viewer, Viewer) else None


def require_viewer(connection: ASGIConnection[Any, Any, Any, Any], _: BaseRouteHandler) -> None:
    """Guard of routes for signed-in people; raises NotAuthenticated."""
    if viewer_of(connection) is None:
        raise NotAuthenticated("Sign in to see this.")


def open_sign_ins(settings: Settings) -> SignIns:
    """Return the sign-ins of this instance, kept in the data directory so that they survive a restart."""
    folder = settings.data_dir / "sign-ins"
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    return SignIns(FileStore(folder), secure=settings.base_url.startswith("https:"))


def recognizer(settings: Settings, sign_ins: SignIns) -> RecognizeViewer:
    """Return the middleware that knows people by their cookie, or takes everybody in where no sign-in is asked for."""
    return RecognizeViewer(sign_ins, Viewer("") if settings.allow_insecure_no_auth else None)
