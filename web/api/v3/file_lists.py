"""Lists of files a stretch at a time, as the calls of sessions and of workspaces give them."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Annotated

from litestar.params import FromQuery, QueryParameter

from appliance.errors import RequestInvalid
from appliance.workspaces.workspace import StoredFile
from web.api.v3.shapes.files import FileInfoView, FileListView


@dataclass(frozen=True)
class FileQuery:
    """Which files are asked for: `prefix` is the text that their paths begin with, not a folder."""

    prefix: str
    limit: int
    cursor: str
    include_urls: bool
    shallow: bool


def read_query(
    prefix: FromQuery[str] = "",
    limit: Annotated[int, QueryParameter(ge=1, le=100)] = 50,
    cursor: FromQuery[str] = "",
    include_urls: Annotated[bool, QueryParameter(name="includeUrls")] = False,
    shallow: FromQuery[bool] = False,
) -> FileQuery:
    """Return what the query of a request asks for; raises RequestInvalid for the cursor of another list."""
    if cursor and not cursor.startswith(prefix):
        raise RequestInvalid("This cursor is of another list; leave it out to begin anew.", "query", "cursor")
    return FileQuery(prefix, limit, cursor, include_urls, shallow)


def list_stretch(found: Sequence[StoredFile], asked: FileQuery, url_of: Callable[[str], str]) -> FileListView:
    """Return what is asked for of all files, which come by path; `url_of` makes the address that opens a path."""
    matching = [file for file in found if file.path.startswith(asked.prefix)]
    folders: list[str] = []
    if asked.shallow:
        below = {file.path: file.path[len(asked.prefix) :].partition("/") for file in matching}
        folders = sorted({name for name, slash, _ in below.values() if slash})
        matching = [file for file in matching if not below[file.path][1]]
    matching = [file for file in matching if file.path > asked.cursor]
    shown = matching[: asked.limit]
    has_more = len(matching) > len(shown)
    return FileListView(
        files=[
            FileInfoView(
                path=file.path,
                size=file.size,
                last_modified=file.modified,
                url=url_of(file.path) if asked.include_urls else None,
            )
            for file in shown
        ],
        folders=folders,
        next_cursor=shown[-1].path if has_more else None,
        has_more=has_more,
    )
