import json

import msgspec
import pytest

from appliance.surrogates import make_whole


@pytest.mark.parametrize(
    ("text", "whole"),
    [
        ("plain \U0001f600", "plain \U0001f600"),
        ("half \ud83d and \ude00.", "half � and �."),
        ("\ud83d\ude00", "\U0001f600"),
        (r"\ud83d.", r"\ufffd."),
        (r"\ud83d\ude00", r"\ud83d\ude00"),
        (r"\ud83d\ud83d\ude00", r"\ufffd\ud83d\ude00"),
        (r"\\ud83d", r"\\ud83d"),
        (r"\\\ud83d", r"\\\ufffd"),
    ],
)
def test_only_halves_of_characters_are_replaced(text: str, whole: str) -> None:
    assert make_whole(text) == whole


def test_json_of_a_browser_can_be_read_then() -> None:
    text = json.dumps({"name": "Save \ud83d", "emoji": "\U0001f600"})
    with pytest.raises(msgspec.DecodeError):
        msgspec.json.decode(text)
    assert msgspec.json.decode(make_whole(text)) == {"name": "Save �", "emoji": "\U0001f600"}
