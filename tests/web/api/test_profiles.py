from collections.abc import Iterator
from typing import Any
from uuid import uuid4

import httpx
import pytest
from browser_use_sdk.v3 import BrowserUse

from appliance.persistence.database import Transaction
from appliance.persistence.keys import add_key
from appliance.persistence.teams import add_team
from tests.web.api.running import RunningServer, run_server


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningServer]:
    yield from run_server(tmp_path_factory.mktemp("server"))


def state(**cookies: str) -> dict[str, Any]:
    found = [
        {"name": name, "value": value, "domain": ".shop.test", "path": "/", "expires": 9e9, "sameSite": "Lax"}
        for name, value in cookies.items()
    ]
    return {"cookies": found, "origins": []}


def keep(http: httpx.Client, **cookies: str) -> str:
    profile = http.post("/v3/profiles").json()["id"]
    assert http.put(f"/v3/profiles/{profile}/storage-state", json=state(**cookies)).status_code == 200
    return profile


def test_the_client_makes_finds_changes_and_deletes_profiles(client: BrowserUse) -> None:
    made = client.profiles.create(name="Shop of mine", user_id="customer-7")
    nameless = client.profiles.create()
    assert (made.name, made.user_id, nameless.name) == ("Shop of mine", "customer-7", None)
    assert [one.id for one in client.profiles.list(query="shop OF").items] == [made.id]
    page = client.profiles.list(page=1, page_size=1)
    assert [one.id for one in page.items] == [nameless.id]
    assert page.total_items >= 2
    changed = client.profiles.update(str(made.id), name="Other")
    assert (changed.name, changed.user_id) == ("Other", "customer-7")
    assert client.profiles.get(str(made.id)).cookie_domains == []
    client.profiles.delete(str(made.id))
    with pytest.raises(Exception, match="Profile not found"):
        client.profiles.get(str(made.id))


@pytest.mark.parametrize("spelling", [("pageNumber", "pageSize"), ("page", "page_size")])
def test_pages_are_asked_for_in_both_spellings(http: httpx.Client, spelling: tuple[str, str]) -> None:
    ids = [http.post("/v3/profiles").json()["id"] for _ in range(2)]
    answer = http.get("/v3/profiles", params={spelling[0]: 2, spelling[1]: 1}).json()
    assert (answer["pageNumber"], answer["pageSize"]) == (2, 1)
    assert [one["id"] for one in answer["items"]] == ids[:1]
    assert http.get("/v3/profiles", params={spelling[1]: 101}).status_code == 422
    assert http.get("/v3/profiles", params={"query": "q" * 201}).status_code == 422


def test_a_storage_state_is_imported_and_exported_and_the_one_before_is_kept(http: httpx.Client) -> None:
    profile = f"/v3/profiles/{keep(http, a='1')}"
    assert http.get(f"{profile}/storage-state").json()["cookies"][0]["value"] == "1"
    answer = http.put(f"{profile}/storage-state", json=state(a="2")).json()
    assert answer["cookieDomains"] == ["shop.test"]
    assert answer["version"] == 2
    assert http.get(f"{profile}/storage-state", params={"version": 1}).json()["cookies"][0]["value"] == "1"


def test_a_profile_of_the_cloud_keeps_its_id_when_it_is_imported(http: httpx.Client) -> None:
    known, fresh = str(uuid4()), str(uuid4())
    assert http.put(f"/v3/profiles/{known}/storage-state", json=state(a="1")).json()["id"] == known
    bundle = {"profiles": [{"id": fresh, "name": "Mail", "storageState": state(b="1")}]}
    (imported,) = http.post("/v3/profiles/import", json=bundle).json()["items"]
    assert (imported["id"], imported["name"]) == (fresh, "Mail")
    exported = {one["id"]: one for one in http.get("/v3/profiles/export").json()["profiles"]}
    assert (
        exported[fresh]["storageState"]["cookies"] == http.get(f"/v3/profiles/{fresh}/storage-state").json()["cookies"]
    )


def test_versions_are_listed_compared_and_restored_with_values_only_when_asked_for(http: httpx.Client) -> None:
    profile = f"/v3/profiles/{keep(http, a='s3cret')}"
    http.put(f"{profile}/storage-state", json=state(b="1"))
    listed = http.get(f"{profile}/merges").json()["items"]
    assert [(one["number"], one["added"], one["removed"], one["source"]) for one in listed] == [
        (2, 1, 1, "import"),
        (1, 1, 0, "import"),
    ]
    hidden = http.get(f"{profile}/compare", params={"older": 1, "newer": 2})
    assert "s3cret" not in hidden.text
    assert [change["kind"] for change in hidden.json()["changes"]] == ["removed", "added"]
    assert "s3cret" in http.get(f"{profile}/merges/1", params={"values": True}).text
    assert http.post(f"{profile}/merges/1/restore").json()["version"] == 3
    assert http.get(f"{profile}/merges/77").status_code == 404
    assert http.get(f"{profile}/merges/{10**30}").status_code == 404


def test_profiles_are_merged_by_hand_with_a_choice_per_conflict(http: httpx.Client) -> None:
    first, second = keep(http, a="1", b="1"), keep(http, a="2", c="1")
    path = f"/v3/profiles/{first}/merge"
    (conflict,) = http.post(path, json={"profileId": second, "preview": True}).json()["conflicts"]
    assert conflict["entry"][:2] == ["cookie", "a"]
    refused = http.post(path, json={"profileId": second})
    assert refused.status_code == 422
    assert "choose" in refused.text
    chosen = {"profileId": second, "choices": {conflict["key"]: "ours"}}
    assert http.post(path, json=chosen).status_code == 200
    kept = http.get(f"/v3/profiles/{first}/storage-state").json()["cookies"]
    assert {one["name"]: one["value"] for one in kept} == {"a": "2", "b": "1", "c": "1"}
    assert http.post(path, json={**chosen, "choices": {conflict["key"]: "both"}}).status_code == 422


def test_bad_input_has_a_clear_outcome_and_changes_nothing(http: httpx.Client) -> None:
    profile = f"/v3/profiles/{keep(http, a='1')}"
    for body in (b"", b"nonsense", b"[]", b"{}", b'{"cookies": [{"name": 1}]}', b"{" + b" " * 50_000_000 + b"}"):
        answer = http.put(f"{profile}/storage-state", content=body)
        assert answer.status_code == 422, body[:30]
    assert http.get(f"{profile}/storage-state").json()["cookies"][0]["value"] == "1"
    for body in (b"{", b'{"profiles": [{"storageState": {}}]}', b'{"profiles": [{"id": "x", "storageState": {}}]}'):
        assert http.post("/v3/profiles/import", content=body).status_code == 422
    assert http.post("/v3/profiles", json={"name": "n" * 101}).status_code == 422
    assert http.post("/v3/profiles", json={"userId": "n" * 256}).status_code == 422


@pytest.mark.parametrize("profile", ["nonsense", "%00", "..", "0", "b8fa9fc4-123e-46d1-a5dc-78cd4ba020bb"])
def test_an_unknown_or_malformed_id_is_never_a_fault_of_the_server(http: httpx.Client, profile: str) -> None:
    for method, path in (
        ("GET", ""),
        ("PATCH", ""),
        ("DELETE", ""),
        ("GET", "/storage-state"),
        ("GET", "/merges"),
        ("POST", "/merges/1/restore"),
    ):
        answer = http.request(method, f"/v3/profiles/{profile}{path}", json={} if method == "PATCH" else None)
        assert answer.status_code in (404, 405, 422), (method, path, answer.text)


def test_a_session_names_a_profile_that_is_there(http: httpx.Client) -> None:
    profile = keep(http, a="1")
    answer = http.post("/v3/sessions", json={"profileId": profile})
    assert answer.json()["profileId"] == profile
    assert http.post("/v3/sessions", json={"profileId": str(uuid4())}).status_code == 404
    assert http.post("/v3/sessions", json={"profileId": "nonsense"}).status_code == 422


def test_a_profile_of_another_team_is_not_there(http: httpx.Client, server: RunningServer) -> None:
    profile = keep(http, a="1")

    async def make(transaction: Transaction) -> None:
        await add_key(transaction, "theirs", "bu_theirs", team_id=(await add_team(transaction, "Theirs")).id)

    server.write(make)
    headers = {"X-Browser-Use-API-Key": "bu_theirs"}
    for method, path in (("GET", ""), ("GET", "/storage-state"), ("DELETE", ""), ("GET", "/merges")):
        assert http.request(method, f"/v3/profiles/{profile}{path}", headers=headers).status_code == 404
    assert http.post("/v3/sessions", json={"profileId": profile}, headers=headers).status_code == 404
    assert http.put(f"/v3/profiles/{profile}/storage-state", json=state(), headers=headers).status_code == 404
