from pathlib import Path

import pytest

from appliance.errors import ActionFailed
from appliance.workspaces.files import MOST_TOLD, Files
from appliance.workspaces.scratchpad import Scratchpad
from appliance.workspaces.workspace import Workspace


@pytest.fixture
def scratchpad(tmp_path: Path) -> Scratchpad:
    return Scratchpad(tmp_path / "scratchpad")


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    workspace = Workspace(tmp_path / "workspace", max_bytes=1_000)
    workspace.make()
    return workspace


@pytest.fixture
def files(scratchpad: Scratchpad, workspace: Workspace) -> Files:
    return Files(scratchpad, workspace)


def kept(workspace: Workspace) -> list[str]:
    return [file.path for file in workspace.list_files()]


def named(scratchpad: Scratchpad) -> list[str]:
    return [entry.name for entry in scratchpad.listing()]


def test_without_a_workspace_everything_is_of_the_scratchpad(scratchpad: Scratchpad):
    files = Files(scratchpad)
    files.write("report.md", "one")
    files.append("report.md", " two")
    assert files.replace("report.md", "two", "three") == 1
    assert (scratchpad.read("report.md"), files.read("report.md")) == ("one three", "one three")
    assert files.describe() == scratchpad.describe()


def test_a_file_of_the_agents_own_outlives_the_session(files: Files, workspace: Workspace, scratchpad: Scratchpad):
    assert files.write("report.md", "one").name == "report.md"
    files.write("todo.md", "- read")
    assert (kept(workspace), named(scratchpad)) == (["report.md"], ["todo.md"])
    later = Files(Scratchpad(scratchpad.root.with_name("later")), workspace)
    later.append("report.md", " two")
    assert later.replace("report.md", "one", "1") == 1
    assert later.read("report.md") == "1 two"


def test_what_the_scratchpad_has_stays_there(files: Files, workspace: Workspace, scratchpad: Scratchpad):
    scratchpad.write("extracted_content_1.md", "long")
    files.append("extracted_content_1.md", "er")
    assert (scratchpad.read("extracted_content_1.md"), kept(workspace)) == ("longer", [])


def test_files_in_folders_are_read_and_written_by_their_paths(files: Files, workspace: Workspace):
    with workspace.begin("2026/Jan uary.csv", 9) as arrival:
        arrival.write(b"a,b\r\n1,2\n")
        arrival.finish()
    assert files.read("2026/Jan uary.csv") == "a,b\n1,2\n"
    files.append("2026/feb.csv", "a,b")
    files.append("2026/feb.csv", "1,2")
    assert files.path_of("2026/feb.csv").read_bytes() == b"a,b\r\n1,2\r\n"
    assert [entry.name for entry in files.listing()] == ["todo.md", "2026/Jan uary.csv", "2026/feb.csv"]


@pytest.mark.parametrize("name", ["../../up.md", "/etc/up.md", "a/../../up.md", "./up.md", "..\\up.md"])
def test_no_name_leads_out_of_the_workspace(files: Files, workspace: Workspace, name: str):
    saved = files.write(name, "x")
    assert kept(workspace) == [saved.name]
    assert saved.name.endswith("up.md")
    assert ".." not in saved.name.split("/")
    assert files.read(saved.name) == "x"


def test_names_are_cleaned_and_found_again_as_they_were_asked_for(files: Files):
    assert files.write("My report: 100%.md", "x").name == "My-report-100.md"
    assert files.read("My report: 100%.md") == "x"


@pytest.mark.parametrize("name", ["in/my report.md", "log 1.md", "Data.CSV.md", "cafe\u0301.md"])
def test_a_file_that_is_there_is_changed_under_the_name_it_has(files: Files, workspace: Workspace, name: str):
    with workspace.begin(name, 3) as arrival:
        arrival.write(b"one")
        arrival.finish()
    files.append(name, " two")
    assert files.replace(name, "one", "1") == 1
    assert files.read(name) == "1 two"
    files.write(name, "new")
    assert files.read(name) == "new"
    assert len(kept(workspace)) == 1


def test_a_number_makes_a_name_that_neither_place_has(files: Files, scratchpad: Scratchpad):
    files.write("page.md", "x")
    scratchpad.write("page(1).md", "x")
    assert files.free_name("page.md") == "page(2).md"


def test_secrets_are_taken_out_of_what_is_written(files: Files, scratchpad: Scratchpad):
    scratchpad.clean = lambda text: text.replace("hunter2", "<secret>")
    files.write("a.md", "hunter")
    files.append("a.md", "2")
    assert files.read("a.md") == "<secret>"


def test_a_full_workspace_a_missing_file_and_no_text_are_told(files: Files):
    files.write("a.md", "x" * 900)
    with pytest.raises(ActionFailed, match="1000 bytes"):
        files.write_bytes("b.bin", b"x" * 200)
    with pytest.raises(ActionFailed, match=r"There is no file c\.md; there are: todo\.md, a\.md\."):
        files.read("c.md")
    with pytest.raises(ActionFailed, match="not in a"):
        files.replace("a.md", "y", "z")
    with pytest.raises(ActionFailed, match="picture"):
        files.write("a.png", "x")


def test_the_newest_files_of_the_workspace_are_told(files: Files, workspace: Workspace):
    assert files.describe() == "workspace, which outlives this task: empty"
    for number in range(MOST_TOLD + 2):
        files.write(f"{number}.md", "x")
    told = files.describe()
    assert told.startswith("workspace, which outlives this task: ")
    assert told.endswith(" and 2 older")
    assert told.count("bytes") == MOST_TOLD


def test_the_files_of_a_deleted_workspace_are_gone(files: Files, workspace: Workspace):
    files.write("a.md", "x")
    workspace.destroy()
    with pytest.raises(ActionFailed, match="no file"):
        files.read("a.md")
    with pytest.raises(ActionFailed, match="Workspace not found"):
        files.write("b.md", "x")
    assert not workspace.files.exists()
