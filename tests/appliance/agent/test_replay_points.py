"""Replays of clicks that named a point of the screenshot: what lay there is found again, wherever it is today."""

from pathlib import Path
from typing import Any

import pytest

from appliance.browser.connection import Browser
from appliance.browser.pointer import to_picture
from tests.appliance.agent.conftest import Finish
from tests.appliance.agent.replaying import Replaying, Stage
from tests.site import Site

DONE = {"done": {"text": "It was clicked."}}


@pytest.fixture
def stage(browser: Browser, site: Site, tmp_path: Path) -> Stage:
    return Stage(browser, site, tmp_path)


async def point_of(stage: Stage, place_js: str) -> dict[str, int]:
    """Return the point of the picture, as click takes it, that a script gives as one of the viewport."""
    x, y = await to_picture(stage.browser, await stage.browser.tab.evaluate(place_js))
    return {"x": x, "y": y}


def middle(find_js: str) -> str:
    return f"(box => [box.x + box.width / 2, box.y + box.height / 2])({find_js}.getBoundingClientRect())"


async def click_and_repeat(finish: Finish, stage: Stage, url: str, place_js: str, today: str) -> Replaying:
    """Click a point of the page, and do it again on the page of another day."""
    await stage.today("")
    await stage.browser.tab.navigate(url)
    point = await point_of(stage, place_js)
    steps: list[Any] = [{"navigate": {"url": url}}, {"click": point}, DONE]
    _, work = await finish(steps)
    await stage.log_in_the_end()
    await stage.today(today)
    return await stage.again(work.recorded)


ADD = "[...document.querySelectorAll('#goods button')][1]"


@pytest.mark.parametrize("today", ["", "reversed dearer", "rehashed", "late"])
async def test_a_click_on_a_point_hits_what_lay_there_wherever_it_is_today(finish: Finish, stage: Stage, today: str):
    again = await click_and_repeat(finish, stage, stage.site.url("/replay_shop.html"), middle(ADD), today)
    assert await stage.log() == "added Red mug; "
    assert [action.state for action in again.report.actions] == ["held", "held"], again.report
    assert again.outcome.is_successful, again.outcome.summary
    # A replay is a recorded run itself.
    receipt = again.record.actions[-1][1]
    assert receipt is not None
    assert receipt.targets[0].spot == pytest.approx((0.5, 0.5), abs=0.1)


async def test_where_nothing_of_it_is_left_the_point_itself_is_clicked_and_that_is_told(finish: Finish, stage: Stage):
    again = await click_and_repeat(finish, stage, stage.site.url("/replay_shop.html"), middle(ADD), "soldout")
    assert await stage.log() != "added Red mug; "
    assert again.levels == ["point"]
    assert [action.state for action in again.report.actions] == ["held", "differs"]
    assert "the same point was clicked" in again.report.actions[1].why
    assert not again.outcome.is_successful


PLACES = {
    "canvas": ("(box => [box.x + 300, box.y + 40])(map.getBoundingClientRect())", "30,4; "),
    "closed root": ("placeOf()", "closed; "),
    "frame": ("(box => [box.x + 12 + 30, box.y + 12 + 30])(near.getBoundingClientRect())", "near; "),
    "frame of another site": ("(box => [box.x + 12 + 60, box.y + 12 + 20])(other.getBoundingClientRect())", "other; "),
}


@pytest.mark.parametrize("today", ["lower", "far"])
@pytest.mark.parametrize("place", list(PLACES))
async def test_the_same_place_of_what_lay_there_is_clicked_in_every_document(
    finish: Finish, stage: Stage, place: str, today: str
):
    place_js, logged = PLACES[place]
    again = await click_and_repeat(finish, stage, stage.site.url("/replay_places.html"), place_js, today)
    assert await stage.log_in_the_end() == logged
    assert [action.state for action in again.report.actions] == ["held", "held"], again.report


async def test_a_point_that_something_covers_today_is_not_clicked(finish: Finish, stage: Stage):
    url = stage.site.url("/replay_places.html")
    again = await click_and_repeat(finish, stage, url, PLACES["canvas"][0], "covered")
    assert [action.state for action in again.report.actions] == ["held", "failed"]
    assert "canvas is covered by" in again.report.actions[1].why
    assert await stage.log() == ""
