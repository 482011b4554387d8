from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path
from uuid import UUID

import pytest

from appliance.errors import MachineFault, NotFound
from appliance.persistence.columns import utc_now
from appliance.persistence.database import Database
from appliance.persistence.ids import new_id
from appliance.persistence.records import SessionRecord
from appliance.profiles.jar import Cookie, Jar, Origin
from appliance.runtime.folders import SessionFolders
from appliance.runtime.held import HeldBrowser
from appliance.runtime.profiles import CheckedOut, ImportedProfile
from appliance.words import SessionStatus
from tests.appliance.runtime.rig import Rig, open_rig
from tests.site import Site

PROFILE, TEAM = new_id(), new_id()


class Drawer:
    """A place for one profile, which keeps what came in last."""

    def __init__(self, jar: Jar | None) -> None:
        self.jar = jar
        self.bases: list[Jar] = []

    async def check_out(self, profile_id: UUID, team_id: UUID | None) -> CheckedOut:
        if self.jar is None:
            raise NotFound("There is no such profile.")
        return CheckedOut(profile_id, team_id or TEAM, utc_now(), 1, self.jar)

    async def check_in(self, checked_out: CheckedOut, captured: Jar, session_id: UUID) -> Jar | None:
        self.bases.append(checked_out.jar)
        if self.jar is not None:
            self.jar = captured
        return self.jar


@pytest.fixture
async def rig(tmp_path: Path, database: Database) -> AsyncIterator[Rig]:
    async with open_rig(tmp_path, database) as rig:
        yield rig


@pytest.fixture
async def held(rig: Rig) -> AsyncIterator[HeldBrowser]:
    held = rig.lease()
    await held.open()
    yield held
    await held.close()


def session_of(rig: Rig, *domains: str) -> SessionRecord:
    now = utc_now()
    blank = SessionRecord(new_id(), SessionStatus.RUNNING, "house-model", "house-model", now, now)
    SessionFolders.of(rig.equipment.settings, blank.id).make()
    return replace(blank, allowed_domains=domains)


def kept_at(site: Site, **local: str) -> Origin:
    return Origin(site.url("").rstrip("/"), local)


async def test_a_profile_goes_into_the_browser_and_comes_back_through_the_relay_without_asking_the_site(
    rig: Rig, held: HeldBrowser, site: Site
):
    drawer = Drawer(Jar(origins=(kept_at(site, token="t", gone="g"),)))
    await held.give_profile(drawer, PROFILE, TEAM)
    await held.adopt(session_of(rig))
    await held.browser.tab.navigate(site.url("/storing"))
    await held.browser.tab.evaluate("localStorage.removeItem('gone')")
    await held.browser.tab.navigate(site.url("/", 2))
    await held.adopt(session_of(rig, "127.0.0.2"))
    asked = len(site.requests)

    assert await held.save_profile(new_id()) is None
    assert drawer.jar == Jar(origins=(kept_at(site, token="t", stored="1"),))
    assert len(site.requests) == asked
    assert not held.browser.refusals


async def test_each_time_only_what_happened_since_the_last_one_is_to_be_merged(rig: Rig, held: HeldBrowser, site: Site):
    drawer = Drawer(Jar())
    await held.give_profile(drawer, PROFILE, TEAM)
    await held.adopt(session_of(rig))
    await held.browser.tab.navigate(site.url("/storing"))
    await held.save_profile(new_id())
    first = drawer.jar
    await held.give_profile(drawer, PROFILE, TEAM)
    await held.browser.tab.evaluate("localStorage.setItem('more', '2')")
    await held.save_profile(new_id())

    assert drawer.bases == [Jar(), first]
    assert drawer.jar == Jar(origins=(kept_at(site, stored="1", more="2"),))


async def test_a_profile_that_was_deleted_meanwhile_is_not_made_anew(rig: Rig, held: HeldBrowser, site: Site):
    drawer = Drawer(Jar(origins=(kept_at(site, token="t"),)))
    await held.give_profile(drawer, PROFILE, TEAM)
    drawer.jar = None

    assert await held.save_profile(new_id()) is None
    assert drawer.jar is None
    await held.open((1280, 800))
    with pytest.raises(MachineFault, match="was deleted"):
        await held.give_profile(drawer, PROFILE, TEAM)


async def test_a_browser_that_has_gone_or_gives_nothing_leaves_the_profile_as_it_was(
    rig: Rig, held: HeldBrowser, site: Site
):
    full = Jar((Cookie("a", "1", "127.0.0.1"),))
    drawer = Drawer(full)
    await held.give_profile(drawer, PROFILE, TEAM)
    await held.browser.cdp.send("Storage.clearCookies")
    empty = await held.save_profile(new_id())
    held.browser.cdp.post("Browser.close")
    await held.browser.lost.wait()
    gone = await held.save_profile(new_id())

    assert (drawer.jar, drawer.bases) == (full, [])
    for notice in (empty, gone):
        assert notice is not None
        assert notice.code == "profile_not_saved"


_BUSY = """new Promise((resolve) => {
  const opening = indexedDB.open("busy", 1);
  opening.onupgradeneeded = () => opening.result.createObjectStore("rows");
  opening.onsuccess = () => {
    const rows = opening.result.transaction("rows", "readwrite").objectStore("rows");
    const goOn = () => { rows.get(1).onsuccess = goOn; };
    goOn();
    resolve();
  };
})"""


async def test_a_database_that_never_answers_keeps_only_its_own_site_from_being_saved(
    rig: Rig, held: HeldBrowser, site: Site
):
    drawer = Drawer(Jar())
    await held.give_profile(drawer, PROFILE, TEAM)
    await held.adopt(session_of(rig))
    await held.browser.tab.navigate(site.url("/sign-in", 2))
    await held.browser.tab.navigate(site.url("/storing"))
    await held.browser.tab.evaluate(_BUSY)
    notice = await held.save_profile(new_id())

    assert notice is not None
    assert notice.code == "profile_partly_saved"
    assert site.url("").rstrip("/") in notice.text
    assert drawer.jar is not None
    assert [one.name for one in drawer.jar.cookies] == ["member"]
    assert drawer.jar.origins == (Origin(site.url("", 2).rstrip("/"), {"member": "ada"}),)


async def test_a_browser_that_is_started_anew_has_no_profile(rig: Rig, held: HeldBrowser):
    drawer = Drawer(Jar())
    await held.give_profile(drawer, PROFILE, TEAM)
    await held.open((1280, 800))

    assert await held.save_profile(new_id()) is None
    assert drawer.bases == []


async def test_what_a_session_leaves_in_its_profile_the_next_one_finds(rig: Rig, site: Site):
    profiles = rig.equipment.profiles
    profile = await profiles.create("shared", None, None)
    opening = [{"navigate": {"url": site.url("/sign-in")}}, {"done": {"text": "Done.", "success": True}}]
    await rig.run("RUN-profilein Sign in.", opening, profile_id=profile.id)
    left = await profiles.read_jar(profile.id, None)

    looking = [{"navigate": {"url": site.url("/account")}}, {"done": {"text": "Done.", "success": True}}]
    await rig.run("RUN-profilelook Look.", looking, profile_id=profile.id)

    assert [(one.name, one.value) for one in left.cookies] == [("member", "ada")]
    assert left.origins == (kept_at(site, member="ada"),)
    seen = next(step.text for step in reversed(rig.stand_in.steps) if step.marker == "RUN-profilelook")
    assert "The server knows ada." in seen
    assert "The page knows ada." in seen


@pytest.mark.parametrize("has_one", [True, False], ids=["with another profile", "with none"])
async def test_a_follow_up_with_another_profile_gets_a_browser_of_its_own(rig: Rig, site: Site, has_one: bool):
    profiles = rig.equipment.profiles
    first, second = await profiles.create("first", None, None), await profiles.create("second", None, None)
    elsewhere = Jar(origins=(Origin(site.url("", 2).rstrip("/"), {"token": "t"}),))
    await profiles.put_jar(ImportedProfile(elsewhere, id=second.id), None)
    done = {"done": {"text": "Done.", "success": True}}
    wish = {"profile_id": first.id} if has_one else {}
    opening = [{"navigate": {"url": site.url("/", 2)}}, {"navigate": {"url": site.url("/sign-in")}}, done]
    session = await rig.run("RUN-profileone Sign in.", opening, keep_alive=True, **wish)
    left = await profiles.read_jar(first.id, None)

    looking = [{"navigate": {"url": site.url("/", 2)}}, {"navigate": {"url": site.url("/account")}}, done]
    await rig.run("RUN-profiletwo Look.", looking, session_id=session.id, profile_id=second.id)

    seen = next(step.text for step in reversed(rig.stand_in.steps) if step.marker == "RUN-profiletwo")
    assert "The server knows ada." not in seen
    assert "The server knows" in seen
    assert await profiles.read_jar(first.id, None) == left
    assert bool(left.cookies) == has_one
    assert await profiles.read_jar(second.id, None) == elsewhere
