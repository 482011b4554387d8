"""The files of a session that its caller may have: what the agent wrote down and what its browser downloaded."""

import os
import re
from datetime import UTC, datetime
from pathlib import Path

from appliance.runtime.folders import SessionFolders
from appliance.workspaces.workspace import StoredFile

_UNFINISHED = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")
"""The name of a download until it is complete."""


def list_files(folders: SessionFolders) -> tuple[StoredFile, ...]:
    """Return the files by path, such as `downloads/report.csv`; links and unfinished files are none."""
    found: list[StoredFile] = []
    for name, folder in _shown(folders).items():
        if not folder.is_dir():
            continue
        for entry in os.scandir(folder):
            if _is_hidden(entry.name) or not entry.is_file(follow_symlinks=False):
                continue
            facts = entry.stat(follow_symlinks=False)
            modified = datetime.fromtimestamp(facts.st_mtime, UTC)
            found.append(StoredFile(f"{name}/{entry.name}", facts.st_size, modified))
    return tuple(sorted(found, key=lambda file: file.path))


def find_file(folders: SessionFolders, path: str) -> Path | None:
    """Return where the file of that path lies; None for anything that `list_files` does not list."""
    name, _, file_name = path.partition("/")
    folder = _shown(folders).get(name)
    if folder is None or not file_name or "/" in file_name or "\0" in file_name or _is_hidden(file_name):
        return None
    file = folder / file_name
    return file if file.parent == folder and file.is_file() and not file.is_symlink() else None


def _shown(folders: SessionFolders) -> dict[str, Path]:
    return {"downloads": folders.downloads, "scratchpad": folders.scratchpad}


def _is_hidden(name: str) -> bool:
    return name.startswith(".") or _UNFINISHED.fullmatch(name) is not None
