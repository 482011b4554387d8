import asyncio
import os
import threading
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit
from uuid import UUID, uuid4

import httpx
import pytest
from browser_use_sdk.v3 import BrowserUse

from appliance.persistence.database import Transaction
from appliance.persistence.keys import add_key
from appliance.persistence.teams import add_team
from tests.web.api.running import RunningServer, run_server


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningServer]:
    yield from run_server(tmp_path_factory.mktemp("server"), workspace_max_mb=3)


@pytest.fixture
def workspace(http: httpx.Client) -> str:
    return http.post("/v3/workspaces", json={"name": "Invoices"}).json()["id"]


def announce(http: httpx.Client, workspace: str, name: str, size: int, prefix: str = "") -> httpx.Response:
    body = {"files": [{"name": name, "size": size}]}
    return http.post(f"/v3/workspaces/{workspace}/files/upload", params={"prefix": prefix}, json=body)


def put(http: httpx.Client, workspace: str, name: str, data: bytes, prefix: str = "") -> httpx.Response:
    (target,) = announce(http, workspace, name, len(data), prefix).json()["files"]
    return httpx.put(target["uploadUrl"], content=data, trust_env=False)


def paths(http: httpx.Client, workspace: str, **query: Any) -> list[str]:
    return [file["path"] for file in http.get(f"/v3/workspaces/{workspace}/files", params=query).json()["files"]]


def test_the_client_makes_lists_renames_and_deletes_workspaces(client: BrowserUse) -> None:
    made = client.workspaces.create(name="Reports")
    nameless = client.workspaces.create()
    assert (made.name, nameless.name) == ("Reports", None)
    found = client.workspaces.list(page_size=2)
    assert [one.id for one in found.items] == [nameless.id, made.id]
    assert found.total_items >= 2
    assert client.workspaces.update(str(made.id), name="Old reports").name == "Old reports"
    assert client.workspaces.get(str(made.id)).updated_at > made.updated_at
    client.workspaces.delete(str(made.id))
    with pytest.raises(Exception, match="Workspace not found"):
        client.workspaces.get(str(made.id))


def test_the_client_sends_files_and_gets_them_back(client: BrowserUse, tmp_path: Path) -> None:
    workspace = str(client.workspaces.create().id)
    contents = {"report.csv": b"a,b\n", "Gr\u00f6\u00dfe \u6570 100%?.bin": os.urandom(2_000_000)}
    for name, data in contents.items():
        (tmp_path / name).write_bytes(data)
    sent = client.workspaces.upload(workspace, *(tmp_path / name for name in contents), prefix="2026/")
    assert sent == [f"2026/{name}" for name in contents]
    client.workspaces.download(workspace, sent[1], to=tmp_path / "back.bin")
    assert (tmp_path / "back.bin").read_bytes() == contents["Gr\u00f6\u00dfe \u6570 100%?.bin"]
    client.workspaces.download_all(workspace, to=tmp_path / "all")
    for name, data in contents.items():
        assert (tmp_path / "all" / "2026" / name).read_bytes() == data
    assert client.workspaces.size(workspace) == {"usedBytes": 2_000_004, "maxBytes": 3_000_000}
    client.workspaces.delete_file(workspace, path=sent[0])
    assert [file.path for file in client.workspaces.files(workspace).files] == [sent[1]]


def test_a_list_takes_a_text_prefix_goes_on_behind_its_cursor_and_tells_folders(
    http: httpx.Client, workspace: str
) -> None:
    for name in ("a.txt", "b/1", "b/2", "bill"):
        assert put(http, workspace, name, b"x").status_code == 200
    assert paths(http, workspace, prefix="b") == ["b/1", "b/2", "bill"]
    first = http.get(f"/v3/workspaces/{workspace}/files", params={"limit": 2}).json()
    assert first["hasMore"]
    assert paths(http, workspace, cursor=first["nextCursor"]) == ["b/2", "bill"]
    shallow = http.get(f"/v3/workspaces/{workspace}/files", params={"shallow": True}).json()
    assert ([file["path"] for file in shallow["files"]], shallow["folders"]) == (["a.txt", "bill"], ["b"])
    assert shallow["files"][0]["url"] is None
    modified = datetime.fromisoformat(shallow["files"][0]["lastModified"])
    assert abs((datetime.now(UTC) - modified).total_seconds()) < 3_600
    for query in ({"limit": 0}, {"limit": 101}, {"prefix": "b", "cursor": "a"}):
        assert http.get(f"/v3/workspaces/{workspace}/files", params=query).status_code == 422


@pytest.mark.parametrize("sent", [b"abc", b"abcde", b""])
def test_an_upload_of_another_size_than_announced_is_refused_and_leaves_nothing(
    http: httpx.Client, workspace: str, sent: bytes
) -> None:
    (target,) = announce(http, workspace, "a.txt", 4).json()["files"]

    def in_pieces() -> Iterator[bytes]:
        yield sent

    for content in (sent, in_pieces()):
        answer = httpx.put(target["uploadUrl"], content=content, trust_env=False)
        assert answer.status_code == 422
        assert "announced" in str(answer.json()["detail"])
    assert paths(http, workspace) == []


def test_an_upload_whose_sender_goes_away_leaves_nothing(
    server: RunningServer, http: httpx.Client, workspace: str
) -> None:
    (target,) = announce(http, workspace, "a.txt", 2_000_000).json()["files"]
    begun = threading.Event()

    def breaks_off() -> Iterator[bytes]:
        yield b"x" * 1_500_000
        begun.set()
        raise ConnectionAbortedError

    with pytest.raises(ConnectionAbortedError):
        httpx.put(target["uploadUrl"], content=breaks_off(), headers={"Content-Length": "2000000"}, trust_env=False)
    assert begun.is_set()
    folder = server.settings.data_dir / "workspaces" / workspace / "arriving"

    async def is_cleared() -> None:
        async with asyncio.timeout(30):
            while any(folder.glob("*")):  # noqa: ASYNC110 - a folder rings no bell
                await asyncio.sleep(0.02)

    server.do(is_cleared)
    assert paths(http, workspace) == []


def test_a_link_opens_one_thing_in_one_way_only(http: httpx.Client, workspace: str) -> None:
    put(http, workspace, "a.txt", b"abc")
    put(http, workspace, "b.txt", b"secret")
    (file, _) = http.get(f"/v3/workspaces/{workspace}/files", params={"includeUrls": True}).json()["files"]
    answer = httpx.get(file["url"], trust_env=False)
    assert (answer.content, answer.headers["Content-Type"]) == (b"abc", "application/octet-stream")
    assert answer.headers["Content-Disposition"].startswith("attachment")
    (target,) = announce(http, workspace, "a.txt", 3).json()["files"]
    token = parse_qs(urlsplit(target["uploadUrl"]).query)["token"][0]
    for method, url in (
        ("PUT", f"{file['url']}&size=3"),
        ("GET", target["uploadUrl"]),
        ("GET", file["url"].replace("a.txt", "b.txt")),
        ("PUT", target["uploadUrl"].replace("a.txt", "c.txt")),
        ("PUT", target["uploadUrl"].replace("size=3", "size=9")),
        ("GET", file["url"].replace(workspace, str(uuid4()))),
        ("PUT", target["uploadUrl"].replace(token, f"1000.{token.partition('.')[2]}")),
        ("GET", file["url"].partition("?")[0]),
    ):
        answer = httpx.request(method, url, content=b"new" if method == "PUT" else None, trust_env=False)
        assert answer.status_code == 404, (method, url)
    assert paths(http, workspace) == ["a.txt", "b.txt"]


@pytest.mark.parametrize(
    "name", ["../a", "a/../../b", "/etc/passwd", "a\0b", "x" * 256, "\u00e4" * 128, ".", "a//b", ""]
)
def test_a_name_that_leads_elsewhere_or_is_none_is_refused(http: httpx.Client, workspace: str, name: str) -> None:
    assert announce(http, workspace, name, 1).status_code == 422
    answer = http.delete(f"/v3/workspaces/{workspace}/files", params={"path": name})
    assert answer.status_code == 422


@pytest.mark.parametrize(
    "files",
    [
        [],
        [{"name": "a", "size": 1}] * 11,
        [{"name": "a", "size": 0}],
        [{"name": "a", "size": -1}],
        [{"name": "a"}],
        [{"name": "a", "size": "x"}],
    ],
)
def test_an_announcement_that_makes_no_sense_is_refused(http: httpx.Client, workspace: str, files: Any) -> None:
    answer = http.post(f"/v3/workspaces/{workspace}/files/upload", json={"files": files})
    assert answer.status_code == 422


def test_names_that_look_alike_are_one_file(http: httpx.Client, workspace: str) -> None:
    put(http, workspace, "cafe\u0301", b"1")
    put(http, workspace, "caf\u00e9", b"22")
    (file,) = http.get(f"/v3/workspaces/{workspace}/files").json()["files"]
    assert (file["path"], file["size"]) == ("caf\u00e9", 2)


def test_a_full_workspace_says_so_before_anything_is_sent(http: httpx.Client, workspace: str) -> None:
    answer = announce(http, workspace, "big", 3_000_001)
    assert answer.status_code == 507
    assert "WORKSPACE_MAX_MB" in answer.json()["detail"]


def test_a_team_sees_its_own_workspaces_only(server: RunningServer, workspace: str) -> None:
    async def make(transaction: Transaction) -> None:
        await add_key(transaction, "theirs", "bu_theirs", team_id=(await add_team(transaction, "Theirs")).id)

    server.write(make)
    with server.client(headers={"X-Browser-Use-API-Key": "bu_theirs"}) as theirs:
        assert theirs.get("/v3/workspaces").json()["totalItems"] == 0
        for method, path in (
            *(("GET", ""), ("DELETE", ""), ("GET", "/files"), ("GET", "/size"), ("DELETE", "/files?path=a")),
            ("PATCH", ""),
            ("POST", "/files/upload"),
        ):
            body: Any = {"PATCH": {"name": "mine"}, "POST": {"files": [{"name": "a", "size": 1}]}}.get(method)
            answer = theirs.request(method, f"/v3/workspaces/{workspace}{path}", json=body)
            assert answer.status_code == 404, (method, path)
        own = theirs.post("/v3/workspaces").json()["id"]
        assert [one["id"] for one in theirs.get("/v3/workspaces").json()["items"]] == [own]


def test_a_deleted_workspace_takes_its_files_and_links_with_it(
    server: RunningServer, http: httpx.Client, workspace: str
) -> None:
    put(http, workspace, "a.txt", b"abc")
    (file,) = http.get(f"/v3/workspaces/{workspace}/files", params={"includeUrls": True}).json()["files"]
    (target,) = announce(http, workspace, "b.txt", 1).json()["files"]
    assert http.delete(f"/v3/workspaces/{workspace}").status_code == 204
    assert httpx.get(file["url"], trust_env=False).status_code == 404
    assert httpx.put(target["uploadUrl"], content=b"x", trust_env=False).status_code == 404
    assert not (server.settings.data_dir / "workspaces" / workspace).exists()
    assert http.delete(f"/v3/workspaces/{workspace}").status_code == 404


def test_what_a_crash_has_left_is_swept_away_and_what_is_not_ours_stays(
    server: RunningServer, http: httpx.Client, workspace: str
) -> None:
    put(http, workspace, "a.txt", b"abc")
    root = server.settings.data_dir / "workspaces"
    for name in (str(uuid4()), f".{uuid4()}-{uuid4().hex}", "lost+found"):
        (root / name / "files").mkdir(parents=True)
    (root / ".DS_Store").touch()
    (root / workspace / "arriving" / "half").write_text("half")
    for _ in range(2):
        server.do(server.appliance.workspaces.sweep)
    left = {folder.name for folder in root.iterdir()}
    assert {workspace, "lost+found", ".DS_Store"} <= left
    assert all(UUID(name) for name in left - {"lost+found", ".DS_Store"})
    assert list((root / workspace / "arriving").iterdir()) == []
    put(http, workspace, "b.txt", b"abc")
    assert paths(http, workspace) == ["a.txt", "b.txt"]
