"""The six digits of an authenticator (RFC 6238) for the seed that a site gave out."""

import base64
import binascii
import hashlib
import hmac
import struct
import time
from dataclasses import dataclass
from urllib.parse import parse_qs, urlsplit

_HASHES = {"SHA1": hashlib.sha1, "SHA256": hashlib.sha256, "SHA512": hashlib.sha512}


@dataclass(frozen=True)
class Seed:
    """What an authenticator knows: the key, how many digits it shows, and for how many seconds."""

    key: bytes
    digits: int = 6
    period: int = 30
    algorithm: str = "SHA1"


def read_seed(text: str) -> Seed:
    """Read a base32 key or an `otpauth://totp/…` address; raises ValueError with a clause that repeats none of it."""
    digits, period, algorithm = 6, 30, "SHA1"
    if text.lower().startswith("otpauth:"):
        query = {name: values[-1] for name, values in parse_qs(urlsplit(text).query).items()}
        text, algorithm = query.get("secret", ""), query.get("algorithm", "SHA1").upper()
        if not (query.get("digits", "6").isdecimal() and query.get("period", "30").isdecimal()):
            raise ValueError("its digits or its period is no number")
        digits, period = int(query.get("digits", "6")), int(query.get("period", "30"))
        if algorithm not in _HASHES or digits not in range(6, 9) or period not in range(1, 3601):
            raise ValueError("its algorithm, digits or period is unusual")
    letters = "".join(text.split()).replace("-", "").rstrip("=").upper()
    try:
        key = base64.b32decode(letters + "=" * (-len(letters) % 8))
    except (binascii.Error, ValueError) as error:
        raise ValueError("it is not written in base32") from error
    if not key:
        raise ValueError("it is empty")
    return Seed(key, digits, period, algorithm)


def code_now(seed: Seed, at: float | None = None) -> str:
    """Return the code for a time in seconds since 1970, by default now."""
    counter = struct.pack("!Q", int(time.time() if at is None else at) // seed.period)
    digest = hmac.new(seed.key, counter, _HASHES[seed.algorithm]).digest()
    start = digest[-1] & 0x0F
    number = struct.unpack("!I", digest[start : start + 4])[0] & 0x7FFFFFFF
    return f"{number % 10**seed.digits:0{seed.digits}}"
