import csv
import io
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from appliance.errors import ActionFailed
from appliance.filenames import clean_name, free_name
from appliance.workspaces.csv_text import normalise
from appliance.workspaces.scratchpad import DESCRIPTION, MAX_FILE_BYTES, MAX_FILES, MAX_TOTAL_BYTES, Scratchpad


@pytest.fixture
def pad(tmp_path: Path) -> Scratchpad:
    return Scratchpad(tmp_path / "pad")


def test_text_is_written_appended_replaced_and_read(pad: Scratchpad):
    assert pad.write("notes.md", "one\n").size == 4
    pad.append("notes.md", "two two\n")
    assert pad.replace("notes.md", "two", "2") == 2
    assert pad.read("notes.md") == "one\n2 2\n"
    assert [entry.name for entry in pad.listing()] == ["notes.md", "todo.md"]


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
    with pytest.raises(ActionFailed, match=r"no file b\.md; there are: a\.md, todo\.md"):
        pad.read("b.md")


def test_text_under_a_binary_ending_is_refused(pad: Scratchpad):
    with pytest.raises(ActionFailed, match=r"\.pdf is not a text format"):
        pad.write("report.pdf", "x")


@pytest.mark.parametrize("name", ["shot.png", "photo.JPG", "anim.gif"])
def test_a_picture_is_refused_with_the_reason(pad: Scratchpad, name: str):
    with pytest.raises(ActionFailed, match="only text can be written here"):
        pad.write(name, "iVBORw0KGgo=")


@pytest.mark.parametrize(("name", "why"), [("a.pdf", "is a PDF"), ("a.png", "is a picture"), ("a.md", "not a text")])
def test_what_is_no_text_is_not_read_and_the_reason_is_told(pad: Scratchpad, name: str, why: str):
    pad.write_bytes(name, b"\xff\xd8\xff")
    with pytest.raises(ActionFailed, match=why):
        pad.read(name)


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


def test_everything_is_there_again_when_the_folder_is_opened_again(pad: Scratchpad):
    pad.write("todo.md", "- [x] look")
    pad.write("notes.md", "kept")
    again = Scratchpad(pad.root)
    assert (again.todo, again.read("notes.md")) == ("- [x] look", "kept")
    assert again.listing() == pad.listing()


def test_the_folder_is_full_at_a_number_of_files_and_of_bytes(pad: Scratchpad):
    for number in range(MAX_FILES - 1):
        (pad.root / f"{number}.txt").touch()
    with pytest.raises(ActionFailed, match="which is the limit"):
        pad.write("one-more.txt", "x")
    pad.write("0.txt", "those there are can be written")
    with (pad.root / "1.txt").open("wb") as file:
        file.truncate(MAX_TOTAL_BYTES)
    with pytest.raises(ActionFailed, match="together would have more"):
        pad.write("0.txt", "x")


def test_a_table_is_written_in_the_standard_form(pad: Scratchpad):
    pad.write("a.csv", 'name,size\n\nMug "red", large\n')
    assert (pad.root / "a.csv").read_bytes() == b'name,size\r\n"Mug ""red""", large\r\n'
    pad.append("a.csv", "Bowl,2")
    assert pad.read("a.csv").splitlines()[-1] == "Bowl,2"
    assert pad.replace("a.csv", "large\nBowl", "small\nBowl") == 1
    assert (pad.root / "a.csv").read_bytes().count(b"\r\n") == 3


def test_a_description_shows_short_files_whole_and_both_ends_of_long_ones(pad: Scratchpad):
    assert pad.describe() == ""
    pad.write("short.md", "one\ntwo")
    assert pad.describe() == "short.md (7 bytes): one two"
    pad.write("long.md", "a" * 500 + "b" * 500)
    long, short = pad.describe().splitlines()
    assert long == f"long.md (1000 bytes): {'a' * 200} … (600 characters more) … {'b' * 200}"
    assert short.endswith("one two")


def test_a_description_stays_short_and_names_every_file(pad: Scratchpad):
    for number in range(30):
        pad.write(f"note-{number:02}.md", f"{number:02}" * 200)
    described = pad.describe()
    assert len(described.splitlines()) == 30
    assert len(described) < 30 * 30 + DESCRIPTION
    # There is room for the newest.
    assert ": 2929" in described
    assert ": 0000" not in described


def test_files_that_a_description_hides_take_no_room_from_the_others(pad: Scratchpad):
    pad.write("plan.md", "first this, then that, " * 20)
    for number in range(4):
        pad.write(f"evidence_{number}.md", "z" * 5_000)
    assert "first this" not in pad.describe()
    described = pad.describe(lambda name: name.startswith("evidence_"))
    assert described == f"plan.md (460 bytes): {'first this, then that, ' * 20}".rstrip()


@settings(max_examples=300, deadline=None)
@given(st.text())
def test_any_name_is_refused_or_stays_in_the_folder(tmp_path_factory: pytest.TempPathFactory, wanted: str):
    pad = Scratchpad(tmp_path_factory.getbasetemp() / "any" / "pad")
    before = set(pad.root.parent.iterdir())
    try:
        saved = pad.write(wanted, "x")
    except ActionFailed:
        return
    assert set(pad.root.parent.iterdir()) == before
    assert (pad.root / saved.name).read_text().strip() == "x"
    assert pad.read(wanted).strip() == "x"
    assert clean_name(saved.name) == saved.name
    (pad.root / saved.name).unlink()


@settings(deadline=None)
@given(st.lists(st.lists(st.text(st.characters(exclude_categories=["Cs", "Cc"])), min_size=2), min_size=1))
def test_a_table_says_the_same_in_the_standard_form(rows: list[list[str]]):
    text = "\n".join(",".join('"' + cell.replace('"', '""') + '"' for cell in row) for row in rows)
    once = normalise(text)
    assert list(csv.reader(io.StringIO(once, newline=""))) == rows
    assert normalise(once) == once


@given(st.text())
def test_any_text_can_be_made_a_table(text: str):
    once = normalise(text)
    assert normalise(once) == once or "\\n" in text


def test_the_todo_list_is_there_and_empty_until_written(pad: Scratchpad):
    assert pad.todo == ""
    assert (pad.root / "todo.md").is_file()
    pad.write("todo.md", "- [ ] look")
    assert pad.todo == "- [ ] look"


def test_a_half_written_file_of_a_crash_is_swept_at_start(pad: Scratchpad):
    (pad.root / ".tmp-123").write_text("half")
    assert [entry.name for entry in Scratchpad(pad.root).listing()] == ["todo.md"]
    assert not (pad.root / ".tmp-123").exists()


def test_a_name_that_is_taken_gets_a_number(tmp_path: Path):
    (tmp_path / "a.csv").write_text("")
    (tmp_path / "a(1).csv").write_text("")
    assert free_name(tmp_path, "a.csv") == "a(2).csv"
