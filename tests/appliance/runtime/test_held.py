import asyncio
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import psutil
import pytest

from appliance.browser.chromium import find_chromium
from appliance.errors import ActionRefused, BrowserUnavailable
from appliance.persistence.columns import utc_now
from appliance.persistence.database import Database
from appliance.persistence.ids import new_id
from appliance.persistence.records import SessionRecord
from appliance.runtime.folders import SessionFolders, browsers_dir
from appliance.runtime.held import SCREEN, HeldBrowser, screen_of
from appliance.words import SessionStatus
from tests.appliance.displays.machine import write_script
from tests.appliance.runtime.rig import Rig, open_rig
from tests.site import Site


@pytest.fixture
async def rig(tmp_path: Path, database: Database) -> AsyncIterator[Rig]:
    async with open_rig(tmp_path, database) as rig:
        yield rig


@pytest.fixture
async def held(rig: Rig) -> AsyncIterator[HeldBrowser]:
    held = rig.lease()
    yield held
    await held.close()


def _session(rig: Rig, *domains: str) -> SessionRecord:
    now = utc_now()
    blank = SessionRecord(new_id(), SessionStatus.RUNNING, "house-model", "house-model", now, now)
    SessionFolders.of(rig.equipment.settings, blank.id).make()
    return replace(blank, allowed_domains=domains)


def _is_left(rig: Rig) -> bool:
    folder = browsers_dir(rig.equipment.settings)
    return bool(rig.chromiums() or rig.displays() or (folder.exists() and any(folder.iterdir())))


async def test_a_browser_opens_without_a_session_and_leaves_nothing_behind(rig: Rig, held: HeldBrowser):
    await held.open()
    assert held.is_usable
    assert len(rig.chromiums()) == len(rig.displays()) == 1
    await held.close()
    await held.close()
    assert not held.is_usable
    assert not _is_left(rig)
    assert rig.equipment.pool.free == 1


_KILLS_DISPLAY = 'pkill -KILL -f "^Xvfb $DISPLAY "; exec {chromium} "$@"'
_IS_KILLED = """{chromium} "$@" 2>&1 | while read -r line; do
    echo "$line" >&2
    case "$line" in "DevTools listening"*) kill -KILL -$$;; esac
done"""


@pytest.mark.parametrize("start", [_KILLS_DISPLAY, _IS_KILLED], ids=["its display ends", "it is killed"])
async def test_a_browser_that_ends_under_its_start_is_started_anew(tmp_path: Path, database: Database, start: str):
    program, mark, chromium = tmp_path / "chromium", tmp_path / "first", find_chromium()
    mark.touch()
    write_script(program, f'rm {mark} || exec {chromium} "$@"\n{start.format(chromium=chromium)}')
    async with open_rig(tmp_path, database, chromium_path=str(program)) as rig:
        held = rig.lease()
        await held.open()
        assert held.is_usable
        assert not mark.exists()
        assert len(rig.chromiums()) == len(rig.displays()) == 1
        await held.close()


async def test_a_browser_is_closed_in_the_middle_of_its_start(rig: Rig, held: HeldBrowser):
    starting = asyncio.create_task(held.open())
    await rig.eventually(lambda: rig.displays() or starting.done())
    await held.close()
    (problem,) = await asyncio.gather(starting, return_exceptions=True)
    assert isinstance(problem, asyncio.CancelledError)
    assert not _is_left(rig)
    assert rig.equipment.pool.free == 1


async def test_two_who_open_it_wait_for_one_start_and_one_who_gives_up_does_not_end_it(rig: Rig, held: HeldBrowser):
    impatient, patient = asyncio.create_task(held.open()), asyncio.create_task(held.open())
    await rig.eventually(lambda: rig.displays() or patient.done())
    impatient.cancel()
    await patient
    assert held.is_usable
    assert len(rig.chromiums()) == 1


async def test_a_browser_that_fits_stays_and_another_screen_or_a_death_starts_it_anew(rig: Rig, held: HeldBrowser):
    await held.open()
    (first,) = rig.chromiums()
    await held.open(SCREEN)
    assert rig.chromiums() == [first]
    await held.open((1280, 800))
    (second,) = rig.chromiums()
    assert second != first
    assert "--window-size=1280,800" in second.cmdline()
    second.kill()
    await held.browser.lost.wait()
    assert not held.is_usable
    await held.open((1280, 800))
    assert held.is_usable
    assert rig.equipment.pool.leased == (held.slot,)


async def test_a_browser_whose_pages_may_show_a_secret_is_only_for_those_who_hide_it(rig: Rig, held: HeldBrowser):
    await held.open(SCREEN, frozenset({"lantern-42"}))
    (first,) = rig.chromiums()
    await held.open(SCREEN, frozenset({"lantern-42", "anchor-7"}))
    assert rig.chromiums() == [first]
    await held.open(SCREEN, frozenset({"lantern-42"}))
    (second,) = rig.chromiums()
    assert second != first


async def test_the_session_that_adopts_it_sets_domains_and_downloads(rig: Rig, held: HeldBrowser, site: Site):
    await held.open()
    anywhere, elsewhere = _session(rig), _session(rig, "elsewhere.example")
    await held.adopt(anywhere)
    browser, url = held.browser, site.url("/product.html")
    await browser.tab.navigate(url)
    assert browser.tab.url == url
    assert browser.downloads.folder == SessionFolders.of(rig.equipment.settings, anywhere.id).downloads
    await held.adopt(elsewhere)
    assert browser.downloads.folder == SessionFolders.of(rig.equipment.settings, elsewhere.id).downloads
    # A page that may not be opened any more is left, and no script leads back there.
    assert [tab.url for tab in await browser.list_tabs()] == ["about:blank"]
    with pytest.raises(ActionRefused, match="outside the domains"):
        await browser.tab.navigate(url)
    await browser.tab.run(f"() => {{ location.href = {url!r} }}")
    await rig.eventually(lambda: browser.refusals)
    await held.adopt(anywhere)
    assert browser.refusals == ()
    await browser.tab.navigate(url)
    assert browser.tab.url == url


async def test_a_browser_that_dies_as_it_is_taken_over_is_started_anew(rig: Rig, held: HeldBrowser, site: Site):
    await held.open((1280, 720))
    before = held.browser
    rig.chromiums()[0].kill()
    await held.adopt(_session(rig, "127.0.0.1"))
    assert held.is_usable
    assert held.browser is not before
    assert "--window-size=1280,720" in rig.chromiums()[0].cmdline()
    await held.browser.tab.navigate(site.url("/product.html"))


async def test_what_rests_is_not_at_work(rig: Rig, held: HeldBrowser):
    await held.open()
    assert rig.equipment.pool.at_work == 1
    held.rest()
    assert rig.equipment.pool.at_work == 0
    await held.adopt(_session(rig))
    assert rig.equipment.pool.at_work == 1


async def test_a_browser_without_a_program_says_so_and_gives_its_slot_back(tmp_path: Path, database: Database):
    async with open_rig(tmp_path, database, chromium_path="/nowhere/chromium") as rig:
        slot = rig.equipment.pool.try_lease()
        assert slot is not None
        held = HeldBrowser(rig.equipment, slot)
        for _ in range(2):
            with pytest.raises(BrowserUnavailable, match="CHROMIUM_PATH"):
                await held.open()
        await held.close()
        assert not _is_left(rig)
        assert rig.equipment.pool.free == 1


async def test_a_loss_is_explained_by_what_ended(rig: Rig, held: HeldBrowser):
    await held.open()
    (display,) = rig.displays()
    (chromium,) = rig.chromiums()
    psutil.Process(chromium.pid).kill()
    await held.browser.lost.wait()
    assert await held.explain_loss() == "Chromium ended without warning"
    display.kill()
    await rig.eventually(lambda: not rig.displays())
    assert "display" in await held.explain_loss()


def test_a_session_that_names_no_screen_gets_the_usual_one():
    now = utc_now()
    blank = SessionRecord(new_id(), SessionStatus.RUNNING, "m", "m", now, now)
    assert screen_of(blank) == SCREEN
    assert screen_of(replace(blank, screen_width=1280, screen_height=800)) == (1280, 800)
