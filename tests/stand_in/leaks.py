"""Replies whose actions stand where they do not belong, as models are known to write them."""

import json
from collections.abc import Callable
from typing import Any

from tests.stand_in.wire import Block

PROSE = "I see the page now, so this is what I will do."


def leak(kind: str, reply: dict[str, Any], *, offers_tool: bool) -> tuple[Block, ...]:
    """Return the blocks of a reply that leaks in one of the ways of LEAKS; the first of them says what it is."""
    return LEAKS[kind](reply, offers_tool)


def _text(reply: dict[str, Any], _: bool) -> tuple[Block, ...]:
    return (Block("text", f"{PROSE}\n{_dumped(reply)}\nThat is all."),)


def _fence(reply: dict[str, Any], _: bool) -> tuple[Block, ...]:
    return (Block("text", f"{PROSE}\n```json\n{_dumped(reply)}\n```"),)


def _thinking(reply: dict[str, Any], _: bool) -> tuple[Block, ...]:
    return (Block("thinking", f"{PROSE}\n{_dumped(reply)}"),)


def _string(reply: dict[str, Any], offers_tool: bool) -> tuple[Block, ...]:
    return (_spoken(_dumped(reply), offers_tool),)


def _quoted(reply: dict[str, Any], offers_tool: bool) -> tuple[Block, ...]:
    quoted = {name: value if isinstance(value, str) else _dumped(value) for name, value in reply.items()}
    return (_spoken(quoted, offers_tool),)


def _xml(reply: dict[str, Any], _: bool) -> tuple[Block, ...]:
    fields = "".join(
        f'<parameter name="{name}">{value if isinstance(value, str) else _dumped(value)}</parameter>\n'
        for name, value in reply.items()
    )
    return (Block("text", f'{PROSE}\n<function_calls>\n<invoke name="reply">\n{fields}</invoke>\n</function_calls>'),)


def _sentence(reply: dict[str, Any], offers_tool: bool) -> tuple[Block, ...]:
    kept = {name: value for name, value in reply.items() if name != "action"}
    moved = {**kept, "next_move": f'{kept.get("next_move", "")} "action": {_dumped(reply["action"])}'}
    return (_spoken(moved, offers_tool),)


def _spoken(value: Any, offers_tool: bool) -> Block:
    return Block("call" if offers_tool else "text", _dumped(value), value)


def _dumped(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


LEAKS: dict[str, Callable[[dict[str, Any], bool], tuple[Block, ...]]] = {
    "text": _text,
    "fence": _fence,
    "thinking": _thinking,
    "string": _string,
    "quoted": _quoted,
    "xml": _xml,
    "sentence": _sentence,
}
