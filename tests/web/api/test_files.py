from datetime import timedelta
from urllib.parse import unquote, urlsplit
from uuid import UUID

import httpx
import pytest

from appliance.runtime.folders import SessionFolders
from tests.web.api.running import RunningServer


@pytest.fixture
def folders(server: RunningServer, http: httpx.Client) -> SessionFolders:
    """The folders of a session with three files and some that are nobody's business."""
    folders = SessionFolders.of(server.settings, UUID(http.post("/v3/sessions").json()["id"]))
    folders.make()
    (folders.scratchpad / "todo.md").write_text("- one")
    (folders.scratchpad / ".tmp-1").write_text("half")
    (folders.downloads / "Größe 数.csv").write_text("a,b\n")
    (folders.downloads / "page.html").write_text("<script>alert(1)</script>")
    (folders.downloads / "0b9b2b1c-6f0e-4a4e-9a54-0d1c5a4b7f10").write_text("half a download")
    (folders.downloads / "link.txt").symlink_to("/etc/passwd")
    (folders.root / "history.json").write_text("[]\n")
    return folders


def address(folders: SessionFolders) -> str:
    return f"/v3/sessions/{folders.root.name}/files"


def paths(answer: httpx.Response) -> list[str]:
    return [file["path"] for file in answer.json()["files"]]


@pytest.mark.parametrize("base", ["/v3", "/api/v3"])
def test_scratchpad_and_downloads_are_listed(http: httpx.Client, folders: SessionFolders, base: str) -> None:
    answer = http.get(f"{base}/sessions/{folders.root.name}/files")
    assert paths(answer) == ["downloads/Größe 数.csv", "downloads/page.html", "scratchpad/todo.md"]
    todo = answer.json()["files"][2]
    assert todo["size"] == 5
    assert todo["lastModified"].endswith("Z") or "+" in todo["lastModified"]
    assert todo["url"] is None
    assert answer.json()["hasMore"] is False


def test_a_list_goes_on_behind_its_cursor(http: httpx.Client, folders: SessionFolders) -> None:
    first = http.get(address(folders), params={"limit": 2}).json()
    assert first["hasMore"]
    rest = http.get(address(folders), params={"limit": 2, "cursor": first["nextCursor"]})
    assert paths(rest) == ["scratchpad/todo.md"]
    assert rest.json()["nextCursor"] is None


def test_a_prefix_is_the_beginning_of_a_path(http: httpx.Client, folders: SessionFolders) -> None:
    assert paths(http.get(address(folders), params={"prefix": "downloads/p"})) == ["downloads/page.html"]
    shallow = http.get(address(folders), params={"shallow": "true"})
    assert (paths(shallow), shallow.json()["folders"]) == ([], ["downloads", "scratchpad"])
    assert http.get(address(folders), params={"prefix": "x", "cursor": "downloads/a"}).status_code == 422


def test_a_file_is_fetched_by_its_link_without_a_key(
    server: RunningServer, http: httpx.Client, folders: SessionFolders
) -> None:
    files = http.get(address(folders), params={"includeUrls": "true"}).json()["files"]
    for file, text in zip(files, ["a,b\n", "<script>alert(1)</script>", "- one"], strict=True):
        answer = httpx.get(file["url"], trust_env=False)
        assert (answer.status_code, answer.text) == (200, text)
        assert answer.headers["content-disposition"].startswith("attachment")
        assert answer.headers["content-type"].startswith("application/octet-stream")
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert httpx.get(file["url"].replace("token=", "token=1"), trust_env=False).status_code == 404


@pytest.mark.parametrize(
    "path",
    [
        "downloads/link.txt",
        "downloads/..%2Fhistory.json",
        "downloads/..",
        "..%2F..%2Fpilothouse.db/x",
        "screenshots/x.jpg",
        "scratchpad/.tmp-1",
        "scratchpad/a%00b",
        "scratchpad/missing.md",
    ],
)
def test_nothing_else_can_be_fetched(server: RunningServer, folders: SessionFolders, path: str) -> None:
    plain = f"/files/{folders.root.name}/{unquote(path)}"
    link = server.appliance.signer.link("", plain, timedelta(minutes=1))
    token = urlsplit(link).query.rpartition("token=")[2]
    answer = httpx.get(f"{server.url}/files/{folders.root.name}/{path}?token={token}", trust_env=False)
    assert answer.status_code == 404


def test_the_files_of_a_session_that_is_not_there_are_404(http: httpx.Client, folders: SessionFolders) -> None:
    http.delete(f"/v3/sessions/{folders.root.name}")
    assert http.get(address(folders)).status_code == 404
    assert list(folders.downloads.iterdir())
