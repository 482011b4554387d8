"""The files of one session: what the agent writes down while it works, under names that cannot leave the folder."""

import errno
import os
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from uuid import uuid4

from appliance.errors import ActionFailed
from appliance.filenames import clean_name
from appliance.workspaces.csv_text import normalise

TODO_NAME = "todo.md"
MAX_FILE_BYTES = 8_000_000
MAX_TOTAL_BYTES = 100_000_000
MAX_FILES = 500
TEXT_SUFFIXES = frozenset(
    f".{ending}"
    for ending in (
        *("md", "txt", "json", "jsonl", "csv", "tsv", "html", "htm", "xml", "svg"),
        *("yaml", "yml", "toml", "ini", "log", "sql", "py", "js", "ts", "css"),
    )
)

IMAGE_SUFFIXES = frozenset(
    {".png", ".jpg", ".jpeg", ".gif", ".webp", ".bmp", ".ico", ".tif", ".tiff", ".avif", ".heic"}
)
PREVIEW_WHOLE, PREVIEW_END = 600, 200
"""Characters up to which a description shows a file whole, and those it shows of either end of a longer one."""
DESCRIPTION = 1_000
"""Characters that a description of all files has at most, names and sizes not counted."""

_SURELY_LONG = 4 * PREVIEW_WHOLE
"""Bytes that are more than PREVIEW_WHOLE characters; files above are not read in vain in every step."""
_EXTRACT_NAME = re.compile(r"extracted_content_(\d+)\.md")


@dataclass(frozen=True)
class FileEntry:
    """One file: its name and its size in bytes."""

    name: str
    size: int


@dataclass(frozen=True)
class Saved:
    """What a write did: the name really used and the size of the whole file in bytes afterwards."""

    name: str
    size: int


class Scratchpad:
    """The folder of one session's notes and files, which begins with an empty todo.md.

    Files are written beside and renamed, so that a reader never sees half of one; links are never followed. The folder
    is all the state there is: opened again, it goes on where it was. Every text goes through `clean` before it is
    written, which takes out what must not be kept.
    """

    def __init__(self, root: Path) -> None:
        self.root = root
        self.clean: Callable[[str], str] = _as_it_is
        root.mkdir(parents=True, exist_ok=True)
        for leftover in root.glob(".tmp-*"):
            leftover.unlink(missing_ok=True)
        (root / TODO_NAME).touch()

    def write(self, name: str, text: str) -> Saved:
        """Write the text as the whole file; raises ActionFailed for a bad name, a binary ending or a full folder."""
        name = text_name(name)
        return self.write_bytes(name, encode(name, self.clean(text)))

    def append(self, name: str, text: str) -> Saved:
        """Add the text at the end of a file, which is made when missing."""
        name = text_name(name)
        before = self._read_bytes(name) if self._is_file(name) else b""
        added = encode(name, text)
        if _is_table(name) and before and not before.endswith(b"\n"):
            before += b"\r\n"
        whole = before + added
        cleaned = self.clean(whole.decode(errors="replace"))
        return self.write_bytes(name, whole if cleaned == whole.decode(errors="replace") else cleaned.encode())

    def replace(self, name: str, old: str, new: str) -> int:
        """Replace every occurrence of `old`; returns how many there were. Raises ActionFailed when there is none."""
        text = self.read(name)
        count = text.count(old) if old else 0
        if not count:
            raise ActionFailed(f"The text to replace is not in {clean_name(name)}; read the file and copy it exactly.")
        self.write(name, text.replace(old, new))
        return count

    def read(self, name: str) -> str:
        """Return the text of a file; raises ActionFailed when it is missing or is not text."""
        name = clean_name(name)
        return decode(name, self._read_bytes(name))

    def write_bytes(self, name: str, data: bytes) -> Saved:
        """Write the bytes as the whole file, within the limits for one file, for the folder and for their number."""
        name = clean_name(name)
        self._check_room(name, len(data))
        temporary = self.root / f".tmp-{uuid4().hex}"
        try:
            temporary.write_bytes(data)
            os.replace(temporary, self.root / name)  # noqa: PTH105  (a rename over a link replaces the link)
        except OSError as error:
            temporary.unlink(missing_ok=True)
            raise ActionFailed(f"{name} could not be written ({error.strerror}).") from error
        return Saved(name, len(data))

    def path_of(self, name: str) -> Path:
        """Return the path of an existing regular file; raises ActionFailed, naming what there is, otherwise."""
        name = clean_name(name)
        if not self._is_file(name):
            raise self._missing(name)
        return self.root / name

    def listing(self) -> tuple[FileEntry, ...]:
        """Return the files by name."""
        entries = [
            FileEntry(entry.name, entry.stat(follow_symlinks=False).st_size)
            for entry in os.scandir(self.root)
            if entry.is_file(follow_symlinks=False) and not entry.name.startswith(".")
        ]
        return tuple(sorted(entries, key=lambda entry: entry.name))

    @property
    def todo(self) -> str:
        """The text of todo.md, empty when there is none."""
        return self.read(TODO_NAME) if self._is_file(TODO_NAME) else ""

    def next_extract_name(self) -> str:
        """Return the name for the next long extract: extracted_content_1.md, extracted_content_2.md and so on."""
        found = [_EXTRACT_NAME.fullmatch(entry.name) for entry in self.listing()]
        return f"extracted_content_{max((int(match[1]) for match in found if match), default=0) + 1}.md"

    def describe(self, hides: Callable[[str], bool] | None = None) -> str:
        """Return one line per file (name, size, and what it says as far as there is room, the newest first).

        todo.md, which is shown by itself, is left out, as are files whose name `hides` is true of; empty when there are
        no others.
        """
        entries = [entry for entry in self.listing() if entry.name != TODO_NAME]
        entries = [entry for entry in entries if hides is None or not hides(entry.name)]
        newest = sorted(entries, key=lambda entry: -(self.root / entry.name).lstat().st_mtime_ns)
        previews: dict[str, str] = {}
        room = DESCRIPTION
        for entry in newest:
            if entry.size > _SURELY_LONG and room < 2 * PREVIEW_END:
                continue
            preview = self._preview(entry)
            if preview and len(preview) <= room:
                previews[entry.name] = f": {preview}"
                room -= len(preview)
        return "\n".join(f"{entry.name} ({entry.size} bytes){previews.get(entry.name, '')}" for entry in entries)

    def _preview(self, entry: FileEntry) -> str:
        """Return the text of a file in one line: the whole of a short one, both ends of a longer one."""
        if Path(entry.name).suffix not in TEXT_SUFFIXES:
            return ""
        try:
            text = " ".join(self._read_bytes(entry.name).decode(errors="replace").split())
        except ActionFailed:
            return ""
        if len(text) <= PREVIEW_WHOLE:
            return text
        left = len(text) - 2 * PREVIEW_END
        return f"{text[:PREVIEW_END]} … ({left} characters more) … {text[-PREVIEW_END:]}"

    def _is_file(self, name: str) -> bool:
        path = self.root / name
        return path.is_file() and not path.is_symlink()

    def _read_bytes(self, name: str) -> bytes:
        try:
            descriptor = os.open(self.root / name, os.O_RDONLY | os.O_NOFOLLOW)
        except OSError as error:
            if error.errno in (errno.ENOENT, errno.ELOOP):
                raise self._missing(name) from error
            raise ActionFailed(f"{name} could not be read ({error.strerror}).") from error
        with os.fdopen(descriptor, "rb") as file:
            return file.read()

    def _missing(self, name: str) -> ActionFailed:
        names = ", ".join(entry.name for entry in self.listing()[:20])
        return ActionFailed(f"There is no file {name}; " + (f"there are: {names}." if names else "there are no files."))

    def _check_room(self, name: str, size: int) -> None:
        others = [entry for entry in self.listing() if entry.name != name]
        if size > MAX_FILE_BYTES:
            raise ActionFailed(f"{name} would have {size} bytes; one file may have {MAX_FILE_BYTES}.")
        if len(others) >= MAX_FILES:
            raise ActionFailed(f"There are {MAX_FILES} files already, which is the limit; write into one of them.")
        if sum(entry.size for entry in others) + size > MAX_TOTAL_BYTES:
            raise ActionFailed(f"The files together would have more than {MAX_TOTAL_BYTES} bytes, which is the limit.")


def _as_it_is(text: str) -> str:
    return text


def decode(name: str, data: bytes) -> str:
    """Return the text of a file's bytes, tables with plain line ends; raises ActionFailed for what is not text."""
    suffix = Path(name).suffix.lower()
    if suffix in IMAGE_SUFFIXES:
        raise ActionFailed(f"{name} is a picture and cannot be read as text; open its page and look at it instead.")
    if suffix == ".pdf":
        raise ActionFailed(f"{name} is a PDF and cannot be read as text here; open its address and look at it instead.")
    try:
        text = data.decode()
    except UnicodeDecodeError:
        raise ActionFailed(f"{name} is not a text file and cannot be read as one.") from None
    return text.replace("\r\n", "\n") if _is_table(name) else text


def encode(name: str, text: str) -> bytes:
    """Return the bytes of a file with this text, tables with the line ends that the format asks for."""
    return (normalise(text) if _is_table(name) else text).encode()


def _is_table(name: str) -> bool:
    return name.endswith(".csv")


def text_name(name: str) -> str:
    """Return the plain name of a file of text; raises ActionFailed when its ending says that it is something else."""
    name = clean_name(name)
    suffix = Path(name).suffix
    if suffix in IMAGE_SUFFIXES:
        raise ActionFailed(
            f"{name} would be a picture, and only text can be written here; the screenshot action keeps a picture."
        )
    if suffix and suffix not in TEXT_SUFFIXES:
        raise ActionFailed(
            f"Only text can be written, and {suffix} is not a text format; use .md, .txt, .json or .csv."
        )
    return name
