import asyncio
from dataclasses import replace
from datetime import timedelta
from uuid import uuid4

import pytest

from appliance.errors import Conflict, MachineFault, NotFound, RequestInvalid
from appliance.persistence import profiles as rows
from appliance.persistence.columns import utc_now
from appliance.persistence.database import Database, Transaction
from appliance.persistence.records import TeamRecord
from appliance.persistence.teams import add_team
from appliance.profiles.jar import Cookie, Jar, Origin, make_jar
from appliance.profiles.merge import Rule, Winner
from appliance.runtime.profiles import CheckedOut, ImportedProfile, Profiles
from appliance.runtime.sealing import Seal
from appliance.words import VersionSource

SESSION = uuid4()
LATER = 9e9


@pytest.fixture
def profiles(database: Database) -> Profiles:
    return Profiles(database, Seal(b"a secret of the tests, long enough"))


def cookies(**found: str) -> Jar:
    return make_jar([Cookie(name, value, "shop.test", expires=LATER) for name, value in found.items()], ())


async def keep(profiles: Profiles, jar: Jar, name: str = "Shop") -> CheckedOut:
    made = await profiles.put_jar(ImportedProfile(jar, name=name), None)
    return await profiles.check_out(made.id, None)


async def jar_of(profiles: Profiles, taken: CheckedOut) -> Jar:
    return await profiles.read_jar(taken.profile_id, None)


async def test_a_session_brings_back_what_it_changed_as_a_new_version(profiles: Profiles) -> None:
    taken = await keep(profiles, cookies(a="1", b="1"))
    merged = await profiles.check_in(taken, cookies(b="2", c="1"), SESSION)
    assert merged is not None
    assert merged.jar == await jar_of(profiles, taken) == cookies(b="2", c="1")
    newest, first = await profiles.list_versions(taken.profile_id, None)
    assert (newest.source, newest.session_id, newest.cookies) == (VersionSource.SESSION, SESSION, 2)
    assert (newest.added, newest.changed, newest.removed, newest.conflicts) == (1, 1, 1, 0)
    assert (first.source, first.number) == (VersionSource.IMPORT, 1)
    profile = await profiles.find(taken.profile_id, None)
    assert profile.cookie_domains == ("shop.test",)
    assert profile.last_used_at is not None


async def test_two_sessions_on_one_profile_keep_the_login_of_one_and_the_logout_of_the_other(
    profiles: Profiles,
) -> None:
    first = await keep(profiles, cookies(old="1", both="1"))
    second = await profiles.check_out(first.profile_id, None)
    await asyncio.gather(
        profiles.check_in(first, cookies(old="1", both="1", new="1"), SESSION),
        profiles.check_in(second, cookies(both="1"), uuid4()),
    )
    assert await jar_of(profiles, first) == cookies(both="1", new="1")


async def test_a_conflict_is_written_with_both_sides_and_the_rule(profiles: Profiles) -> None:
    first = await keep(profiles, cookies(a="1"))
    await profiles.check_in(await profiles.check_out(first.profile_id, None), cookies(a="2"), SESSION)
    await profiles.check_in(first, cookies(a="3"), SESSION)
    version, notes = await profiles.read_notes(first.profile_id, None, 3)
    (conflict,) = notes.conflicts
    assert version.conflicts == 1
    assert (conflict.winner, conflict.rule) == (Winner.OURS, Rule.LATER)
    assert '"value":"2"' in (conflict.theirs or "")


async def test_a_browser_that_goes_on_brings_back_what_changed_since_the_last_time(profiles: Profiles) -> None:
    taken = await keep(profiles, cookies(a="1"))
    captured = cookies(a="2")
    await profiles.check_in(taken, captured, SESSION)
    await profiles.check_in(await profiles.check_out(taken.profile_id, None), cookies(a="3"), uuid4())
    again = replace(taken, jar=captured)
    await profiles.check_in(again, cookies(a="2", b="1"), SESSION)
    assert await jar_of(profiles, taken) == cookies(a="3", b="1")


async def test_an_empty_capture_changes_nothing(profiles: Profiles) -> None:
    taken = await keep(profiles, cookies(a="1"))
    assert await profiles.check_in(taken, make_jar((), [Origin("https://shop.test")]), SESSION) is None
    assert await jar_of(profiles, taken) == cookies(a="1")
    assert len(await profiles.list_versions(taken.profile_id, None)) == 1


async def test_a_profile_that_was_deleted_while_in_use_does_not_come_back(profiles: Profiles) -> None:
    taken = await keep(profiles, cookies(a="1"))
    await profiles.delete(taken.profile_id, None)
    assert await profiles.check_in(taken, cookies(a="2"), SESSION) is None
    with pytest.raises(NotFound, match="Profile not found"):
        await profiles.find(taken.profile_id, None)


async def test_new_expiries_alone_make_no_version_but_are_kept(profiles: Profiles) -> None:
    taken = await keep(profiles, cookies(a="1"))
    renewed = make_jar([Cookie("a", "1", "shop.test", expires=LATER + 1)], ())
    await profiles.check_in(taken, renewed, SESSION)
    assert await jar_of(profiles, taken) == renewed
    assert len(await profiles.list_versions(taken.profile_id, None)) == 1


async def test_a_merge_whose_writing_fails_leaves_the_old_jar(profiles: Profiles, database: Database) -> None:
    taken = await keep(profiles, cookies(a="1"))
    version, sealed = await _read(database, taken)

    async def fail(transaction: Transaction) -> None:
        await rows.add_version(transaction, replace(version, number=2), sealed, ())
        raise RuntimeError("the machine went away")

    with pytest.raises(RuntimeError):
        await database.writer.submit(fail)
    assert await jar_of(profiles, taken) == cookies(a="1")
    assert (await profiles.find(taken.profile_id, None)).version == 1


async def test_a_version_written_behind_our_back_is_not_lost(profiles: Profiles, database: Database) -> None:
    taken = await keep(profiles, cookies(a="1"))
    version, sealed = await _read(database, taken)
    with pytest.raises(Conflict, match="meanwhile"):
        await database.writer.submit(
            lambda transaction: rows.add_version(transaction, replace(version, number=3), sealed, ())
        )


async def test_what_is_stored_says_nothing_and_another_secret_does_not_open_it(
    profiles: Profiles, database: Database
) -> None:
    taken = await keep(profiles, cookies(a="a-very-secret-value"))
    _, sealed = await _read(database, taken)
    assert b"secret" not in sealed.jar
    with pytest.raises(MachineFault, match="SECRET_KEY"):
        await Profiles(database, Seal(b"another secret, as long as that")).read_jar(taken.profile_id, None)


async def test_a_profile_that_another_secret_sealed_is_imported_again(profiles: Profiles, database: Database) -> None:
    taken = await keep(profiles, cookies(a="1"))
    others = Profiles(database, Seal(b"another secret, as long as that"))
    imported = await others.put_jar(ImportedProfile(cookies(b="2"), id=taken.profile_id), None)
    assert imported.version == 2
    assert await jar_of(others, taken) == cookies(b="2")


async def test_versions_are_compared_and_restored(profiles: Profiles) -> None:
    taken = await keep(profiles, cookies(a="1"))
    await profiles.check_in(taken, cookies(b="1"), SESSION)
    changes = await profiles.compare(taken.profile_id, None, 1, 2)
    assert [change.name[1] for change in changes] == ["a", "b"]
    restored = await profiles.restore(taken.profile_id, None, 1)
    assert restored.version == 3
    assert await jar_of(profiles, taken) == cookies(a="1")
    with pytest.raises(NotFound, match="no version 9"):
        await profiles.restore(taken.profile_id, None, 9)


async def test_the_oldest_versions_are_forgotten(profiles: Profiles) -> None:
    taken = await keep(profiles, cookies(a="0"))
    for number in range(1, rows.MOST_VERSIONS + 2):
        await profiles.put_jar(ImportedProfile(cookies(a=f"{number}"), id=taken.profile_id), None)
    versions = await profiles.list_versions(taken.profile_id, None)
    assert len(versions) == rows.MOST_VERSIONS
    assert versions[-1].number == 3


async def test_two_profiles_are_merged_by_hand_when_every_conflict_has_a_choice(profiles: Profiles) -> None:
    first, second = await keep(profiles, cookies(a="1", b="1")), await keep(profiles, cookies(a="2", c="1"))
    preview = await profiles.preview_merge(first.profile_id, second.profile_id, None, {})
    with pytest.raises(RequestInvalid, match="no choice"):
        await profiles.merge(first.profile_id, second.profile_id, None, {})
    choices = {conflict.key: Winner.OURS for conflict in preview.conflicts}
    await profiles.merge(first.profile_id, second.profile_id, None, choices)
    assert await jar_of(profiles, first) == cookies(a="2", b="1", c="1")
    assert await jar_of(profiles, second) == cookies(a="2", c="1")
    with pytest.raises(RequestInvalid, match="itself"):
        await profiles.merge(first.profile_id, first.profile_id, None, {})


async def test_a_profile_of_another_team_is_not_there(profiles: Profiles, database: Database) -> None:
    taken = await keep(profiles, cookies(a="1"))
    other = await _other_team(database)
    for attempt in (
        profiles.find(taken.profile_id, other),
        profiles.delete(taken.profile_id, other),
        profiles.change(taken.profile_id, other, {"name": "Mine"}),
        profiles.list_versions(taken.profile_id, other),
        profiles.restore(taken.profile_id, other, 1),
        profiles.put_jar(ImportedProfile(Jar(), id=taken.profile_id), other),
    ):
        with pytest.raises(NotFound, match="Profile not found"):
            await attempt
    assert (await profiles.list_page(1, 10, "", other)).total == 0
    assert await jar_of(profiles, taken) == cookies(a="1")


async def test_a_profile_made_again_with_the_same_id_is_another_one(profiles: Profiles, database: Database) -> None:
    taken = await keep(profiles, cookies(a="mine"))
    await profiles.delete(taken.profile_id, taken.team_id)
    await profiles.put_jar(ImportedProfile(cookies(b="mine, later"), id=taken.profile_id), taken.team_id)
    assert await profiles.check_in(taken, cookies(a="changed"), SESSION) is None
    assert await jar_of(profiles, taken) == cookies(b="mine, later")

    other = await _other_team(database)
    await profiles.delete(taken.profile_id, taken.team_id)
    await profiles.put_jar(ImportedProfile(cookies(b="theirs"), id=taken.profile_id), other)
    assert await profiles.check_in(taken, cookies(a="changed"), SESSION) is None
    with pytest.raises(NotFound, match="Profile not found"):
        await profiles.check_out(taken.profile_id, taken.team_id)
    assert await jar_of(profiles, taken) == cookies(b="theirs")


async def _read(database: Database, taken: CheckedOut):
    async with database.read() as transaction:
        return await rows.find_version(transaction, taken.profile_id, 1)


async def _other_team(database: Database):
    made = await database.writer.submit(lambda transaction: add_team(transaction, "Others"))
    assert isinstance(made, TeamRecord)
    assert made.created_at <= utc_now() + timedelta(days=1)
    return made.id
