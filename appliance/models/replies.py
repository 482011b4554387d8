"""Makes one JSON text of what a model said: parallel calls become one, and what leaked is fetched from where it stands.

Models leak a reply into their prose, into their reasoning, into tags, or into a JSON text inside the JSON.
"""

import json
import re
from collections.abc import Sequence
from typing import Any, cast

from appliance.json_texts import objects_in
from appliance.models.base import ReplyShape

Fields = dict[str, Any]

_PARAMETER = re.compile(r"<(?:\w+:)?parameter name=\"?(\w+)\"?>(.*?)</(?:\w+:)?parameter>", re.DOTALL)


def compose(
    shape: ReplyShape | None, texts: Sequence[str], calls: Sequence[str] = (), thoughts: Sequence[str] = ()
) -> str:
    """Return the reply: the inputs of `calls` as one object, else the object in the texts or the reasoning.

    Where none of them has the fields that the shape asks for, or several contradict each other, the words come back as
    they were said, and it is for the reader to name the defect.
    """
    if shape is None:
        return "".join(texts)
    if calls:
        return _from_calls(shape, calls, [*texts, *thoughts])
    whole = [_read_whole(text) for text in texts]
    replies = [_completed(shape, fields) for fields in whole if fields is not None]
    if replies and len(replies) == len(texts) and all(_is_reply(shape, fields) for fields in replies):
        return _as_said(texts, _merge(_distinct(replies)))
    found = _find_replies(shape, texts) or ([] if any(whole) else _find_replies(shape, thoughts))
    return _dumped(found[0]) if len(found) == 1 else "".join(texts)


def is_object(text: str) -> bool:
    """Say whether a text is a JSON object and nothing else."""
    return isinstance(_decode(text, None), dict)


def _from_calls(shape: ReplyShape, calls: Sequence[str], elsewhere: Sequence[str]) -> str:
    inputs = [_read_whole(call) for call in calls]
    if any(fields is None for fields in inputs):
        return calls[0]
    merged = _merge([_completed(shape, fields) for fields in inputs if fields is not None])
    if not _is_reply(shape, merged):
        found = _find_replies(shape, elsewhere)
        merged = {**found[0], **merged} if len(found) == 1 else merged
    return _as_said(calls, merged)


def _as_said(said: Sequence[str], fields: Fields) -> str:
    """Return the object in the very words of the one text that is nothing else, if there is such."""
    return said[0] if len(said) == 1 and _decode(said[0], None) == fields else _dumped(fields)


def _merge(inputs: Sequence[Fields]) -> Fields:
    """Make one object of parallel calls: lists are joined in order, of other fields the first counts."""
    merged: Fields = {}
    for fields in inputs:
        for name, value in fields.items():
            if isinstance(value, list) and isinstance(merged.get(name), list):
                merged[name] = merged[name] + value
            else:
                merged.setdefault(name, value)
    return merged


def _find_replies(shape: ReplyShape, texts: Sequence[str]) -> list[Fields]:
    """Return the different replies that stand somewhere in the texts."""
    found: list[Fields] = []
    for text in texts:
        written = [_completed(shape, fields) for fields in objects_in(text)]
        inside = [fields for fields in written if _is_reply(shape, fields)]
        tags = _read_tags(shape, text)
        found += inside or ([tags] if _is_reply(shape, tags) else [])
    return _distinct(found)


def _read_tags(shape: ReplyShape, text: str) -> Fields:
    """Return the fields that a text writes out in tags: <parameter name="action">…, or <action>…"""
    fields = {name: value.strip() for name, value in _PARAMETER.findall(text)}
    for name in _properties(shape):
        if name not in fields and (match := re.search(rf"<{name}>(.*?)</{name}>", text, re.DOTALL)):
            fields[name] = match[1].strip()
    return _opened(shape, fields)


def _completed(shape: ReplyShape, fields: Fields) -> Fields:
    """Return the reply inside a wrapper such as {"name": "reply", "input": {…}}, what is quoted in it opened."""
    fields = _opened(shape, fields)
    if not _is_reply(shape, fields):
        for value in fields.values():
            inner = _read_whole(value) if isinstance(value, str) else value
            if isinstance(inner, dict) and _is_reply(shape, opened := _opened(shape, cast("Fields", inner))):
                return opened
    return fields


def _opened(shape: ReplyShape, fields: Fields) -> Fields:
    """Return the fields, lists and objects that were sent as JSON texts being what they are."""
    structured = {name for name, kind in _properties(shape).items() if kind in ("array", "object")}
    return {
        name: _decode(value, value) if name in structured and isinstance(value, str) else value
        for name, value in fields.items()
    }


def _is_reply(shape: ReplyShape, fields: Fields) -> bool:
    """Say whether the object has what makes it a reply: its required lists and objects, else all required fields."""
    properties = _properties(shape)
    required: list[str] = shape.schema.get("required") or list(properties)
    structured = [name for name in required if properties.get(name) in ("array", "object")]
    return bool(required) and all(name in fields for name in structured or required)


def _properties(shape: ReplyShape) -> dict[str, str | None]:
    properties: dict[str, Fields] = shape.schema.get("properties", {})
    return {name: rule.get("type") for name, rule in properties.items()}


def _read_whole(text: str) -> Fields | None:
    """Return the object that a text is, also where it is the text of a JSON text."""
    value = _decode(text, None)
    if isinstance(value, str):
        value = _decode(value, None)
    return cast("Fields", value) if isinstance(value, dict) else None


def _decode(text: str, otherwise: Any) -> Any:
    try:
        return json.loads(text, strict=False)
    except (ValueError, RecursionError):
        return otherwise


def _distinct(objects: Sequence[Fields]) -> list[Fields]:
    return [fields for number, fields in enumerate(objects) if fields not in objects[:number]]


def _dumped(fields: Fields) -> str:
    return json.dumps(fields, ensure_ascii=False)
