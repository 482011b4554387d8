"""Replays of runs that ran scripts, downloaded files and gave them back."""

import os
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from appliance.agent.recorded import RecordedRun
from appliance.browser.connection import Browser
from appliance.words import Completion
from appliance.workspaces.sandbox import Sandbox
from appliance.workspaces.sandbox_start import Direct
from tests.appliance.agent.conftest import Finish
from tests.appliance.agent.replaying import Replaying, Stage
from tests.site import Site

DONE = {"done": {"text": "All is done."}}
SCRIPT = """
page = await browser.evaluate("document.title")
answer = await fetch(URL)
save_json("rows.json", {"title": page, "text": answer.text})
print(page, answer.status)
"""


@pytest.fixture
async def stage(browser: Browser, site: Site, tmp_path: Path) -> Stage:
    stage = Stage(browser, site, tmp_path)
    await browser.downloads.move(tmp_path / "first")
    return stage


@pytest.fixture
async def sandbox() -> AsyncIterator[Sandbox]:
    if os.geteuid() != 0:
        pytest.skip("only root can start programs as another user")
    sandbox = Sandbox(Direct())
    yield sandbox
    await sandbox.close()


async def again(stage: Stage, tmp_path: Path, run: Any, **options: Any) -> Replaying:
    """Do the run again as a session of its own does: in an empty tab, with a folder of its own for downloads."""
    old = await stage.browser.list_tabs()
    await stage.browser.open_tab("about:blank")
    for tab in old:
        await stage.browser.close_tab(tab.tab_id)
    await stage.browser.downloads.move(tmp_path / "second")
    return await stage.again(run, **options)


def states(replayed: Replaying) -> list[tuple[str, str, str]]:
    return [(action.name, action.state, action.why) for action in replayed.report.actions]


async def test_scripts_are_run_again_on_the_page_of_today(
    finish: Finish, stage: Stage, sandbox: Sandbox, tmp_path: Path
):
    site = stage.site
    code = f"URL = {site.url('/attachment?name=a.txt&text=words')!r}\n{SCRIPT}"
    steps = [
        {"navigate": {"url": site.url("/act_files.html")}},
        {"run_code_file": {"name": "rows.py", "code": code}},
        {"run_code_file": {"name": "next.py", "code": "len(answer.text)"}},
        DONE,
    ]
    first, work = await finish(steps, sandbox=sandbox)
    assert first.is_successful
    fresh = Sandbox(Direct())
    replayed = await again(stage, tmp_path, work.recorded, sandbox=fresh)
    await fresh.close()
    assert replayed.report.completion is Completion.COMPLETE, states(replayed)
    assert replayed.outcome.is_successful
    assert (stage.folder / "pad" / "rows.json").read_text() == (tmp_path / "scratchpad" / "rows.json").read_text()
    assert (stage.folder / "pad" / "rows.py").read_text() == code


async def test_a_script_that_cannot_be_run_today_fails_and_says_so(
    finish: Finish, stage: Stage, sandbox: Sandbox, tmp_path: Path
):
    _, work = await finish([{"run_code_file": {"name": "sum.py", "code": "1 + 1"}}, DONE], sandbox=sandbox)
    replayed = await again(stage, tmp_path, work.recorded)
    assert [state for _, state, _ in states(replayed)] == ["failed"]
    assert replayed.report.completion is Completion.FAILED
    assert "There is no run_code_file on this machine today" in replayed.report.actions[0].why, states(replayed)


def handing_over(stage: Stage, file_name: str) -> list[Any]:
    """Return the steps that download the page's report and give the file of that name to the page."""
    return [
        {"navigate": {"url": stage.site.url("/act_leaving.html")}},
        {"click": {"index": {"text": "Report"}}},
        {"wait_for": {"download": True}},
        {"upload_file": {"index": {"label": "File"}, "path": file_name}},
        DONE,
    ]


async def test_a_download_is_made_again_and_given_to_the_page(finish: Finish, stage: Stage, tmp_path: Path):
    first, work = await finish(handing_over(stage, "report.csv"))
    assert first.is_successful
    replayed = await again(stage, tmp_path, work.recorded)
    assert replayed.report.completion is Completion.COMPLETE, states(replayed)
    assert [path.name for path in (tmp_path / "second").iterdir()] == ["report.csv"]
    assert await stage.browser.tab.evaluate("document.getElementById('file').files[0].name") == "report.csv"


async def slowly_downloading(finish: Finish, stage: Stage, *then: dict[str, Any]) -> RecordedRun:
    """Return a run that downloads slow.bin and goes on when it is complete; a replay does not wait for that."""
    steps = [
        {"navigate": {"url": stage.site.url("/act_leaving.html")}},
        {"click": {"index": {"text": "Slow file"}}},
        {"wait": {"seconds": 4}},
        *then,
        DONE,
    ]
    _, work = await finish(steps)
    run = work.recorded
    assert run.steps[2].answered is not None
    run.steps[2].answered.calls[0].arguments["seconds"] = 0
    return run


async def test_a_download_that_was_complete_then_is_waited_for_before_it_is_given(
    finish: Finish, stage: Stage, tmp_path: Path
):
    give = {"upload_file": {"index": {"label": "File"}, "path": "slow.bin"}}
    replayed = await again(stage, tmp_path, await slowly_downloading(finish, stage, give))
    assert replayed.report.completion is Completion.COMPLETE, states(replayed)


async def test_a_file_that_has_another_number_today_is_given(finish: Finish, stage: Stage, tmp_path: Path):
    (tmp_path / "first").mkdir(exist_ok=True)
    (tmp_path / "first" / "report.csv").write_text("of an earlier run")
    first, work = await finish(handing_over(stage, "report(1).csv"))
    assert first.is_successful
    replayed = await again(stage, tmp_path, work.recorded)
    assert replayed.report.completion is Completion.COMPLETE, states(replayed)
    assert await stage.browser.tab.evaluate("document.getElementById('file').files[0].name") == "report.csv"


async def test_own_files_are_written_again_and_given_to_the_page(finish: Finish, stage: Stage, tmp_path: Path):
    steps = [
        {"navigate": {"url": stage.site.url("/act_files.html")}},
        {"write_file": {"file_name": "one.txt", "content": "1"}},
        {"upload_file": {"index": {"text": "Choose pictures"}, "path": "one.txt"}},
        {"upload_file": {"index": {"text": "Prepare and pick"}, "path": "one.txt"}},
        {"upload_file": {"index": {"text": "Drop files here"}, "path": ["one.txt"]}},
        DONE,
    ]
    first, work = await finish(steps)
    assert first.is_successful
    replayed = await again(stage, tmp_path, work.recorded)
    assert replayed.report.completion is Completion.COMPLETE, states(replayed)
    assert await stage.log() == "dropped one.txt:1 true"


async def test_the_last_download_is_complete_when_a_replay_ends(finish: Finish, stage: Stage, tmp_path: Path):
    replayed = await again(stage, tmp_path, await slowly_downloading(finish, stage))
    assert replayed.report.completion is Completion.COMPLETE, states(replayed)
    assert [path.name for path in (tmp_path / "second").iterdir()] == ["slow.bin"]
