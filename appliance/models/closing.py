"""The end of the keyless model's way: the answer's own fields, marks for what no page states, and done."""

import json
from collections.abc import Sequence
from typing import Any

from appliance.models.base import Scene
from appliance.models.moves import Moves, give_up, move, receipt_of
from appliance.models.notes import Notes
from appliance.store.coverage import Coverage, Gap
from appliance.store.schema import AnswerSchema

DRAFT = "answer_draft.json"
MAX_ACTIONS = 8
MAX_TRIES = 4
"""How often the answer is handed in before the run is given up."""


def close(scene: Scene, schema: AnswerSchema, own: dict[str, Any], notes: Notes, task: str) -> Moves:
    """Yield the moves that set the answer's own fields, mark what is absent and hand the answer in.

    A mark that is refused is tried once more after a look at the page, an answer that is sent back is handed in again
    with what it lacked. Raises RunFailed when that comes to nothing.
    """
    settings = _settings(scene, schema, own)
    tried: dict[tuple[str, tuple[int, ...] | None], int] = {}
    for attempt in range(MAX_TRIES):
        open_gaps = scene.coverage.gaps if scene.coverage is not None else ()
        gaps = [gap for gap in open_gaps if gap.index is not None or gap.field not in own or attempt]
        marks = [mark for mark in _marks(gaps) if _try(tried, mark)]
        todo = [*settings, *marks]
        settings = []
        if marks and attempt:
            todo.insert(0, {"extract": {"query": "Look once more for what is missing."}})
        while len(todo) >= MAX_ACTIONS:
            scene = yield move("The pages have been read.", "Note what they state and what not.", *todo[:MAX_ACTIONS])
            todo = todo[MAX_ACTIONS:]
        is_whole = not notes.is_cut and not notes.unread and _is_deliverable(scene.coverage, gaps, schema)
        text = notes.tell(scene, task, () if attempt else own)
        done = {"done": {"text": text, "success": is_whole}}
        scene = yield move("The pages have been read.", "Say what is absent and hand in the answer.", *todo, done)
    reason = receipt_of(scene, "done").rstrip(".") or "it was sent back"
    raise give_up(f"The answer was not accepted: {reason}", "What it holds so far is kept")


def _settings(scene: Scene, schema: AnswerSchema, own: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the actions that write the answer's own fields: at once where it is nothing else, else one by one."""
    if not own:
        return []
    if schema.list_field is None:
        content = json.dumps({**own, "_page": scene.url}, ensure_ascii=False)
        return [
            {"write_file": {"file_name": DRAFT, "content": content}},
            {"add_items_from_file": {"name": DRAFT}},
        ]
    return [{"set_field": {"field": name, "value": value}} for name, value in own.items() if _is_open(scene, name)]


def _is_open(scene: Scene, name: str) -> bool:
    fields = scene.coverage.fields if scene.coverage is not None else ()
    return any(one.name == name and not one.filled for one in fields)


def _marks(gaps: Sequence[Gap]) -> list[dict[str, Any]]:
    """Return the actions that mark the gaps absent, one for each field."""
    by_field: dict[tuple[str, bool], list[int]] = {}
    for gap in gaps:
        indices = by_field.setdefault((gap.field, gap.index is None), [])
        if gap.index is not None:
            indices.append(gap.index)
    marks: list[dict[str, Any]] = []
    for (name, is_own), indices in by_field.items():
        if is_own:
            reason = "The pages that were read do not state it plainly."
            marks.append({"mark_absent": {"field": name, "reason": reason}})
        else:
            reason = "Neither the list nor the page of the item states it plainly."
            marks.append({"mark_absent": {"field": name, "reason": reason, "index": indices}})
    return marks


def _try(tried: dict[tuple[str, tuple[int, ...] | None], int], mark: dict[str, Any]) -> bool:
    """Count a mark; False when it was refused twice already."""
    given = mark["mark_absent"]
    key = (given["field"], tuple(given["index"]) if "index" in given else None)
    tried[key] = tried.get(key, 0) + 1
    return tried[key] <= 2


def _is_deliverable(coverage: Coverage | None, gaps: Sequence[Gap], schema: AnswerSchema) -> bool:
    """Whether all that is absent may be so by the schema."""
    if coverage is None:
        return True
    own = {field.name: field.is_nullable for field in schema.fields}
    inner = {field.name: field.is_nullable for field in schema.item_fields}
    marked = [(one, own) for one in coverage.fields if one.absent] + [
        (one, inner) for one in coverage.item_fields if one.absent
    ]
    may_be = all(nullable.get(one.name, True) or not one.is_required for one, nullable in marked)
    return may_be and all((own if gap.index is None else inner).get(gap.field, True) for gap in gaps)
