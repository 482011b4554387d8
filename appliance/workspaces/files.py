"""The files that a run reads and writes by name: the session's scratchpad and, where it has one, its workspace.

A name that the scratchpad has stays there, as todo.md does. Every other name is of the workspace, whose files outlive
the session and may lie in folders.
"""

import time
from collections.abc import Callable
from pathlib import Path

from appliance.errors import ActionFailed, MachineFault, RequestRefused
from appliance.filenames import clean_name, next_name
from appliance.workspaces.scratchpad import MAX_FILE_BYTES, FileEntry, Saved, Scratchpad, decode, encode, text_name
from appliance.workspaces.workspace import StoredFile, Workspace, clean_path

MOST_TOLD = 40
"""Files of the workspace that a description names."""

_SEEN_SECONDS = 5.0


class Files:
    """Both places as one. Every method raises ActionFailed, with a sentence for the model, for what cannot be done."""

    def __init__(self, scratchpad: Scratchpad, workspace: Workspace | None = None) -> None:
        self._scratchpad = scratchpad
        self._workspace = workspace
        self._seen: tuple[float, tuple[StoredFile, ...]] | None = None

    def write(self, name: str, text: str) -> Saved:
        """Write the text as the whole file."""
        if (workspace := self._place_of(name)) is None:
            return self._scratchpad.write(name, text)
        path = self._path(name, text_name)
        return self._put(workspace, path, encode(path, self._scratchpad.clean(text)))

    def append(self, name: str, text: str) -> Saved:
        """Add the text at the end of a file, which is made when missing."""
        if self._place_of(name) is None:
            return self._scratchpad.append(name, text)
        path = self._path(name, text_name)
        before = self.read(path) if self._is_there(path) else ""
        if path.endswith(".csv") and before and not before.endswith("\n"):
            before += "\n"
        return self.write(path, before + text)

    def replace(self, name: str, old: str, new: str) -> int:
        """Replace every occurrence of `old`; returns how many there were, at least one."""
        if self._place_of(name) is None:
            return self._scratchpad.replace(name, old, new)
        text = self.read(name)
        if not old or old not in text:
            raise ActionFailed(f"The text to replace is not in {name}; read the file and copy it exactly.")
        self.write(name, text.replace(old, new))
        return text.count(old)

    def write_bytes(self, name: str, data: bytes) -> Saved:
        """Write the bytes as the whole file."""
        if (workspace := self._place_of(name)) is None:
            return self._scratchpad.write_bytes(name, data)
        return self._put(workspace, self._path(name, clean_name), data)

    def read(self, name: str) -> str:
        """Return the text of a file."""
        path = self.path_of(name)
        if path.stat().st_size > MAX_FILE_BYTES:
            raise ActionFailed(f"{name} has {path.stat().st_size} bytes, too many to be read at once.")
        return decode(path.name, path.read_bytes())

    def path_of(self, name: str) -> Path:
        """Return where an existing file lies."""
        workspace = self._place_of(name)
        if workspace is not None and (path := _locate(workspace, self._path(name, clean_name))) is not None:
            return path
        if workspace is None or not (kept := self._listed()):
            return self._scratchpad.path_of(name)
        names = ", ".join([entry.name for entry in self._scratchpad.listing()] + [file.path for file in kept][:20])
        raise ActionFailed(f"There is no file {name}; there are: {names}.")

    def listing(self) -> tuple[FileEntry, ...]:
        """Return the files of both places, those of the workspace by their paths."""
        return (*self._scratchpad.listing(), *(FileEntry(file.path, file.size) for file in self._listed()))

    def free_name(self, wanted: str) -> str:
        """Return `wanted` cleaned, with a number before the ending when there is a file of that name already."""
        return next_name(wanted, {entry.name for entry in self.listing()}.__contains__)

    def describe(self, hides: Callable[[str], bool] | None = None) -> str:
        """Return what the scratchpad describes, and below it the newest files of the workspace by path and size."""
        parts = [self._scratchpad.describe(hides)]
        if self._workspace is not None:
            newest = sorted(self._listed(), key=lambda file: file.modified, reverse=True)
            told = ", ".join(f"{file.path} ({file.size} bytes)" for file in newest[:MOST_TOLD]) or "empty"
            more = f" and {len(newest) - MOST_TOLD} older" if len(newest) > MOST_TOLD else ""
            parts.append(f"workspace, which outlives this task: {told}{more}")
        return "\n".join(part for part in parts if part)

    def _place_of(self, name: str) -> Workspace | None:
        """Return the workspace where a file of that name is, or is to be, of it."""
        if self._workspace is None or clean_name(name) in {entry.name for entry in self._scratchpad.listing()}:
            return None
        return self._workspace

    def _is_there(self, path: str) -> bool:
        return self._workspace is not None and _locate(self._workspace, path) is not None

    def _listed(self) -> tuple[StoredFile, ...]:
        """Return the files of the workspace as they were a moment ago: each step is told of them."""
        if self._workspace is None:
            return ()
        now = time.monotonic()
        if self._seen is None or now - self._seen[0] > _SEEN_SECONDS:
            self._seen = (now, self._workspace.list_files())
        return self._seen[1]

    def _path(self, name: str, clean: Callable[[str], str]) -> str:
        """Return the path that a name stands for: of the file that has it as it is, else one of plain names.

        In that, a leading slash and parts that lead up are left out.
        """
        if self._is_there(name):
            return clean_path(name)
        *folders, last = [part for part in name.split("/") if part.strip(". ")] or [name]
        return "/".join([*map(clean_name, folders), clean(last)])

    def _put(self, workspace: Workspace, path: str, data: bytes) -> Saved:
        self._seen = None
        try:
            with workspace.begin(path, len(data)) as arrival:
                arrival.write(data)
                arrival.finish()
        except (RequestRefused, MachineFault) as error:
            raise ActionFailed(error.message) from error
        return Saved(path, len(data))


def _locate(workspace: Workspace, path: str) -> Path | None:
    try:
        return workspace.locate(path)
    except RequestRefused:
        return None
