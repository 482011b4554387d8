import json
from typing import Any

import pytest

from appliance.errors import RequestInvalid
from appliance.profiles.jar import Cookie, Jar, Origin, Partition, make_jar, pack_jar, unpack_jar
from appliance.profiles.storage_state import read_storage_state, write_storage_state

COOKIE = {"name": "sid", "value": "s3cret", "domain": ".shop.test", "path": "/", "expires": 2e9, "sameSite": "Lax"}
DATABASE = {
    "name": "cart",
    "version": 2,
    "stores": [
        {"name": "items", "autoIncrement": False, "keyPath": "id", "indexes": [], "records": [{"value": {"id": 1}}]}
    ],
}
ORIGIN = {"origin": "https://shop.test", "localStorage": [{"name": "theme", "value": "dark"}], "indexedDB": [DATABASE]}


def read(document: Any) -> Jar:
    return read_storage_state(json.dumps(document).encode())


def test_a_storage_state_of_playwright_becomes_a_jar() -> None:
    partitioned = {**COOKIE, "name": "p", "partitionKey": "https://top.test", "_crHasCrossSiteAncestor": True}
    jar = read({"cookies": [COOKIE, partitioned], "origins": [ORIGIN]})
    assert jar.cookies[0].partition_key == Partition("https://top.test", True)
    assert jar.cookies[1] == Cookie("sid", "s3cret", ".shop.test", "/", 2e9, same_site="Lax")
    assert jar.origins == (Origin("https://shop.test", {"theme": "dark"}, {}, [DATABASE]),)
    assert jar.domains == ("shop.test",)


def test_a_jar_comes_back_from_the_storage_state_and_the_bytes_written_of_it() -> None:
    jar = read({"cookies": [COOKIE], "origins": [{**ORIGIN, "sessionStorage": [{"name": "tab", "value": "1"}]}]})
    assert read(write_storage_state(jar)) == jar
    assert unpack_jar(pack_jar(jar)) == jar
    with pytest.raises(ValueError, match="packed jar"):
        unpack_jar(b"nonsense")


@pytest.mark.parametrize("missing", ["origins", "cookies"])
def test_a_storage_state_without_cookies_or_without_origins_is_taken(missing: str) -> None:
    state: dict[str, Any] = {"cookies": [COOKIE], "origins": [ORIGIN]}
    del state[missing]
    assert not read(state).is_empty


@pytest.mark.parametrize(
    ("state", "place"),
    [
        ({}, "neither cookies nor origins"),
        ([], "object"),
        ({"cookies": {}}, r"\$\.cookies"),
        ({"cookies": [{**COOKIE, "value": 5}]}, r"\$\.cookies\[0\]\.value"),
        ({"cookies": [{"name": "sid", "value": ""}]}, "domain"),
        ({"cookies": [{**COOKIE, "sameSite": "sometimes"}]}, "sameSite"),
        ({"cookies": [{**COOKIE, "expires": "tomorrow"}]}, "expires"),
        ({"origins": [{"origin": "shop.test"}]}, "https://example.com"),
        ({"origins": [{"origin": "https://shop.test/path"}]}, "https://example.com"),
        ({"origins": [{"origin": "https://shop.test", "localStorage": {"a": "b"}}]}, "localStorage"),
        ({"origins": [{"origin": "https://shop.test", "indexedDB": [{"name": "x"}]}]}, "version"),
        ({"origins": [{"origin": "https://[", "localStorage": []}]}, "IPv6"),
    ],
)
def test_a_storage_state_with_wrong_types_is_refused_with_its_place_and_without_its_values(
    state: Any, place: str
) -> None:
    with pytest.raises(RequestInvalid, match=place) as refusal:
        read(state)
    assert "s3cret" not in refusal.value.message
    assert "Playwright" in refusal.value.message


@pytest.mark.parametrize(
    "coded",
    [["x"], {"o": ["x"]}, {"o": {"k": "v"}}, {"o": [{"v": 1}]}, {"o": [{"k": "id", "v": {"a": [{"o": [1]}]}}]}],
    ids=str,
)
def test_records_of_another_form_are_refused(coded: Any) -> None:
    store = {**DATABASE["stores"][0], "records": [{"valueEncoded": coded}]}
    with pytest.raises(RequestInvalid, match="valueEncoded"):
        read({"origins": [{**ORIGIN, "indexedDB": [{**DATABASE, "stores": [store]}]}]})


def test_records_that_need_more_than_json_are_taken_as_they_are() -> None:
    coded = {"o": [{"k": "id", "v": 1}, {"k": "at", "v": {"d": "2026-01-01"}}, {"k": "no", "v": {"v": "NaN"}}], "id": 1}
    records = [{"valueEncoded": coded}, {"key": "k", "value": {"o": ["x"]}}, {"keyEncoded": {"a": [1], "id": 1}}]
    database = {**DATABASE, "stores": [{**DATABASE["stores"][0], "records": records}]}
    assert read({"origins": [{**ORIGIN, "indexedDB": [database]}]}).origins[0].databases == [database]


@pytest.mark.parametrize(
    "data", [b"", b"no json", b"\xff\xfe", b'{"cookies": ' + b"[" * 100_000, b'{"cookies": ["\\ud800"]}']
)
def test_bytes_that_are_no_storage_state_are_refused(data: bytes) -> None:
    with pytest.raises(RequestInvalid):
        read_storage_state(data)


def test_a_storage_state_of_50_megabytes_is_refused() -> None:
    with pytest.raises(RequestInvalid, match="20 MB"):
        read_storage_state(b" " * 50_000_000)


def test_cookies_and_origins_that_stand_there_twice_are_put_together() -> None:
    jar = make_jar(
        [Cookie("a", "1", "x.test"), Cookie("a", "2", "x.test")],
        [
            Origin("https://x.test", {"k": "1", "l": "1"}),
            Origin("https://x.test", {"k": "2"}),
            Origin("https://e.test"),
        ],
    )
    assert jar == Jar((Cookie("a", "2", "x.test"),), (Origin("https://x.test", {"k": "2", "l": "1"}),))
