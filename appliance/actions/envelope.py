"""Hands large data over: whole in a file, and in the prompt as far as there is room for it."""

import json
from typing import Any

INLINE = 2_000
"""Characters of data that are shown whole."""
SAMPLE = 300


def envelope(note: str, file: str, data: Any) -> str:
    """Return a JSON document {note, file, data} for data that stands in a file; data too long is told by its start."""
    text = json.dumps(data, ensure_ascii=False)
    if len(text) <= INLINE:
        return json.dumps({"note": note, "file": file, "data": data}, ensure_ascii=False)
    rest = {"truncated": True, "total_chars": len(text), "sample": text[:SAMPLE], "rest": f"read_file {file}"}
    return json.dumps({"note": note, "file": file, **rest}, ensure_ascii=False)
