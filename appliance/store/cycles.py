"""Takes out of a JSON Schema what refers to itself and says nothing by it: kinds of a union that are that union again.

JSON Schema allows them, and whoever checks a value against one goes round in circles, or takes everything.
"""

from collections.abc import Iterator
from copy import deepcopy
from typing import Any, cast
from urllib.parse import unquote

from appliance.errors import SchemaUnusable

UNIONS = ("anyOf", "oneOf")
MAX_STEPS = 50_000
"""Kinds of unions that are gone through for one schema; unions of unions multiply."""
MAX_CIRCULAR = 30
TOO_MANY = "its parts refer to each other in too many ways"
_ANNOTATIONS = frozenset({"title", "description", "$comment", "default", "examples", "deprecated"})


def without_cycles(document: dict[str, Any]) -> dict[str, Any]:
    """Return the document with the kinds of each union that names itself told one by one; itself when none does.

    Raises SchemaUnusable when there is too much to be gone through.
    """
    steps = iter(range(MAX_STEPS))
    circular = [union for union in _unions(document) if _leaves(document, union, steps)[1]]
    if not circular:
        return document
    if len(circular) > MAX_CIRCULAR:
        raise SchemaUnusable(TOO_MANY)
    plain = deepcopy(document)
    for union in circular:
        leaves, _ = _leaves(document, union, steps)
        if leaves:
            schema = cast("dict[str, Any]", look_up(plain, union))
            key = _union_key(schema)
            schema[key] = [deepcopy(look_up(document, leaf)) for leaf in leaves]
    return plain


def look_up(document: Any, pointer: str) -> Any:
    """Return the part of a document at a JSON pointer, None when there is none."""
    value = document
    for step in pointer.split("/")[1:]:
        name = step.replace("~1", "/").replace("~0", "~")
        if isinstance(value, dict):
            value = cast("dict[str, Any]", value).get(name)
        elif isinstance(value, list) and name.isdigit() and int(name) < len(cast("list[Any]", value)):
            value = cast("list[Any]", value)[int(name)]
        else:
            return None
    return value


def _unions(document: Any, pointer: str = "") -> Iterator[str]:
    """Yield the pointer of every part that is a union, however deep."""
    parts: Any = ()
    if isinstance(document, dict):
        if _union_key(cast("dict[str, Any]", document)):
            yield pointer
        parts = cast("dict[str, Any]", document).items()
    elif isinstance(document, list):
        parts = enumerate(cast("list[Any]", document))
    for name, part in parts:
        if isinstance(part, dict | list):
            yield from _unions(part, f"{pointer}/{str(name).replace('~', '~0').replace('/', '~1')}")


def _leaves(document: dict[str, Any], union: str, steps: Iterator[int]) -> tuple[list[str], bool]:
    """Return where the kinds are that a union comes to, and whether it is one of its own kinds."""
    leaves: dict[str, None] = {}
    seen = {union}
    waiting = _members(document, union)
    is_circular = False
    while waiting:
        if next(steps, None) is None:
            raise SchemaUnusable(TOO_MANY)
        pointer = waiting.pop(0)
        target = _followed(document, pointer)
        is_circular = is_circular or target == union
        if target in seen:
            continue
        seen.add(target)
        schema = look_up(document, target)
        is_plain = isinstance(schema, dict) and not set(cast("dict[str, Any]", schema)) - _ANNOTATIONS - set(UNIONS)
        members = _members(document, target) if is_plain else []
        waiting = [*members, *waiting]
        if not members:
            leaves[target] = None
    return list(leaves), is_circular


def _followed(document: dict[str, Any], pointer: str) -> str:
    """Return where a part that is a reference and nothing more leads."""
    seen: set[str] = set()
    while pointer not in seen:
        seen.add(pointer)
        schema = look_up(document, pointer)
        if not isinstance(schema, dict):
            return pointer
        parts = cast("dict[str, Any]", schema)
        reference = parts.get("$ref")
        if not isinstance(reference, str) or set(parts) - _ANNOTATIONS != {"$ref"}:
            return pointer
        if reference != "#" and not reference.startswith("#/"):
            return pointer
        pointer = unquote(reference[1:])
    return pointer


def _members(document: dict[str, Any], pointer: str) -> list[str]:
    schema = look_up(document, pointer)
    key = _union_key(cast("dict[str, Any]", schema)) if isinstance(schema, dict) else ""
    return (
        [f"{pointer}/{key}/{number}" for number, _ in enumerate(cast("dict[str, list[Any]]", schema)[key])]
        if key
        else []
    )


def _union_key(schema: dict[str, Any]) -> str:
    """Return by which word a part is a union; "" when it is none, or two at once."""
    keys = [key for key in UNIONS if isinstance(schema.get(key), list)]
    return keys[0] if len(keys) == 1 else ""
