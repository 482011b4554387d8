from pathlib import Path

import pytest

from appliance.errors import ActionFailed
from appliance.filenames import clean_name, free_name
from appliance.workspaces.scratchpad import MAX_FILE_BYTES, Scratchpad


@pytest.fixture
def pad(tmp_path: Path) -> Scratchpad:
    return Scratchpad(tmp_path / "pad")


def test_text_is_written_appended_replaced_and_read(pad: Scratchpad):
    assert pad.write("notes.md", "one\n").size == 4
    pad.append("notes.md", "two two\n")
    assert pad.replace("notes.md", "two", "2") == 2
    assert pad.read("notes.md") == "one\n2 2\n"
    assert [entry.name for entry in pad.listing()] == ["notes.md"]


@pytest.mark.parametrize(
    ("wanted", "name"),
    [
        ("../../etc/passwd", "etc-passwd"),
        ("/etc/shadow", "etc-shadow"),
        ("a/b.md", "a-b.md"),
        ("C:\\temp\\x.TXT", "C-temp-x.txt"),
        (".hidden", "hidden"),
        ("Größe (1).csv", "Größe-(1).csv"),
        ("a\x00b\n.md", "a-b.md"),
        ("日本語.md", "日本語.md"),
        ("...", None),
        ("", None),
    ],
)
def test_a_name_never_leaves_the_folder(wanted: str, name: str | None):
    if name is None:
        with pytest.raises(ActionFailed, match="not a file name"):
            clean_name(wanted)
    else:
        assert clean_name(wanted) == name


def test_a_long_name_keeps_its_ending_and_fits_the_file_system(pad: Scratchpad):
    saved = pad.write("ä" * 400 + ".json", "{}")
    assert saved.name.endswith(".json")
    assert len(saved.name.encode()) <= 120


def test_a_link_is_neither_read_nor_written_through(pad: Scratchpad, tmp_path: Path):
    outside = tmp_path / "outside.txt"
    outside.write_text("secret")
    (pad.root / "link.txt").symlink_to(outside)
    with pytest.raises(ActionFailed, match="There is no file"):
        pad.read("link.txt")
    with pytest.raises(ActionFailed):
        pad.path_of("link.txt")
    pad.write("link.txt", "mine")
    assert outside.read_text() == "secret"
    assert pad.read("link.txt") == "mine"


def test_a_missing_file_is_answered_with_the_names_there_are(pad: Scratchpad):
    pad.write("a.md", "x")
    with pytest.raises(ActionFailed, match=r"no file b\.md; there are: a\.md"):
        pad.read("b.md")


def test_text_under_a_binary_ending_is_refused(pad: Scratchpad):
    with pytest.raises(ActionFailed, match=r"\.pdf is not a text format"):
        pad.write("report.pdf", "x")


def test_binary_content_is_not_read_as_text(pad: Scratchpad):
    pad.write_bytes("shot.jpg", b"\xff\xd8\xff")
    with pytest.raises(ActionFailed, match="not a text file"):
        pad.read("shot.jpg")


def test_a_file_over_the_limit_is_refused_and_the_old_one_stays(pad: Scratchpad):
    pad.write("big.txt", "small")
    with pytest.raises(ActionFailed, match="one file may have"):
        pad.write("big.txt", "x" * (MAX_FILE_BYTES + 1))
    assert pad.read("big.txt") == "small"


def test_replacing_what_is_not_there_says_so(pad: Scratchpad):
    pad.write("a.md", "text")
    with pytest.raises(ActionFailed, match=r"not in a\.md"):
        pad.replace("a.md", "other", "x")
    with pytest.raises(ActionFailed):
        pad.replace("a.md", "", "x")


def test_extracts_are_numbered_on_even_after_a_restart(pad: Scratchpad):
    assert pad.next_extract_name() == "extracted_content_1.md"
    pad.write(pad.next_extract_name(), "x")
    pad.write("extracted_content_7.md", "x")
    assert Scratchpad(pad.root).next_extract_name() == "extracted_content_8.md"


def test_the_todo_list_is_empty_until_written(pad: Scratchpad):
    assert pad.todo == ""
    pad.write("todo.md", "- [ ] look")
    assert pad.todo == "- [ ] look"


def test_a_half_written_file_of_a_crash_is_swept_at_start(pad: Scratchpad):
    (pad.root / ".tmp-123").write_text("half")
    assert Scratchpad(pad.root).listing() == ()
    assert not (pad.root / ".tmp-123").exists()


def test_a_name_that_is_taken_gets_a_number(tmp_path: Path):
    (tmp_path / "a.csv").write_text("")
    (tmp_path / "a(1).csv").write_text("")
    assert free_name(tmp_path, "a.csv") == "a(2).csv"
