from pathlib import Path

import pytest

from appliance.agent.archive import MAX_PART, Archive, is_evidence
from appliance.workspaces.scratchpad import Scratchpad


def test_what_is_kept_can_be_read_as_a_file_of_the_scratchpad(tmp_path: Path):
    archive = Archive(Scratchpad(tmp_path).root)
    assert archive.names == ""
    archive.keep("# Step 1\nThe price is 39.90 €.")
    archive.keep("# Step 2")
    assert archive.names == "evidence_1.md"
    assert Scratchpad(tmp_path).read("evidence_1.md") == "# Step 1\nThe price is 39.90 €.\n\n# Step 2\n\n"
    assert is_evidence("evidence_1.md")


def test_secrets_are_redacted_before_anything_is_written(tmp_path: Path):
    archive = Archive(tmp_path, lambda text: text.replace("hunter2", "<secret>password</secret>"))
    archive.keep("typed hunter2")
    assert (tmp_path / "evidence_1.md").read_text() == "typed <secret>password</secret>\n\n"


def test_a_long_archive_goes_on_in_further_files_each_of_which_can_be_read_at_once(tmp_path: Path):
    archive = Archive(tmp_path)
    for number in range(30):
        archive.keep(f"{number} " + "x" * 5_000)
    assert archive.names == "evidence_1.md to evidence_5.md"
    sizes = [path.stat().st_size for path in tmp_path.iterdir()]
    assert max(sizes) <= MAX_PART
    assert sum(sizes) > 150_000


def test_a_later_run_goes_on_in_a_new_file(tmp_path: Path):
    Archive(tmp_path).keep("first run")
    archive = Archive(tmp_path)
    archive.keep("second run")
    assert archive.names == "evidence_2.md"
    assert (tmp_path / "evidence_1.md").read_text() == "first run\n\n"


def test_a_folder_that_is_gone_or_a_link_in_its_place_does_not_end_the_run(tmp_path: Path):
    gone = Archive(tmp_path / "gone")
    gone.keep("text")
    assert gone.names == ""
    (tmp_path / "evidence_1.md").symlink_to(tmp_path / "elsewhere")
    linked = Archive(tmp_path)
    linked.keep("text")
    (tmp_path / "evidence_2.md").unlink()
    (tmp_path / "evidence_2.md").symlink_to(tmp_path / "elsewhere")
    linked.keep("text")
    assert linked.names == ""
    assert not (tmp_path / "elsewhere").exists()


@pytest.mark.parametrize("name", ["evidence_x.md", "evidence_.md", "evidence.md"])
def test_other_files_of_like_names_do_not_count(tmp_path: Path, name: str):
    (tmp_path / name).write_text("mine")
    archive = Archive(tmp_path)
    archive.keep("text")
    assert archive.names == "evidence_1.md"
