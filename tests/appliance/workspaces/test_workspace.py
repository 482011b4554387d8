import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import given
from hypothesis import strategies as st

from appliance.errors import NotFound, RequestInvalid, StorageFull
from appliance.workspaces.workspace import Workspace, clean_path

DECOMPOSED, COMPOSED = "cafe\u0301.txt", "caf\u00e9.txt"


@pytest.fixture
def workspace(tmp_path):
    workspace = Workspace(tmp_path / "one", max_bytes=1_000)
    workspace.make()
    return workspace


def put(workspace, path, data=b"x"):
    with workspace.begin(path, len(data)) as arrival:
        arrival.write(data)
        arrival.finish()


def read(workspace, path):
    with workspace.open(path) as file:
        return file.read()


def names(folder):
    return [entry.name for entry in folder.iterdir()]


def paths(workspace, prefix=""):
    return [file.path for file in workspace.list_files(prefix)]


def test_a_workspace_that_nothing_came_into_is_empty(workspace):
    assert (paths(workspace), workspace.used_bytes()) == ([], 0)
    with pytest.raises(NotFound):
        workspace.open("a.txt")


def test_files_are_listed_by_path_where_their_path_begins_with_the_text(workspace):
    for path in ("b/two.txt", "b/one.txt", "bill.txt", "a.txt"):
        put(workspace, path)
    assert paths(workspace) == ["a.txt", "b/one.txt", "b/two.txt", "bill.txt"]
    assert paths(workspace, "b") == ["b/one.txt", "b/two.txt", "bill.txt"]
    assert paths(workspace, "b/t") == ["b/two.txt"]
    assert paths(workspace, "b/one.txt/") == []


def test_a_file_that_comes_again_takes_the_place_of_the_one_before(workspace):
    put(workspace, "a/b.txt", b"old and long")
    put(workspace, "a/b.txt", b"new")
    assert (read(workspace, "a/b.txt"), workspace.used_bytes()) == (b"new", 3)


def test_nothing_is_seen_of_a_file_before_it_is_whole(workspace, tmp_path):
    with workspace.begin("a.txt", 4) as arrival:
        arrival.write(b"ab")
        assert paths(workspace) == []
    assert list(tmp_path.glob("one/arriving/*")) == []


@pytest.mark.parametrize("data", [b"abc", b"abcde"])
def test_a_file_shorter_or_longer_than_announced_is_refused_and_what_was_there_stays(workspace, data):
    put(workspace, "a.txt", b"before")
    with pytest.raises(RequestInvalid, match="announced"), workspace.begin("a.txt", 4) as arrival:
        arrival.write(data)
        arrival.finish()
    assert read(workspace, "a.txt") == b"before"


def test_what_has_no_room_is_refused_before_it_arrives_and_what_is_on_its_way_counts(workspace):
    put(workspace, "a", b"x" * 900)
    with pytest.raises(StorageFull, match="1000 bytes and has 900"):
        workspace.begin("b", 101)
    workspace.begin("a", 1_000).close()
    with workspace.begin("b", 60) as arrival:
        with pytest.raises(StorageFull, match="has 960"):
            workspace.begin("c", 41)
        arrival.write(b"x" * 60)
        arrival.finish()
    assert paths(workspace) == ["a", "b"]


def test_a_file_that_the_disk_takes_in_part_only_is_refused(tmp_path):
    script = """
import resource, signal, sys
from pathlib import Path
from appliance.errors import StorageFull
from appliance.workspaces.workspace import Workspace
workspace = Workspace(Path(sys.argv[1]), 10_000)
workspace.make()
with workspace.begin("a", 1_500) as arrival:
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1_000, 1_000))
    try:
        arrival.write(b"x" * 1_500)
    except StorageFull:
        print("refused")
"""
    command = [sys.executable, "-c", script, tmp_path]
    assert subprocess.run(command, capture_output=True, text=True, check=True).stdout == "refused\n"


def test_two_deletes_in_one_folder_do_not_get_in_each_others_way(workspace):
    for name in ("a/b/c", "a/b/d"):
        put(workspace, name)
    with ThreadPoolExecutor(2) as pool:
        list(pool.map(workspace.delete, ("a/b/c", "a/b/d")))
    assert names(workspace.files) == []


def test_nothing_comes_into_a_workspace_that_was_deleted_meanwhile(workspace):
    with workspace.begin("a", 1) as arrival:
        arrival.write(b"x")
        workspace.destroy()
        with pytest.raises(NotFound):
            arrival.finish()
    with pytest.raises(NotFound):
        workspace.begin("a", 1)
    assert not workspace.files.exists()


def test_names_that_look_alike_are_one_file(workspace):
    put(workspace, DECOMPOSED, b"1")
    put(workspace, COMPOSED, b"2")
    assert paths(workspace) == [COMPOSED]
    assert read(workspace, DECOMPOSED) == b"2"


@pytest.mark.parametrize(
    "path",
    [
        *("", "/", "/a", "a/", "a//b", ".", "..", "../a", "a/../b", "a/./b", "a\0b", "a\nb", "\x7f"),
        *("x" * 256, "\u00e4" * 128, "/".join("a" * 33), "/".join(["y" * 250] * 5), "\ud800"),
    ],
)
def test_a_path_that_could_lead_elsewhere_or_is_none_is_refused(workspace, path):
    for use in (workspace.open, workspace.delete, lambda path: workspace.begin(path, 1)):
        with pytest.raises(RequestInvalid):
            use(path)


@given(st.text(max_size=40))
def test_a_path_that_is_taken_stays_as_it_is_and_has_no_part_that_leads_up(path):
    try:
        clean = clean_path(path)
    except RequestInvalid:
        return
    assert clean_path(clean) == clean
    assert not {"", ".", ".."} & set(clean.split("/"))


def test_links_are_neither_listed_nor_read_nor_written_through(workspace, tmp_path):
    put(workspace, "real/a.txt")
    (tmp_path / "secret").mkdir()
    (tmp_path / "secret" / "key").write_text("secret")
    (workspace.files / "file").symlink_to(tmp_path / "secret" / "key")
    (workspace.files / "folder").symlink_to(tmp_path / "secret")
    assert paths(workspace) == ["real/a.txt"]
    for path in ("file", "folder/key"):
        with pytest.raises(NotFound):
            workspace.open(path)
        with pytest.raises(NotFound):
            workspace.delete(path)
    with pytest.raises(RequestInvalid):
        put(workspace, "folder/new")
    put(workspace, "file", b"own")
    assert (read(workspace, "file"), (tmp_path / "secret" / "key").read_text()) == (b"own", "secret")
    assert names(tmp_path / "secret") == ["key"]


def test_a_pipe_that_lies_there_is_no_file(workspace):
    put(workspace, "a")
    os.mkfifo(workspace.files / "pipe")
    with pytest.raises(NotFound):
        workspace.open("pipe")


def test_a_file_is_no_folder_and_a_folder_no_file(workspace):
    put(workspace, "a/b")
    for path in ("a", "a/b/c"):
        with pytest.raises(RequestInvalid, match="is a f"):
            put(workspace, path)
    for path in ("a", "a/b/c"):
        with pytest.raises(NotFound):
            workspace.open(path)
        with pytest.raises(NotFound):
            workspace.delete(path)
    assert paths(workspace) == ["a/b"]


def test_the_last_file_of_a_folder_takes_the_folder_with_it(workspace):
    for path in ("a/b/c", "a/d"):
        put(workspace, path)
    workspace.delete("a/b/c")
    assert names(workspace.files / "a") == ["d"]
    workspace.delete("a/d")
    assert names(workspace.files) == []
    with pytest.raises(NotFound):
        workspace.delete("a/d")


def test_a_workspace_that_is_destroyed_is_gone_while_what_is_open_is_read_to_its_end(workspace, tmp_path):
    put(workspace, "a", b"abc")
    with workspace.open("a") as file:
        workspace.destroy()
        assert file.read() == b"abc"
    assert list(tmp_path.iterdir()) == []
    workspace.destroy()
