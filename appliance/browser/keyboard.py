"""Trusted key presses and typed text, by the names a person would use for keys."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from appliance.errors import ActionInvalid

MODIFIERS = {"alt": 1, "control": 2, "meta": 4, "shift": 8}
TYPED_BY_KEY = 120

_ALIASES = {
    "ctrl": "control",
    "cmd": "meta",
    "command": "meta",
    "win": "meta",
    "super": "meta",
    "option": "alt",
    "esc": "escape",
    "return": "enter",
    "del": "delete",
    "ins": "insert",
    "left": "arrowleft",
    "right": "arrowright",
    "up": "arrowup",
    "down": "arrowdown",
    "pgup": "pageup",
    "pgdn": "pagedown",
    "pgdown": "pagedown",
    "spacebar": "space",
    "plus": "+",
}

Event = tuple[str, dict[str, Any]]
"""A protocol method and its parameters."""


@dataclass(frozen=True)
class Key:
    """One key as the protocol describes it; `text` is what it types, empty for keys that type nothing."""

    key: str
    code: str
    virtual_code: int
    text: str = ""
    needs_shift: bool = False


@dataclass(frozen=True)
class Stroke:
    """One key pressed together with modifiers (bit set as in MODIFIERS)."""

    key: Key
    modifiers: int = 0


def _named_keys() -> dict[str, Key]:
    keys = [
        Key("Enter", "Enter", 13, "\r"),
        Key("Tab", "Tab", 9),
        Key("Escape", "Escape", 27),
        Key("Backspace", "Backspace", 8),
        Key("Delete", "Delete", 46),
        Key("Insert", "Insert", 45),
        Key("ArrowLeft", "ArrowLeft", 37),
        Key("ArrowUp", "ArrowUp", 38),
        Key("ArrowRight", "ArrowRight", 39),
        Key("ArrowDown", "ArrowDown", 40),
        Key("Home", "Home", 36),
        Key("End", "End", 35),
        Key("PageUp", "PageUp", 33),
        Key("PageDown", "PageDown", 34),
        Key("ContextMenu", "ContextMenu", 93),
        *(Key(f"F{number}", f"F{number}", 111 + number) for number in range(1, 13)),
    ]
    named = {key.key.lower(): key for key in keys}
    named["space"] = Key(" ", "Space", 32, " ")
    return named


def _character_keys() -> dict[str, Key]:
    keys = {" ": Key(" ", "Space", 32, " ")}
    for letter in "abcdefghijklmnopqrstuvwxyz":
        code, virtual_code = f"Key{letter.upper()}", ord(letter.upper())
        keys[letter] = Key(letter, code, virtual_code, letter)
        keys[letter.upper()] = Key(letter.upper(), code, virtual_code, letter.upper(), needs_shift=True)
    for digit, shifted in zip("0123456789", ")!@#$%^&*(", strict=True):
        keys[digit] = Key(digit, f"Digit{digit}", ord(digit), digit)
        keys[shifted] = Key(shifted, f"Digit{digit}", ord(digit), shifted, needs_shift=True)
    signs = [
        (";:", "Semicolon", 186),
        ("=+", "Equal", 187),
        (",<", "Comma", 188),
        ("-_", "Minus", 189),
        (".>", "Period", 190),
        ("/?", "Slash", 191),
        ("`~", "Backquote", 192),
        ("[{", "BracketLeft", 219),
        ("\\|", "Backslash", 220),
        ("]}", "BracketRight", 221),
        ("'\"", "Quote", 222),
    ]
    for (plain, shifted), code, virtual_code in signs:
        keys[plain] = Key(plain, code, virtual_code, plain)
        keys[shifted] = Key(shifted, code, virtual_code, shifted, needs_shift=True)
    return keys


_NAMED = _named_keys()
_CHARACTERS = _character_keys()


def parse_keys(text: str) -> tuple[Stroke, ...]:
    """Return the strokes for names such as `Enter`, `Control+A` or `ArrowDown ArrowDown Enter`.

    Raises ActionInvalid naming the part that is no key.
    """
    parts = text.split() or ([" "] if text else [])
    if not parts:
        raise ActionInvalid("keys is empty; name a key such as Enter, Tab, ArrowDown or Control+A.")
    return tuple(_parse_stroke(part) for part in parts)


def _parse_stroke(part: str) -> Stroke:
    names = [name for name in part.split("+") if name] if part != "+" else ["+"]
    if part.endswith("++"):
        names.append("+")
    modifiers = 0
    for name in names[:-1]:
        bit = MODIFIERS.get(_alias(name))
        if bit is None:
            raise ActionInvalid(f"{name!r} in {part!r} is not a modifier; there are Control, Shift, Alt and Meta.")
        modifiers |= bit
    key = _find_key(names[-1], part)
    return Stroke(key, modifiers | (MODIFIERS["shift"] if key.needs_shift and not modifiers else 0))


def _find_key(name: str, part: str) -> Key:
    key = _CHARACTERS.get(name) or _NAMED.get(_alias(name))
    if key is None and len(name) == 1:
        return Key(name, "", 0, name)
    if key is None and _alias(name) in MODIFIERS:
        word = _alias(name).capitalize()
        return Key(word, f"{word}Left", {"Alt": 18, "Control": 17, "Meta": 91, "Shift": 16}[word])
    if key is None:
        raise ActionInvalid(
            f"{part!r} is not a key; use names such as Enter, Tab, Escape, Backspace, ArrowDown, PageDown, F5, "
            "Control+A, single characters, several with spaces between, or the input action for text."
        )
    return key


def _alias(name: str) -> str:
    return _ALIASES.get(name.lower(), name.lower())


def stroke_events(stroke: Stroke) -> Iterator[Event]:
    """Yield the events of one stroke: modifiers down, the key down and up, modifiers up."""
    held = 0
    pressed = [name for name, bit in MODIFIERS.items() if stroke.modifiers & bit]
    for name in pressed:
        held |= MODIFIERS[name]
        yield _modifier_event("rawKeyDown", name, held)
    yield from _key_events(stroke.key, stroke.modifiers)
    for name in reversed(pressed):
        held &= ~MODIFIERS[name]
        yield _modifier_event("keyUp", name, held)


def typing_events(text: str, *, by_key: bool) -> Iterator[Event]:
    """Yield the events that type the text, which must have no line breaks when typed by key.

    By key, every character is a key press, so that pages which listen to keys follow; otherwise all but the last
    character are inserted at once, as a paste or an input method does, and only the last one is a key press.
    """
    if not by_key or len(text) > TYPED_BY_KEY:
        if len(text) < 2 or text[-1] not in _CHARACTERS or not text[-1].isalnum():
            yield insert_event(text)
            return
        yield insert_event(text[:-1])
        text = text[-1]
    for character in text:
        key = _CHARACTERS.get(character)
        if key is None:
            yield insert_event(character)
        else:
            yield from _key_events(key, MODIFIERS["shift"] if key.needs_shift else 0)


def insert_event(text: str) -> Event:
    """Return the event that inserts text at the cursor without key presses."""
    return "Input.insertText", {"text": text}


def _key_events(key: Key, modifiers: int) -> Iterator[Event]:
    types_text = bool(key.text) and not modifiers & ~MODIFIERS["shift"]
    base: dict[str, Any] = {
        "key": key.key,
        "code": key.code,
        "windowsVirtualKeyCode": key.virtual_code,
        "modifiers": modifiers,
    }
    down = {**base, "type": "keyDown", "text": key.text} if types_text else {**base, "type": "rawKeyDown"}
    yield "Input.dispatchKeyEvent", down
    yield "Input.dispatchKeyEvent", {**base, "type": "keyUp"}


def _modifier_event(kind: str, name: str, held: int) -> Event:
    word = name.capitalize()
    codes = {"alt": 18, "control": 17, "meta": 91, "shift": 16}
    return "Input.dispatchKeyEvent", {
        "type": kind,
        "key": word,
        "code": f"{word}Left",
        "windowsVirtualKeyCode": codes[name],
        "modifiers": held,
    }
