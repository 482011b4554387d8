from typing import Any

import msgspec
from hypothesis import given, settings
from hypothesis import strategies as st

from appliance.profiles.jar import Cookie, Jar, Origin, Partition, make_jar
from appliance.profiles.merge import Conflict, Merged, Rule, Side, Winner, compare, key_of, merge, merge_by_hand

SITE = "https://shop.test"
SID = Cookie("sid", "1", "shop.test", expires=9e9)


def cookies(*found: Cookie) -> Jar:
    return make_jar(found, ())


def local(**entries: str) -> Jar:
    return make_jar((), [Origin(SITE, entries)])


def join(base: Jar, theirs: Jar, ours: Jar, *, their_time: float = 1, own_time: float = 2) -> Merged:
    return merge(base, Side(theirs, their_time), Side(ours, own_time))


def database(*records: dict[str, Any], version: int = 1) -> Jar:
    store = {"name": "items", "autoIncrement": False, "keyPath": "id", "indexes": [], "records": list(records)}
    return make_jar((), [Origin(SITE, databases=[{"name": "cart", "version": version, "stores": [store]}])])


def records_of(jar: Jar) -> list[Any]:
    return jar.origins[0].databases[0]["stores"][0]["records"]


def test_a_login_in_one_session_and_a_logout_of_another_site_in_the_other_both_hold() -> None:
    base = cookies(SID)
    login = Cookie("token", "x", "bank.test")
    first = join(base, base, cookies(SID, login))
    second = join(base, first.jar, Jar())
    assert second.jar == cookies(login)
    assert second.conflicts == ()
    assert [(one.before is None, one.after is None) for one in second.changes] == [(False, True)]


def test_records_whose_key_cannot_be_told_keep_nothing_else_from_being_merged() -> None:
    for coded in ({"o": ["x"]}, {"o": 1}, ["x"]):
        base = database({"valueEncoded": coded})
        ours = make_jar([SID], base.origins)
        assert join(base, base, ours).jar == ours


def test_the_later_of_two_real_changes_wins_and_both_sides_are_recorded() -> None:
    base, theirs, ours = local(a="0"), local(a="1"), local(a="2")
    name = ("local", SITE, "a")
    assert join(base, theirs, ours).conflicts == (Conflict(name, "0", "1", "2", Winner.OURS, Rule.LATER),)
    earlier = join(base, theirs, ours, their_time=3)
    assert earlier.jar == theirs
    assert earlier.changes == ()
    assert earlier.conflicts == (Conflict(name, "0", "1", "2", Winner.THEIRS, Rule.LATER),)


def test_a_logout_against_a_changed_login_is_a_conflict() -> None:
    changed = msgspec.structs.replace(SID, value="2")
    assert join(cookies(SID), cookies(changed), Jar()).jar == Jar()
    assert join(cookies(SID), cookies(changed), Jar()).conflicts[0].ours is None
    assert join(cookies(SID), Jar(), cookies(changed), their_time=3).jar == Jar()


def test_a_new_expiry_is_no_change_that_stands_against_a_logout() -> None:
    renewed = cookies(msgspec.structs.replace(SID, expires=9.5e9))
    logged_out = join(cookies(SID), renewed, Jar())
    assert (logged_out.jar, logged_out.conflicts) == (Jar(), ())
    assert join(cookies(SID), Jar(), renewed).jar == Jar()
    assert join(cookies(SID), cookies(SID), renewed) == Merged(renewed)


def test_of_two_new_expiries_the_later_one_is_kept() -> None:
    near, far = (cookies(msgspec.structs.replace(SID, expires=time)) for time in (9.1e9, 9.2e9))
    for theirs, ours in ((near, far), (far, near)):
        assert join(cookies(SID), theirs, ours) == Merged(far)


def test_a_cookie_that_ran_out_in_one_session_was_not_deleted_there() -> None:
    short = msgspec.structs.replace(SID, expires=100)
    renewed = cookies(msgspec.structs.replace(SID, expires=500))
    assert join(cookies(short), renewed, Jar(), own_time=200).jar == renewed
    assert join(cookies(short), cookies(short), Jar(), own_time=200).jar == Jar()
    assert join(cookies(short), Jar(), renewed, their_time=200, own_time=150).jar == renewed


def test_cookies_of_different_paths_and_partitions_are_different_cookies() -> None:
    inside = msgspec.structs.replace(SID, partition_key=Partition("https://top.test"))
    deeper = msgspec.structs.replace(SID, path="/deep")
    base = cookies(SID, inside, deeper)
    assert join(base, base, cookies(SID, deeper)).jar == cookies(SID, deeper)


def test_records_of_a_database_are_merged_one_by_one() -> None:
    one, two, three = ({"value": {"id": number, "n": 1}} for number in (1, 2, 3))
    merged = join(database(one), database(one, two), database(three))
    assert records_of(merged.jar) == [two, three]
    encoded = {"valueEncoded": {"o": [{"k": "id", "v": 1}], "id": 1}}
    assert records_of(join(database(encoded), database(encoded, two), database(encoded, three)).jar) == [
        encoded,
        two,
        three,
    ]


def test_a_database_whose_shape_changed_is_taken_as_a_whole() -> None:
    one, two = ({"value": {"id": number}} for number in (1, 2))
    assert join(database(one), database(one), database(one, version=2)).jar == database(one, version=2)
    clash = join(database(one), database(one, two), database(one, version=2))
    assert [conflict.name for conflict in clash.conflicts] == [("database", SITE, "cart")]
    assert join(database(one), database(one), Jar()).jar == Jar()


def test_records_without_a_key_keep_their_database_whole() -> None:
    odd = {"value": {"no": "id"}}
    assert join(database(odd), database(odd), database(odd, odd)).jar == database(odd, odd)


def test_two_profiles_are_merged_by_hand_with_a_choice_for_each_conflict() -> None:
    first, second = local(a="1", b="1", same="s"), local(a="2", c="2", same="s")
    (conflict,) = merge_by_hand(first, second, {}).conflicts
    assert conflict.key == key_of(("local", SITE, "a"))
    for winner, value in ((Winner.THEIRS, "1"), (Winner.OURS, "2")):
        merged = merge_by_hand(first, second, {conflict.key: winner})
        assert merged.jar == local(a=value, b="1", c="2", same="s")
        assert merged.conflicts == (msgspec.structs.replace(conflict, winner=winner, rule=Rule.CHOSEN),)


def test_versions_are_compared_with_their_expiries() -> None:
    renewed = cookies(msgspec.structs.replace(SID, expires=9.5e9))
    (change,) = compare(cookies(SID), renewed)
    assert change.name[:3] == ("cookie", "sid", "shop.test")
    assert compare(local(a="1"), local(b="1"))[0].after is None


VALUES = st.sampled_from(["1", "2", "3"])
COOKIES = st.builds(
    Cookie,
    name=st.sampled_from(["a", "b"]),
    value=VALUES,
    domain=st.sampled_from(["x.test", ".y.test"]),
    path=st.sampled_from(["/", "/p"]),
    expires=st.sampled_from([-1, 1e9, 8e9, 9e9]),
    partition_key=st.sampled_from([None, Partition("https://top.test"), Partition("https://top.test", True)]),
)
RECORDS = st.dictionaries(st.integers(1, 3), VALUES, max_size=3)


@st.composite
def origins(draw: st.DrawFn) -> Origin:
    entries = st.dictionaries(st.sampled_from(["k", "l", "__proto__"]), VALUES, max_size=3)
    databases: list[dict[str, Any]] = []
    for name in draw(st.sets(st.sampled_from(["d", "e"]))):
        records = [{"key": key, "value": value} for key, value in sorted(draw(RECORDS).items())]
        store = {"name": "s", "autoIncrement": False, "indexes": [], "records": records}
        databases.append({"name": name, "version": draw(st.integers(1, 2)), "stores": [store]})
    databases.sort(key=lambda one: one["name"])
    return Origin(draw(st.sampled_from(["https://x.test", "https://y.test"])), draw(entries), draw(entries), databases)


JARS = st.builds(make_jar, st.lists(COOKIES, max_size=6), st.lists(origins(), max_size=3))
PROPERTY = settings(max_examples=300, deadline=None)


@PROPERTY
@given(JARS, JARS)
def test_what_a_session_did_not_touch_stays_as_the_profile_has_it(base: Jar, theirs: Jar) -> None:
    assert join(base, theirs, base) == Merged(theirs)


@PROPERTY
@given(JARS, JARS)
def test_with_no_other_session_the_profile_becomes_what_the_session_left(base: Jar, ours: Jar) -> None:
    merged = join(base, base, ours)
    assert merged.jar == ours
    assert merged.conflicts == ()


@PROPERTY
@given(JARS, JARS)
def test_equal_changes_are_no_conflict(base: Jar, both: Jar) -> None:
    assert join(base, both, both) == Merged(both)


@PROPERTY
@given(JARS, JARS, JARS)
def test_the_order_of_closing_matters_nowhere_when_the_times_are_known(base: Jar, first: Jar, second: Jar) -> None:
    one = merge(base, Side(first, 1), Side(second, 2))
    other = merge(base, Side(second, 2), Side(first, 1))
    assert one.jar == other.jar
    assert [conflict.name for conflict in one.conflicts] == [conflict.name for conflict in other.conflicts]


@PROPERTY
@given(JARS, JARS, JARS)
def test_a_merge_that_is_done_again_changes_nothing(base: Jar, theirs: Jar, ours: Jar) -> None:
    merged = join(base, theirs, ours)
    assert join(ours, merged.jar, ours) == Merged(merged.jar)
