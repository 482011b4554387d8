"""Links that open one thing without a key until they expire: a path, a time and an HMAC over both."""

import base64
import hashlib
import hmac
from datetime import UTC, datetime, timedelta
from urllib.parse import quote
from uuid import UUID

LIVE_LIFETIME = timedelta(days=1)


class Signer:
    """Makes and checks the tokens of links; two signers with one secret know each other's tokens."""

    def __init__(self, secret: bytes) -> None:
        self._key = hmac.digest(secret, b"pilothouse links", "sha256")

    def sign(self, path: str, expires: datetime) -> str:
        """Return a token that opens exactly `path` until `expires` (aware)."""
        seconds = int(expires.timestamp())
        return f"{seconds}.{self._mac(path, seconds)}"

    def verify(self, path: str, token: str, now: datetime | None = None) -> bool:
        """Whether the token was made for this path with this secret and has not expired."""
        seconds, _, mac = token.partition(".")
        if not seconds.isascii() or not seconds.isdigit() or len(seconds) > 12:
            return False
        genuine = hmac.compare_digest(mac.encode(), self._mac(path, int(seconds)).encode())
        return genuine and (now or datetime.now(UTC)).timestamp() < int(seconds)

    def link(self, base_url: str, path: str, lifetime: timedelta) -> str:
        """Return the absolute address of `path`, which is quoted here, with a token good for at least `lifetime`."""
        return f"{base_url}{quote(path)}?token={self.token(path, lifetime)}"

    def token(self, path: str, lifetime: timedelta) -> str:
        """Return a token for `path` that is good for at least `lifetime`.

        The expiry is rounded up so that the same link comes out for a good part of its life, and can be cached.
        """
        step = max(1, int(lifetime.total_seconds()))
        seconds = (int(datetime.now(UTC).timestamp()) // step + 2) * step
        return self.sign(path, datetime.fromtimestamp(seconds, UTC))

    def _mac(self, path: str, seconds: int) -> str:
        digest = hmac.digest(self._key, f"{seconds}\n{path}".encode(), hashlib.sha256)
        return base64.urlsafe_b64encode(digest).rstrip(b"=").decode()


def live_path(session_id: UUID) -> str:
    """Return the path of a session's live page; a token for it also opens what lies below."""
    return f"/live/{session_id}"


def live_url(base_url: str, signer: Signer, session_id: UUID) -> str:
    """Return the absolute, signed address of a session's live page."""
    return signer.link(base_url, live_path(session_id), LIVE_LIFETIME)
