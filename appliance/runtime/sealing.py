"""What is stored so that only this appliance can read it: sealed with a key made of its secret."""

import base64
import json
from functools import cached_property
from typing import TYPE_CHECKING, Any

from appliance.errors import MachineFault

if TYPE_CHECKING:
    from cryptography.fernet import MultiFernet

_PURPOSE = b"pilothouse: sealed columns, 1"


class Seal:
    """Seals and opens JSON objects with the appliance's secret."""

    def __init__(self, secret: bytes) -> None:
        self._secret = secret

    def close(self, document: dict[str, Any]) -> str:
        """Return the document as text that says nothing to those without the secret."""
        return self._keys.encrypt(json.dumps(document, ensure_ascii=False).encode()).decode()

    def open(self, text: str) -> dict[str, Any]:
        """Return the document that `close` sealed; raises MachineFault when the secret is another one by now."""
        from cryptography.fernet import InvalidToken  # noqa: PLC0415 - as below

        try:
            return json.loads(self._keys.decrypt(text.encode()))
        except InvalidToken as error:
            raise MachineFault(
                "The session's sensitiveData cannot be opened, since SECRET_KEY is another one than when it was given; "
                "send sensitiveData again."
            ) from error

    def close_bytes(self, data: bytes) -> bytes:
        """Return the bytes in a form that says nothing to those without the secret."""
        return self._keys.encrypt(data)

    def open_bytes(self, data: bytes) -> bytes:
        """Return the bytes that `close_bytes` sealed; raises MachineFault when the secret is another one by now."""
        from cryptography.fernet import InvalidToken  # noqa: PLC0415 - as below

        try:
            return self._keys.decrypt(data)
        except InvalidToken as error:
            raise MachineFault(
                "The profile cannot be opened, since SECRET_KEY is another one than when it was kept; start with that "
                "one, or import the profile again."
            ) from error

    @cached_property
    def _keys(self) -> "MultiFernet":
        # A library of several megabytes that most instances never need.
        from cryptography.fernet import Fernet, MultiFernet  # noqa: PLC0415
        from cryptography.hazmat.primitives.hashes import SHA256  # noqa: PLC0415
        from cryptography.hazmat.primitives.kdf.hkdf import HKDF  # noqa: PLC0415

        key = HKDF(SHA256(), length=32, salt=None, info=_PURPOSE).derive(self._secret)
        return MultiFernet([Fernet(base64.urlsafe_b64encode(key))])
