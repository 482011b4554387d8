import struct

import pytest

from web.live.rfb import EXTENDED_MOUSE_BUTTONS, RfbViolation, ViewerFilter

HANDSHAKE = b"RFB 003.008\n" + b"\x01" + b"\x00"
UPDATE_REQUEST = struct.pack(">BBHHHH", 3, 1, 0, 0, 1920, 1080)
KEY = struct.pack(">BBxxI", 4, 1, 0x61)
POINTER = struct.pack(">BBHH", 5, 1, 10, 20)
CUT_TEXT = struct.pack(">Bxxxi", 6, 5) + b"hello"
EXTENDED_CUT_TEXT = struct.pack(">Bxxxi", 6, -8) + b"\x00" * 8
EXTENDED_KEY = struct.pack(">BBHII", 255, 0, 1, 0x61, 30)
DESKTOP_SIZE = struct.pack(">BxHHBx", 251, 800, 600, 1) + b"\x00" * 16
FENCE = struct.pack(">BxxxIB", 248, 1, 3) + b"abc"
PIXEL_FORMAT = b"\x00" * 20
POWER = struct.pack(">BxBB", 250, 1, 2)


def encodings(*values: int) -> bytes:
    return struct.pack(f">BxH{len(values)}i", 2, len(values), *values)


def greeted(*, allow_input: bool = False) -> ViewerFilter:
    viewer = ViewerFilter(allow_input=allow_input)
    viewer.feed(HANDSHAKE)
    return viewer


def test_the_handshake_passes_and_always_asks_for_a_shared_display() -> None:
    assert ViewerFilter().feed(HANDSHAKE) == b"RFB 003.008\n\x01\x01"


def test_an_old_viewer_chooses_no_security_type() -> None:
    assert ViewerFilter().feed(b"RFB 003.003\n\x00" + UPDATE_REQUEST) == b"RFB 003.003\n\x01" + UPDATE_REQUEST


def test_looking_passes_and_touching_does_not() -> None:
    touching = KEY + POINTER + CUT_TEXT + EXTENDED_CUT_TEXT + EXTENDED_KEY + DESKTOP_SIZE + POWER
    looking = PIXEL_FORMAT + encodings(7, 16) + UPDATE_REQUEST + FENCE
    assert greeted().feed(touching + looking + touching + UPDATE_REQUEST) == looking + UPDATE_REQUEST


def test_messages_cut_anywhere_give_the_same_result() -> None:
    viewer = ViewerFilter()
    stream = HANDSHAKE + KEY + encodings(7, 16) + POINTER + CUT_TEXT + UPDATE_REQUEST + DESKTOP_SIZE + FENCE
    passed = b"".join(viewer.feed(bytes([byte])) for byte in stream)
    assert passed == b"RFB 003.008\n\x01\x01" + encodings(7, 16) + UPDATE_REQUEST + FENCE


def test_input_can_be_allowed_and_taken_away_while_connected() -> None:
    viewer = greeted(allow_input=True)
    assert viewer.feed(KEY + POINTER) == KEY + POINTER
    viewer.allow_input = False
    assert viewer.feed(KEY + POINTER) == b""


def test_the_encoding_that_would_lengthen_pointer_messages_is_not_offered() -> None:
    assert greeted().feed(encodings(7, EXTENDED_MOUSE_BUTTONS, 16)) == encodings(7, 16)


@pytest.mark.parametrize(
    "stream",
    [
        b"GET / HTTP/1.1\r\n",
        b"RFB 003.008\n\x02",
        HANDSHAKE + b"\x63",
        HANDSHAKE + b"\xff\x01",
        HANDSHAKE + struct.pack(">Bxxxi", 6, 1 << 30),
    ],
)
def test_what_is_not_understood_ends_the_connection(stream: bytes) -> None:
    with pytest.raises(RfbViolation):
        ViewerFilter().feed(stream)
