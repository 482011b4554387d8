"""Reads what a viewer sends in RFB, the protocol of VNC, and lets through only what it may.

Framing alone: message types and lengths of RFC 6143 and the extensions noVNC speaks. Nothing is interpreted that does
not have to be, and nothing unknown passes: an unknown type would end the framing, and with it the promise.
"""

import struct
from collections.abc import Callable

from appliance.errors import PilothouseError

MAX_CUT_TEXT = 1 << 20
EXTENDED_MOUSE_BUTTONS = -316
_VERSION_LENGTH = 12
_NO_AUTHENTICATION = 1

_SET_ENCODINGS = 2
_INPUT = frozenset({4, 5, 6, 250, 251, 255})  # key, pointer, cut text, power, desktop size, extended key


class RfbViolation(PilothouseError):
    """A viewer sent what is not RFB, or what this bridge does not speak."""


class ViewerFilter:
    """The viewer's half of one connection; `allow_input` may be switched while it runs."""

    def __init__(self, *, allow_input: bool = False) -> None:
        self.allow_input = allow_input
        self._buffer = bytearray()
        self._read: Callable[[], bytes | None] = self._read_version

    def feed(self, data: bytes) -> bytes:
        """Take bytes as they come, return those that may go on to the display; raises RfbViolation."""
        self._buffer += data
        passed: list[bytes] = []
        while (piece := self._read()) is not None:
            passed.append(piece)
        return b"".join(passed)

    def _take(self, length: int) -> bytes | None:
        if len(self._buffer) < length:
            return None
        piece = bytes(self._buffer[:length])
        del self._buffer[:length]
        return piece

    def _read_version(self) -> bytes | None:
        version = self._take(_VERSION_LENGTH)
        if version is None:
            return None
        if not version.startswith(b"RFB 003.") or not version.endswith(b"\n"):
            raise RfbViolation("The viewer does not speak RFB 3.")
        # Before 3.7 the server alone decides on the kind of authentication.
        self._read = self._read_init if version[8:11] == b"003" else self._read_security
        return version

    def _read_security(self) -> bytes | None:
        choice = self._take(1)
        if choice is None:
            return None
        if choice[0] != _NO_AUTHENTICATION:
            raise RfbViolation("The viewer asked for an authentication that displays do not use.")
        self._read = self._read_init
        return choice

    def _read_init(self) -> bytes | None:
        if self._take(1) is None:
            return None
        self._read = self._read_message
        return b"\x01"  # always shared: a viewer must not throw the others out

    def _read_message(self) -> bytes | None:
        length = _message_length(self._buffer)
        if length is None:
            return None
        message = self._take(length)
        if message is None:
            return None
        if message[0] in _INPUT:
            return message if self.allow_input else b""
        return _without_wide_pointer(message) if message[0] == _SET_ENCODINGS else message


def _message_length(buffer: bytearray) -> int | None:
    """Return the length of the message that starts the buffer, None while its head is incomplete."""
    if not buffer:
        return None
    kind = buffer[0]
    if kind in _FIXED:
        return _FIXED[kind]
    if kind not in _MEASURED:
        raise RfbViolation(f"The viewer sent a message of the unknown type {kind}.")
    head, measure = _MEASURED[kind]
    return measure(buffer) if len(buffer) >= head else None


def _cut_text_length(buffer: bytearray) -> int:
    # The extended clipboard says its length as a negative number.
    length = abs(struct.unpack_from(">i", buffer, 4)[0])
    if length > MAX_CUT_TEXT:
        raise RfbViolation("The viewer's clipboard is too large.")
    return 8 + length


def _extended_key_length(buffer: bytearray) -> int:
    if buffer[1] != 0:
        raise RfbViolation(f"The viewer sent an extension message of the unknown type {buffer[1]}.")
    return 12


_FIXED = {0: 20, 3: 10, 4: 8, 5: 6, 150: 10, 250: 4}
_MEASURED: dict[int, tuple[int, Callable[[bytearray], int]]] = {
    2: (4, lambda buffer: 4 + 4 * struct.unpack_from(">H", buffer, 2)[0]),
    6: (8, _cut_text_length),
    248: (9, lambda buffer: 9 + buffer[8]),
    251: (8, lambda buffer: 8 + 16 * buffer[6]),
    255: (2, _extended_key_length),
}


def _without_wide_pointer(message: bytes) -> bytes:
    """Drop the one encoding that would change the length of pointer messages under way."""
    encodings = struct.unpack_from(f">{(len(message) - 4) // 4}i", message, 4)
    kept = [encoding for encoding in encodings if encoding != EXTENDED_MOUSE_BUTTONS]
    return struct.pack(f">BxH{len(kept)}i", _SET_ENCODINGS, len(kept), *kept)
