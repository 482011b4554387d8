"""Which addresses are of one kind: they differ in one place, as those of the rows of a list do."""

import re
from collections.abc import Iterator
from urllib.parse import parse_qsl, urlsplit

Shape = tuple[str, ...]
ANY = "*"
"""Stands in a kind for the folder that differs."""


def shapes_of(url: str) -> Iterator[Shape]:
    """Yield the kinds that an address belongs to, narrow ones first: what all rows of a list have in common."""
    parts = urlsplit(url)
    folders = [re.sub(r"\d+", "#", folder) for folder in parts.path.split("/") if folder]
    if folders and re.fullmatch(r"(?:index|default)\.\w+", folders[-1]):
        folders.pop()
    names = tuple(sorted({name for name, _ in parse_qsl(parts.query)}))
    base = (parts.netloc, "?".join(names))
    if names:
        yield (*base, *folders)
    if folders:
        yield (*base, *folders[:-1], f"{ANY}{_ending(folders[-1])}")
    if len(folders) > 1:
        yield (*base, *folders[:-2], ANY, f"{ANY}{_ending(folders[-1])}")


def kind_of(url: str) -> Shape:
    """Return the narrowest kind that an address belongs to; that of an address without a path is its host."""
    return next(shapes_of(url), (urlsplit(url).netloc,))


def _ending(folder: str) -> str:
    """Return what the last folder is like: an ending such as .html, or a number alone."""
    match = re.search(r"\.\w{2,5}$", folder)
    return match[0] if match else "#" if folder == "#" else ""
