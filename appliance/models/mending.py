"""Rows that the answer refused, offered once more: without the fields that they were refused for."""

import json
import re
from typing import Any, cast

from appliance.models.base import Scene
from appliance.models.moves import Moves, move, receipt_of

_REFUSED = re.compile(r"\bRefused \d+: ")
_NAMED = re.compile(r"\[(\d+)\] (\w+): ")
_FILE = "rows_mended.json"


def mend(scene: Scene, name: str) -> Moves:
    """Yield the moves that offer the refused rows of a file again, as they are and then without what was refused.

    Rows that are in the answer already are refused as such, which does no harm.
    """
    if not _REFUSED.search(receipt_of(scene, "add_items_from_file")):
        return scene
    scene = yield move(
        "Some rows were refused.",
        "Offer them once more.",
        {"read_file": {"file_name": name}},
        {"add_items_from_file": {"name": name}},
    )
    said = receipt_of(scene, "add_items_from_file")
    rows = _without(_read(scene.carried), said)
    if not rows:
        return scene
    return (
        yield move(
            "Some rows were refused for a field.",
            "Add them without it.",
            {"write_file": {"file_name": _FILE, "content": json.dumps(rows, ensure_ascii=False)}},
            {"add_items_from_file": {"name": _FILE}},
        )
    )


def _without(rows: list[dict[str, Any]], said: str) -> list[dict[str, Any]]:
    """Return the refused rows without the fields they were refused for; where all were refused, all without them."""
    named = [(int(index), field) for index, field in _NAMED.findall(said)]
    if not named or not rows:
        return []
    fields = {field for _, field in named}
    is_all = "Nothing was taken" in said
    indices = range(len(rows)) if is_all else sorted({index for index, _ in named if index < len(rows)})
    return [{name: value for name, value in rows[index].items() if name not in fields} for index in indices]


def _read(carried: str | None) -> list[dict[str, Any]]:
    try:
        rows: Any = json.loads(carried or "")
    except ValueError:
        return []
    return [row for row in cast("list[Any]", rows) if isinstance(row, dict)] if isinstance(rows, list) else []
