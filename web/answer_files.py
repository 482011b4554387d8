"""An answer as a file to take away: JSON as it is, or the rows of its longest list as CSV for a spreadsheet."""

import csv
import io
import json
from typing import Any, cast

from web.answers import say_value

_FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r")


def as_json(output: Any) -> str:
    """Return the answer as JSON text; an answer that is text stays what it is."""
    return output if isinstance(output, str) else json.dumps(output, ensure_ascii=False, indent=2) + "\n"


def as_csv(output: Any) -> str:
    """Return the rows as CSV (RFC 4180, with a mark of UTF-8 before it, which spreadsheets need)."""
    rows = _rows(output)
    columns = list(dict.fromkeys(key for row in rows for key in row))
    out = io.StringIO(newline="")
    writer = csv.writer(out, lineterminator="\r\n")
    writer.writerow([_harmless(column) for column in columns])
    writer.writerows([_harmless(row.get(column)) for column in columns] for row in rows)
    return f"\ufeff{out.getvalue()}"


def _rows(output: Any) -> list[dict[str, Any]]:
    """Return the longest list of objects in the answer, else the answer itself as one row."""
    parts: list[Any] = [output, *(cast("dict[str, Any]", output).values() if isinstance(output, dict) else ())]
    nothing: list[Any] = []
    longest = max((cast("list[Any]", part) for part in parts if isinstance(part, list)), key=len, default=nothing)
    if not longest:
        return [cast("dict[str, Any]", output) if isinstance(output, dict) else {"value": output}]
    return [cast("dict[str, Any]", item) if isinstance(item, dict) else {"value": item} for item in longest]


def _harmless(value: Any) -> str:
    """Return a cell that no spreadsheet takes for a formula: pages wrote it, and must not calculate there."""
    if isinstance(value, int | float) and not isinstance(value, bool):
        return str(value)
    text = say_value(value)
    return f"'{text}" if text.startswith(_FORMULA_STARTS) else text
