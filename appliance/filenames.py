"""File names that are safe to use, whatever a model or a website proposed."""

import os
import re
import unicodedata
from collections.abc import Callable
from pathlib import Path

from appliance.errors import ActionFailed

MAX_NAME_BYTES = 120

_FORBIDDEN = re.compile(r"[^\w.()-]+")


def clean_name(wanted: str) -> str:
    """Return a plain file name for `wanted`: no folders, no leading dots, no control characters.

    Folders become a part of the name (`a/b.md` is `a-b.md`), so that two files never fall together by accident.
    Raises ActionFailed when nothing usable is left.
    """
    name = wanted
    # What one rule leaves may fall under another: a cut name may end in a dash, a small letter may be two signs.
    while (cleaner := _cleaned(name)) != name:
        name = cleaner
    if not name:
        raise ActionFailed(f"{wanted!r} is not a file name; use letters, digits, '-', '_' and an ending such as .md.")
    return name


def free_name(folder: Path, wanted: str) -> str:
    """Return `wanted` cleaned, with a number such as `(1)` before the ending when the folder has that name already."""
    return next_name(wanted, lambda name: os.path.lexists(folder / name))


def next_name(wanted: str, is_taken: Callable[[str], bool]) -> str:
    """Return `wanted` cleaned, with the first number before its ending that makes it a name which is not taken."""
    name = clean_name(wanted)
    stem, suffix = Path(name).stem, Path(name).suffix
    candidate, number = name, 0
    while is_taken(candidate):
        number += 1
        candidate = f"{stem}({number}){suffix}"
    return candidate


def _cleaned(wanted: str) -> str:
    name = unicodedata.normalize("NFC", wanted).strip()
    name = _FORBIDDEN.sub("-", name)
    name = re.sub(r"-{2,}", "-", name).lstrip(".-").rstrip(".-")
    stem, dot, suffix = name.rpartition(".")
    name = f"{stem.rstrip('-')}.{suffix.lower()}" if dot and stem else name
    return _shortened(name)


def _shortened(name: str) -> str:
    """Keep a name within what file systems take, counted in bytes, and keep its ending."""
    suffix = Path(name).suffix[:16]
    stem = name[: len(name) - len(Path(name).suffix)]
    while len((stem + suffix).encode()) > MAX_NAME_BYTES:
        stem = stem[:-1]
    return stem + suffix
