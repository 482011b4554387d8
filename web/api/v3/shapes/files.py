"""The JSON of files as the v3 API has it."""

from datetime import datetime

from msgspec import Struct, field


class FileInfoView(Struct, rename="camel", kw_only=True):
    """One file: `path` is relative and `/`-separated, `size` in bytes, `url` good for some minutes."""

    path: str
    size: int
    last_modified: datetime
    url: str | None = None


class FileListView(Struct, rename="camel", kw_only=True):
    """A stretch of files by path; `nextCursor` asks for the next, `folders` are names one level below the prefix."""

    files: list[FileInfoView]
    folders: list[str] = field(default_factory=list[str])
    next_cursor: str | None = None
    has_more: bool = False
