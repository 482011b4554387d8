"""What protects a person's secrets and machine, against a whole appliance: nothing of a secret is found anywhere."""

import json
from collections.abc import Iterator
from html import escape
from typing import Any
from urllib.parse import quote, quote_plus

import pytest
from browser_use_sdk.v3 import BrowserUse

from tests.site import Site
from tests.stand_in import StandIn
from tests.system.instance import API_KEY, Instance, eventually

PASSWORD = "Zq7!ärger & <Söhne>/+42"
CARD = "another-Secret-of-that-name"


@pytest.fixture(scope="module")
def talkative(provider_settings: dict[str, str]) -> Iterator[Instance]:
    """An appliance that logs all it can."""
    with Instance({**provider_settings, "LOG_LEVEL": "debug"}) as instance:
        yield instance


def spellings(value: str) -> set[bytes]:
    """Return how the value would stand in a file, an address, a page or JSON."""
    plain = {value, quote(value, safe=""), quote_plus(value), quote(value), escape(value), json.dumps(value)[1:-1]}
    return {spelling.encode() for spelling in plain}


def find_all(value: str, where: dict[str, bytes]) -> list[str]:
    return [name for name, data in where.items() if any(spelling in data for spelling in spellings(value))]


def everything_about(instance: Instance, session: dict[str, Any]) -> dict[str, bytes]:
    """Return every byte the appliance keeps, wrote to its log, or tells of the session."""
    found = {
        str(path.relative_to(instance.folder)): path.read_bytes()
        for path in instance.folder.rglob("*")
        if path.is_file()
    }
    for path in ("", "/messages?limit=100", "/events", "/history", "/files"):
        found[f"GET {path}"] = instance.http.get(f"/v3/sessions/{session['id']}{path}").content
    found["GET list"] = instance.http.get("/v3/sessions").content
    return found


def test_a_secret_that_the_page_repeats_is_found_nowhere(talkative: Instance, stand_in: StandIn, site: Site) -> None:
    steps: list[Any] = [
        {"navigate": {"url": site.url("/secret_login.html")}},
        [
            {"input": {"index": {"label": "User"}, "text": "<secret>card</secret>"}},
            {"input": {"index": {"label": "User"}, "text": "ann"}},
        ],
        {"input": {"index": {"label": "Password"}, "text": "<secret>pw</secret>"}},
        {"evaluate": {"code": "document.body.innerText + document.getElementById('password').value"}},
        {"extract": {"query": "What was typed?"}},
        {"search_page": {"pattern": "typed"}},
        {"navigate": {"url": site.url("/echo?d=<secret>pw</secret>")}},
        {"click": {"index": {"text": "Sign in"}}},
        {"done": {"text": "Signed in.", "success": True}},
    ]
    marker = "RUN-secret"
    stand_in.add(marker, {"steps": steps, "extracts": ["A password was typed."]})
    site.requests.clear()
    secrets = {"http://127.0.0.1": {"pw": PASSWORD}, "other.test": {"pw": CARD, "card": CARD}}
    session = talkative.create(
        task=f"{marker} Sign in with {PASSWORD}.", model="claude-opus-4.7", sensitiveData=secrets
    )
    ended = talkative.wait_for(session, seconds=90)
    assert (ended["status"], ended["output"]) == ("stopped", "Signed in."), ended

    sent = next(seen for seen in site.requests if seen.path.startswith("/echo?user="))
    assert quote_plus(PASSWORD).encode() in sent.path.encode()
    assert [seen.path for seen in site.requests if "echo?d=" in seen.path] == []
    receipts = [message["summary"] for message in talkative.messages(session)]
    assert any("is for other.test" in text for text in receipts), receipts

    # The browser's own files, such as its history, go with the browser.
    browsers = talkative.folder / "run" / "browsers"
    eventually(lambda: not list(browsers.glob("*")), "the browser's files are gone")
    where = everything_about(talkative, session)
    where |= {
        f"request {n}": json.dumps(one.body, ensure_ascii=False).encode() for n, one in enumerate(stand_in.requests)
    }
    assert len([name for name in where if name.startswith("request")]) >= len(steps)
    assert any(name.endswith("history.json") for name in where)
    assert find_all(PASSWORD, where) == []
    assert find_all(CARD, where) == []
    assert any(b"<secret>pw</secret>" in data for name, data in where.items() if name.startswith("request"))


def test_the_clouds_own_client_sends_secrets_and_gets_none_back(
    talkative: Instance, stand_in: StandIn, site: Site
) -> None:
    stand_in.add(
        "RUN-sdksecret",
        [
            {"navigate": {"url": site.url("/secret_login.html")}},
            {"input": {"index": {"label": "Password"}, "text": "<secret>key</secret>"}},
            {"done": {"text": "Typed."}},
        ],
    )
    client = BrowserUse(api_key=API_KEY, base_url=talkative.api_url)
    result = client.run("RUN-sdksecret Type it.", model="claude-opus-4.7", sensitive_data={"key": PASSWORD})
    client.close()
    assert result.output == "Typed."
    assert find_all(PASSWORD, {"answer": result.session.model_dump_json().encode()}) == []
    assert any("equal to what was entered" in one["summary"] for one in talkative.messages({"id": result.session.id}))


def test_allowed_domains_hold_and_the_refusal_is_told(talkative: Instance, stand_in: StandIn, site: Site) -> None:
    forbidden = site.url("/controls.html", host=2)
    code = f"fetch('{site.url('/scripted', host=3)}', {{mode: 'no-cors'}}).then(() => 'reached', () => 'refused')"
    steps = [
        {"navigate": {"url": site.url("/")}},
        {"navigate": {"url": forbidden}},
        {"evaluate": {"code": code}},
        {"evaluate": {"code": f"location.href = '{forbidden}'"}},
        {"done": {"text": "Done."}},
    ]
    stand_in.add("RUN-domains", steps)
    site.requests.clear()
    session = talkative.create(task="RUN-domains Go.", model="gpt-5.5", allowedDomains=["127.0.0.1"])
    assert session["allowedDomains"] == ["127.0.0.1"]
    talkative.wait_for(session, seconds=90)
    assert {seen.host for seen in site.requests} == {"127.0.0.1"}
    told = [message["summary"] for message in talkative.messages(session)]
    for host in ("127.0.0.2", "127.0.0.3"):
        assert [text for text in told if host in text and "outside the domains this task may use (127.0.0.1)" in text]
    asked = "\n".join(request.text for request in stand_in.steps if request.marker == "RUN-domains")
    assert "The page could not reach a site: http://127.0.0.3" in asked
