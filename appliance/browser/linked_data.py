"""Reads blocks of JSON-LD, each by itself: a broken one is repaired as far as what it says is beyond doubt."""

import json
import re
from collections.abc import Iterator
from html import unescape
from typing import Any, cast

from appliance.surrogates import make_whole

MAX_REPAIRED = 200_000
"""Characters of a broken block beyond which it is only cut and cleaned."""
MAX_OPENED = 10_000
"""Brackets in a broken block beyond which what is cut off at its end is not made up for."""

_BEFORE = re.compile(r"(?:\s|<!--|//\s*<!\[CDATA\[|/\*\s*<!\[CDATA\[\s*\*/|<!\[CDATA\[)*+")
_BEHIND = re.compile(r"(?:\s|;|>--|>\]\]\s*//|/\*\s*>\]\]\s*\*/|>\]\])*+")
"""What a block is wrapped in: before it, and behind it as read from the end, where it is found at one go."""
_PIECE = re.compile(r'"(?:[^"\\]|\\.)*"|"|//[^\n]*|/\*.*?(?:\*/|\Z)|[\[\]{},]', re.DOTALL)
_NAME = re.compile(r"[\"'\w]\s*:")
_NUMBER = re.compile(r"-?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?")
_SWALLOWED = re.compile(r"[\"']\s*[,:+]\s*[\"']")
"""What only a value has that was taken for one text with what follows it."""
_DROPPED = object()
_OPENING = {"[": "]", "{": "}"}
_CLOSING = ("]", "}")
_Open = tuple[str, Any] | None
"""The brackets that are open, by what closes them, the innermost first."""


def read_block(text: str) -> Iterator[dict[str, Any]]:
    """Yield the objects of one block, those of a list or graph one by one; never raises.

    Of a broken block only values are taken that stand in it as they are; what is cut off in the middle is left out.
    """
    text = _unwrapped(make_whole(text))
    found = _load(text)
    if found is _DROPPED and text:
        found = _repaired(text)
    if found is not _DROPPED:
        yield from (one for one in _objects(found) if one)


def _unwrapped(text: str) -> str:
    text = _BEFORE.sub("", text, count=1)
    backwards = text[::-1]
    behind = _BEHIND.match(backwards)
    return text if behind is None else text[: len(text) - behind.end()]


def _load(text: str) -> Any:
    try:
        # Raw line breaks inside strings are common, and harmless; what is no number in JSON says nothing.
        return json.loads(text, strict=False, parse_constant=lambda _: None)
    except (ValueError, RecursionError):
        return _DROPPED


def _repaired(text: str) -> Any:
    """Return what a broken block says, _DROPPED when that cannot be told."""
    if "&quot;" in text and (found := _load(unescape(text))) is not _DROPPED:
        return found
    cleaned = _cleaned(unescape(text) if '"' not in text else text)
    found = _load(cleaned)
    if found is not _DROPPED or len(cleaned) > MAX_REPAIRED or not _NAME.search(cleaned):
        return found
    import json_repair  # noqa: PLC0415 - few pages need it

    try:
        found = json_repair.loads(cleaned)
        return _Certain(cleaned).part_of(found) if isinstance(found, dict | list) else _DROPPED
    except (ValueError, RecursionError):
        return _DROPPED


def _cleaned(text: str) -> str:
    """Return the text without comments and commas before a closing bracket, and without an end that is cut off."""
    kept: list[str] = []
    position = depth = 0
    open_brackets: _Open = None
    whole, whole_brackets = 0, open_brackets
    for match in _PIECE.finditer(text):
        piece = match[0]
        kept.append(text[position : match.start()])
        position = match.end()
        if piece.startswith("/"):
            continue
        if piece == '"':
            # A string that never ends.
            position = len(text)
            break
        if piece in _CLOSING:
            _drop_comma(kept)
            open_brackets = open_brackets[1] if open_brackets else None
        elif piece in _OPENING:
            open_brackets, depth = (_OPENING[piece], open_brackets), depth + 1
        kept.append(piece)
        if len(piece) == 1:
            # Up to here it can be cut off without half of anything being left.
            whole, whole_brackets = len(kept) - (piece == ","), open_brackets
    kept.append(text[position:])
    if open_brackets and depth <= MAX_OPENED:
        del kept[whole:]
        while whole_brackets:
            kept.append(whole_brackets[0])
            whole_brackets = whole_brackets[1]
    return "".join(kept)


def _drop_comma(kept: list[str]) -> None:
    for at in range(len(kept) - 1, -1, -1):
        if kept[at] == ",":
            kept[at] = ""
            return
        if kept[at].strip():
            return


class _Certain:
    """Picks from a repaired document what the text it was made from says itself."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._plain = text.replace('\\"', '"').replace("\\/", "/")
        self._numbers = {float(number) for number in _NUMBER.findall(text)}

    def part_of(self, value: Any) -> Any:
        """Return the value without what is not certain, _DROPPED when nothing of it is."""
        if isinstance(value, dict):
            parts = {
                name: self.part_of(one) for name, one in cast("dict[str, Any]", value).items() if name in self._text
            }
            return {name: one for name, one in parts.items() if one is not _DROPPED} or _DROPPED
        if isinstance(value, list):
            return [one for one in map(self.part_of, cast("list[Any]", value)) if one is not _DROPPED] or _DROPPED
        return value if self._has(value) else _DROPPED

    def _has(self, value: Any) -> bool:
        if isinstance(value, bool) or value is None:
            return {True: "true", False: "false", None: "null"}[value] in self._text
        if isinstance(value, int | float):
            return float(value) in self._numbers
        if not isinstance(value, str) or not value or _SWALLOWED.search(value):
            return False
        spellings = (value, json.dumps(value)[1:-1], json.dumps(value, ensure_ascii=False)[1:-1])
        return any(
            f"{quote}{one}{quote}" in text for one in spellings for quote in "\"'" for text in (self._text, self._plain)
        )


def _objects(found: Any) -> Iterator[dict[str, Any]]:
    try:
        yield from _unpacked(found)
    except RecursionError:
        return


def _unpacked(found: Any) -> Iterator[dict[str, Any]]:
    if isinstance(found, list):
        for item in cast("list[Any]", found):
            yield from _unpacked(item)
    elif isinstance(found, dict):
        thing = dict(cast("dict[str, Any]", found))
        graph = thing.pop("@graph", None)
        if graph is None or set(thing) - {"@context", "@id"}:
            yield thing
        if graph is not None:
            yield from _unpacked(graph)
