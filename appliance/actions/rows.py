"""Rows of an answer out of a file of the scratchpad: JSON, one JSON value per line, or a table."""

import csv
import io
import json
from pathlib import Path
from typing import Any, cast

from appliance.actions.base import ActionContext
from appliance.errors import ActionFailed
from appliance.store.coercion import read_json
from appliance.surrogates import make_whole

MAX_ROWS = 20_000
_DELIMITERS = ",;\t|"


def read_rows(context: ActionContext, name: str, list_field: str | None) -> list[Any]:
    """Return the rows of a file; raises ActionFailed, saying why, when it has none.

    Of an object the rows are the list it has under the answer's own list field, else its only list of objects, else
    the object itself.
    """
    text = make_whole(context.files.read(name))
    suffix = Path(name).suffix.lower()
    if suffix in (".csv", ".tsv"):
        rows: list[Any] = _read_table(text)
    elif suffix == ".jsonl":
        rows = [_parse(name, line) for line in text.splitlines() if line.strip()]
    else:
        rows = _rows_of(_parse(name, text), list_field)
    if not rows:
        raise ActionFailed(f"{name} has no rows.")
    if len(rows) > MAX_ROWS:
        raise ActionFailed(f"{name} has {len(rows)} rows; {MAX_ROWS} can be taken at most, so split the file.")
    return rows


def _parse(name: str, text: str) -> Any:
    try:
        return read_json(text)
    except ValueError as error:
        where = f"line {error.lineno}" if isinstance(error, json.JSONDecodeError) else str(error)
        raise ActionFailed(f"{name} is not JSON ({where}); write it anew.") from error


def _rows_of(value: Any, list_field: str | None) -> list[Any]:
    if isinstance(value, list):
        return cast("list[Any]", value)
    if not isinstance(value, dict) or list_field is None:
        return [value]
    fields = cast("dict[str, Any]", value)
    if isinstance(fields.get(list_field), list):
        return fields[list_field]
    lists = [cast("list[Any]", inner) for inner in fields.values() if isinstance(inner, list)]
    of_objects = [inner for inner in lists if inner and all(isinstance(one, dict) for one in inner)]
    return of_objects[0] if len(of_objects) == 1 and len(fields) == 1 else [value]


def _read_table(text: str) -> list[Any]:
    head = text.lstrip("\ufeff").split("\n", 1)[0]
    delimiter = max(_DELIMITERS, key=head.count)
    reader = csv.DictReader(io.StringIO(text.lstrip("\ufeff")), delimiter=delimiter)
    try:
        return [
            {name: cell for name, cell in row.items() if isinstance(name, str) and isinstance(cell, str) and cell != ""}
            for row in reader
        ]
    except csv.Error as error:
        raise ActionFailed(f"The table cannot be read ({error}); write it anew.") from error
