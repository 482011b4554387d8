"""Profiles in a whole appliance: what a session leaves in its browser, the next finds; two at once lose nothing."""

from typing import Any

from tests.site import Site
from tests.stand_in import StandIn
from tests.system.instance import Instance, eventually

DONE = {"done": {"text": "Done.", "success": True}}


def make_profile(instance: Instance, name: str) -> str:
    answer = instance.http.post("/v3/profiles", json={"name": name})
    assert answer.status_code == 201
    return str(answer.json()["id"])


def begin(
    instance: Instance, stand_in: StandIn, marker: str, addresses: list[str], more: list[Any] | None = None, **body: Any
) -> Any:
    """Begin a session that opens the addresses one after the other."""
    stand_in.add(marker, [*({"navigate": {"url": address}} for address in addresses), *(more or []), DONE])
    return instance.create(task=f"{marker} Go.", model="house-model", **body)


def accounts(instance: Instance, stand_in: StandIn, marker: str, site: Site, profile: str) -> list[str]:
    """Return what the accounts of two sites say in a new session of the profile."""
    addresses = [site.url("/account"), site.url("/account", 2)]
    instance.wait_for(begin(instance, stand_in, marker, addresses, profileId=profile))
    texts = [step.text for step in stand_in.steps if step.marker == marker][1:3]
    found: list[str] = []
    for text in texts:
        seen = text[text.rindex("The server knows") :]
        found.append(" ".join(f"{name}" for name in _names(seen)))
    return found


def _names(text: str) -> list[str]:
    words = text.replace(".", " ").split()
    return [
        words[at + 2] for at in range(len(words) - 2) if words[at : at + 2] in (["server", "knows"], ["page", "knows"])
    ]


def test_a_login_in_one_session_and_a_logout_in_another_both_hold_afterwards(
    instance: Instance, stand_in: StandIn, site: Site
):
    profile = make_profile(instance, "shared")
    signed_in = [site.url("/sign-in", 2), site.url("/sign-in", 3)]
    instance.wait_for(begin(instance, stand_in, "RUN-profbase", signed_in, profileId=profile))
    assert accounts(instance, stand_in, "RUN-proflook", site, profile) == ["nobody nobody", "ada ada"]

    met = [{"wait_for": {"text": "Everybody is here.", "seconds": 60}}]
    one = [site.url("/sign-in"), site.url("/meeting?room=shared&guest=1")]
    other = [site.url("/sign-out", 2), site.url("/meeting?room=shared&guest=2")]
    sessions = [
        begin(instance, stand_in, "RUN-profin", one, met, profileId=profile),
        begin(instance, stand_in, "RUN-profout", other, met, profileId=profile),
    ]
    for session in sessions:
        assert instance.wait_for(session)["output"] == "Done."

    assert accounts(instance, stand_in, "RUN-profend", site, profile) == ["ada ada", "nobody nobody"]


def test_a_profile_that_is_deleted_while_in_use_stays_deleted_and_the_run_finishes(
    instance: Instance, stand_in: StandIn, site: Site
):
    profile = make_profile(instance, "short")
    met = [{"wait_for": {"text": "Everybody is here.", "seconds": 60}}]
    addresses = [site.url("/sign-in"), site.url("/meeting?room=short&guest=1")]
    session = begin(instance, stand_in, "RUN-profshort", addresses, met, profileId=profile)
    eventually(lambda: any("room=short&guest=1" in path for path in site.paths()), "the session is at work", 90)

    assert instance.http.delete(f"/v3/profiles/{profile}").status_code == 204
    instance.http.get(site.url("/meeting?room=short&guest=2"))

    assert instance.wait_for(session)["output"] == "Done."
    assert instance.http.get(f"/v3/profiles/{profile}").status_code == 404


def test_a_parked_session_has_its_login_saved_after_each_run(instance: Instance, stand_in: StandIn, site: Site):
    profile = make_profile(instance, "parked")
    session = begin(instance, stand_in, "RUN-profpark", [site.url("/sign-in")], profileId=profile, keepAlive=True)
    assert instance.wait_for(session)["status"] == "idle"
    assert accounts(instance, stand_in, "RUN-profpark1", site, profile) == ["ada ada", "nobody nobody"]

    again = begin(instance, stand_in, "RUN-profpark2", [site.url("/sign-in", 2)], sessionId=session["id"])
    assert instance.wait_for(again)["status"] == "idle"
    assert accounts(instance, stand_in, "RUN-profpark3", site, profile) == ["ada ada", "ada ada"]
    instance.http.post(f"/v3/sessions/{session['id']}/stop")
