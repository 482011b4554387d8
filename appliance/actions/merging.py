"""Makes one answer of those that were given about the parts of a page, by their form and without asking again."""

import json
import re
from collections.abc import Sequence
from typing import Any, cast

_FENCED = re.compile(r"\s*```[\w-]*\n(.*?)\n?```\s*", re.DOTALL)
_RULE = re.compile(r"\|?[\s|:-]*-[\s|:-]*\|?")
_MOST_REPEATED = 20
"""Values or lines that the end of one part and the beginning of the next may have in common."""


def merge_answers(answers: Sequence[str]) -> str:
    """Return the answers as one: JSON lists and objects joined, tables under one head, else one after the other."""
    if len(answers) == 1:
        return answers[0]
    documents = [_document(answer) for answer in answers]
    if all(isinstance(document, list) for document in documents):
        return _as_json(_joined_lists(cast("list[list[Any]]", documents)))
    if all(isinstance(document, dict) for document in documents):
        return _as_json(_joined_objects(cast("list[dict[str, Any]]", documents)) or documents)
    merged = answers[0].strip()
    for answer in answers[1:]:
        merged = _appended(merged, answer.strip())
    return merged


def _document(answer: str) -> Any:
    """Return the JSON list or object that an answer is, None when it is none."""
    fenced = _FENCED.fullmatch(answer)
    text = (fenced[1] if fenced else answer).strip()
    if text[:1] not in ("{", "["):
        return None
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def _as_json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, indent=1)


def _joined_lists(lists: list[list[Any]]) -> list[Any]:
    """Join lists; what one begins with that the one before ends with stands there once."""
    merged = list(lists[0])
    for one in lists[1:]:
        merged += one[_overlap(merged, one) :]
    return merged


def _overlap(before: Sequence[Any], after: Sequence[Any]) -> int:
    """Return how many values at the beginning of one list are those that the other ends with."""
    most = min(len(before), len(after), _MOST_REPEATED)
    return next((count for count in range(most, 0, -1) if before[-count:] == after[:count]), 0)


def _joined_objects(objects: list[dict[str, Any]]) -> dict[str, Any] | None:
    """Join objects that tell of one thing: what one lacks another has, lists are joined. None when they tell of two."""
    merged: dict[str, Any] = {}
    for one in objects:
        for name, value in one.items():
            known = merged.get(name)
            if known is None or known in ("", [], {}):
                merged[name] = value
            elif isinstance(known, list) and isinstance(value, list):
                merged[name] = _joined_lists([cast("list[Any]", known), cast("list[Any]", value)])
            elif isinstance(known, dict) and isinstance(value, dict):
                inner = _joined_objects([cast("dict[str, Any]", known), cast("dict[str, Any]", value)])
                if inner is None:
                    return None
                merged[name] = inner
            elif value not in (None, "", known):
                return None
    return merged


def _appended(merged: str, answer: str) -> str:
    """Return a text with another after it: lines at the seam once, the head of a table that goes on not again."""
    before, after = merged.split("\n"), answer.split("\n")
    head = _table_head(before)
    if head and after[: len(head)] == head:
        after = after[len(head) :]
    after = after[_overlap(before, after) :]
    if not after:
        return merged
    goes_on = _row_kind(before[-1]) == _row_kind(after[0]) != ""
    return merged + ("\n" if goes_on else "\n\n") + "\n".join(after)


def _table_head(lines: list[str]) -> list[str]:
    """Return the head of the first table or the first line of comma-separated rows, [] when there is neither."""
    for at, line in enumerate(lines[:-1]):
        if line.startswith("|") and _RULE.fullmatch(lines[at + 1].strip()):
            return lines[at : at + 2]
    separator = next((sign for sign in (",", ";", "\t") if sign in lines[0]), None)
    if separator and len(lines) > 1 and all(line.count(separator) == lines[0].count(separator) for line in lines[:4]):
        return lines[:1]
    return []


def _row_kind(line: str) -> str:
    """Return what kind of row a line is, "" when it is none."""
    if line.startswith(("|", "- ", "* ", "+ ")):
        return line[0]
    if re.match(r"\d+[.)] ", line):
        return "1"
    return f"{line.count(',')} commas" if "," in line else ""
