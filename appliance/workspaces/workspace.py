"""The files of one workspace: a folder whose paths cannot lead out of it and in which links are never followed."""

import errno
import os
import shutil
import stat
import unicodedata
from collections.abc import Generator, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import BinaryIO, Self
from uuid import uuid4

from appliance.errors import MachineFault, NotFound, RequestInvalid, StorageFull

MAX_PATH_BYTES = 1_000
MAX_NAME_BYTES = 255
MAX_DEPTH = 32

_NO_ROOM = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
_NO_SUCH_FILE = (errno.ENOENT, errno.ENOTDIR, errno.ELOOP, errno.EISDIR)


@dataclass(frozen=True)
class StoredFile:
    """One file: its `/`-separated path, relative to all; its size in bytes; when it was last changed (aware)."""

    path: str
    size: int
    modified: datetime


class Workspace:
    """The files below `root`/files; what is still arriving lies beside them, so that nobody sees half a file.

    `max_bytes` is what all files may have together, those on their way included. Nothing is made but by `make`, so that
    what is written into a workspace that was deleted does not bring it back.
    """

    def __init__(self, root: Path, max_bytes: int) -> None:
        self.files = root / "files"
        self.max_bytes = max_bytes
        self._arriving = root / "arriving"

    def make(self) -> None:
        """Make the folders of a workspace that is known to be there; raises MachineFault when the disk refuses."""
        try:
            for folder in (self.files, self._arriving):
                folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise _not_written(error) from error

    def list_files(self, prefix: str = "") -> tuple[StoredFile, ...]:
        """Return the files whose paths begin with the text `prefix`, by path."""
        return tuple(sorted(self._walk(self.files, "", prefix), key=lambda file: file.path))

    def used_bytes(self) -> int:
        """Return what all files have together."""
        return sum(file.size for file in self._walk(self.files, "", ""))

    def open(self, path: str) -> BinaryIO:
        """Open a file for reading; raises NotFound when there is no such file, RequestInvalid for an unusable path."""
        *folders, name = clean_path(path).split("/")
        try:
            with self._enter(folders) as folder:
                descriptor = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK, dir_fd=folder)
        except OSError as error:
            raise _no_such_file(error) from error
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            os.close(descriptor)
            raise NotFound("File not found")
        return os.fdopen(descriptor, "rb")

    def locate(self, path: str) -> Path:
        """Return where a file lies; raises as `open` does."""
        self.open(path).close()
        return self.files / clean_path(path)

    def delete(self, path: str) -> None:
        """Delete a file and the folders that it leaves empty; raises NotFound, RequestInvalid."""
        *folders, name = clean_path(path).split("/")
        try:
            with self._enter(folders) as folder:
                if not stat.S_ISREG(os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode):
                    raise NotFound("File not found")
                os.unlink(name, dir_fd=folder)
        except OSError as error:
            raise _no_such_file(error) from error
        # A folder that still holds something stays, as does one that somebody else deletes or fills meanwhile.
        with suppress(OSError):
            for depth in range(len(folders), 0, -1):
                with self._enter(folders[: depth - 1]) as parent:
                    os.rmdir(folders[depth - 1], dir_fd=parent)

    def begin(self, path: str, size: int) -> "Arrival":
        """Return what takes in a file of exactly so many bytes, in place of one that the path has by now.

        Raises RequestInvalid for an unusable path, StorageFull when there is no room for it, NotFound when the
        workspace was deleted, and MachineFault when the disk refuses.
        """
        path = clean_path(path)
        self.check_room({path: size})
        return Arrival(self, path, size, self._arriving)

    def check_room(self, arriving: dict[str, int], own: str = "") -> None:
        """Raise StorageFull unless files of these sizes have room at these paths, in place of what lies there.

        `own` is the name of the one of them that is on its way already.
        """
        kept = sum(file.size for file in self._walk(self.files, "", "") if file.path not in arriving)
        kept += sum(file.size for file in self._walk(self._arriving, "", "") if file.path != own)
        if kept + sum(arriving.values()) > self.max_bytes:
            raise StorageFull(
                f"This workspace may hold {self.max_bytes} bytes and has {kept} without these files; "
                "delete files or raise WORKSPACE_MAX_MB."
            )

    def place(self, arrived: Path, path: str, size: int) -> None:
        """Make a file that has arrived whole the one at `path`; raises as `begin` does."""
        self.check_room({path: size}, arrived.name)
        *folders, name = path.split("/")
        try:
            with self._enter(folders, makes=True) as folder:
                with suppress(FileNotFoundError):
                    if stat.S_ISDIR(os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode):
                        raise RequestInvalid(f"{path} is a folder here; give the file another name.", "path")
                os.rename(arrived, name, dst_dir_fd=folder)
        except (NotADirectoryError, FileExistsError, IsADirectoryError) as error:
            raise RequestInvalid(f"A part of the path {path} is a file here; give another path.", "path") from error
        except OSError as error:
            raise _not_written(error) from error

    def forget_arrivals(self) -> None:
        """Delete what was on its way when the server ended."""
        shutil.rmtree(self._arriving, ignore_errors=True)
        with suppress(OSError):
            self._arriving.mkdir()

    def destroy(self) -> None:
        """Delete everything: no file can be opened from the first moment on, open ones are read to their end."""
        root = self.files.parent
        doomed = root.with_name(f".{root.name}-{uuid4().hex}")
        with suppress(FileNotFoundError):
            root.rename(doomed)
            shutil.rmtree(doomed, ignore_errors=True)

    @contextmanager
    def _enter(self, folders: list[str], *, makes: bool = False) -> Generator[int]:
        """Open a folder step by step, following no link; raises OSError."""
        opened = [os.open(self.files, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)]
        try:
            for name in folders:
                if makes:
                    with suppress(FileExistsError):
                        os.mkdir(name, dir_fd=opened[-1])
                opened.append(os.open(name, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW, dir_fd=opened[-1]))
            yield opened[-1]
        finally:
            for descriptor in opened:
                os.close(descriptor)

    def _walk(self, folder: Path, path: str, prefix: str) -> Iterator[StoredFile]:
        try:
            entries = list(os.scandir(folder))
        except (FileNotFoundError, NotADirectoryError):
            return
        for entry in entries:
            here = path + entry.name
            if entry.is_dir(follow_symlinks=False):
                below = f"{here}/"
                if below.startswith(prefix) or prefix.startswith(below):
                    yield from self._walk(folder / entry.name, below, prefix)
            elif here.startswith(prefix) and entry.is_file(follow_symlinks=False):
                with suppress(FileNotFoundError):
                    facts = entry.stat(follow_symlinks=False)
                    yield StoredFile(here, facts.st_size, datetime.fromtimestamp(facts.st_mtime, UTC))


class Arrival:
    """A file on its way in. A context manager: without `finish` nothing is left of it."""

    def __init__(self, workspace: Workspace, path: str, size: int, folder: Path) -> None:
        self._workspace, self._path, self._size = workspace, path, size
        self._temporary = folder / uuid4().hex
        self._got = 0
        try:
            self._file = self._temporary.open("xb", buffering=0)
            # So that the room it will take counts for others by now.
            self._file.truncate(size)
        except OSError as error:
            self._temporary.unlink(missing_ok=True)
            raise _not_written(error) from error

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Let go of it; what is not in its place by now is deleted."""
        self._file.close()
        self._temporary.unlink(missing_ok=True)

    def write(self, data: bytes | bytearray) -> None:
        """Take the next bytes; raises RequestInvalid as soon as there are more than were announced, and StorageFull."""
        self._got += len(data)
        if self._got > self._size:
            raise RequestInvalid(f"More than the {self._size} bytes that were announced arrived; announce them all.")
        left = memoryview(data)
        try:
            # A disk that is almost full takes a part only, and says so only then.
            while left:
                left = left[self._file.write(left) :]
        except OSError as error:
            raise _not_written(error) from error

    def finish(self) -> None:
        """Put the file in its place; raises RequestInvalid when bytes are missing, and as `Workspace.begin` does."""
        if self._got != self._size:
            raise RequestInvalid(f"{self._got} of the {self._size} bytes that were announced arrived; send them again.")
        self._file.close()
        self._workspace.place(self._temporary, self._path, self._size)


def clean_path(path: str) -> str:
    """Return a path inside a workspace with composed letters, so that names that look alike are one.

    Raises RequestInvalid for what leads elsewhere or cannot be a path: `..`, empty parts, control characters, lone
    surrogates, more than 255 bytes in a part, 1,000 in all or 32 folders deep.
    """
    clean = unicodedata.normalize("NFC", path)
    parts = clean.split("/")
    try:
        sizes = [len(part.encode()) for part in parts]
    except UnicodeEncodeError:
        raise RequestInvalid("The path has half a character in it; send it as UTF-8.", "path") from None
    if any(part in ("", ".", "..") for part in parts):
        raise RequestInvalid("A path is names with single / between them, none of them “.” or “..”.", "path")
    if any(unicodedata.category(sign) == "Cc" for sign in clean):
        raise RequestInvalid("A path has no control characters; take them out.", "path")
    if max(sizes) > MAX_NAME_BYTES or sum(sizes) > MAX_PATH_BYTES or len(parts) > MAX_DEPTH:
        raise RequestInvalid(
            f"A name has at most {MAX_NAME_BYTES} bytes, a path {MAX_PATH_BYTES} and {MAX_DEPTH} parts; cut it.",
            "path",
        )
    return clean


def _no_such_file(error: OSError) -> Exception:
    return NotFound("File not found") if error.errno in _NO_SUCH_FILE else error


def _not_written(error: OSError) -> Exception:
    if error.errno in _NO_SUCH_FILE:
        return NotFound("Workspace not found")
    if error.errno in _NO_ROOM:
        return StorageFull(f"The file could not be written ({error.strerror}); make room on the disk.")
    return MachineFault(f"The file could not be written ({error.strerror}); see whether DATA_DIR can be written to.")
