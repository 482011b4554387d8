import json
import threading

import pytest

from appliance.sensitive import SensitiveData
from appliance.store.evidence import Evidence, Sighting
from appliance.words import ReceiptStatus
from tests.appliance.actions.answering import Server
from tests.appliance.actions.conftest import Hands

PNG = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR"


def files(hands: Hands) -> list[str]:
    return [entry.name for entry in hands.context.scratchpad.listing() if entry.name != "todo.md"]


async def test_a_short_answer_is_shown_whole(hands: Hands, server: Server):
    server.say("/a.json", b'{"price": 12}', "Content-Type: application/json", "Link: <next>; rel=next")
    done = await hands.act("http_fetch", url=server.url("/a.json?key=hidden"))
    assert done.status is ReceiptStatus.OK
    assert done.carried == '{"price": 12}'
    assert f"GET {server.url('/a.json')} answered 200 OK, application/json, 13 characters" in done.text
    assert "link: <next>; rel=next" in done.text
    assert files(hands) == []


async def test_a_long_answer_goes_to_a_file_and_is_shown_by_its_beginning(hands: Hands, server: Server):
    rows = json.dumps([{"row": number} for number in range(2_000)])
    server.say("/", rows.encode(), "Content-Type: application/vnd.api+json; charset=utf-8")
    done = await hands.act("http_fetch", url=server.url("/"))
    assert done.carried is not None
    assert done.carried.startswith(rows[:1_500])
    assert len(done.carried) < 1_700
    assert "kept in fetched.txt" in done.text
    assert hands.context.scratchpad.read("fetched.txt") == rows
    server.say("/", rows.replace("row", "line").encode(), "Content-Type: application/json")
    await hands.act("http_fetch", url=server.url("/"))
    await hands.act("http_fetch", url=server.url("/"))
    assert files(hands)[0:3] == ["fetched(1).json", "fetched.json", "fetched.txt"]


@pytest.mark.parametrize("code", ["404 Not Found", "429 Too Many Requests", "500 Internal Server Error"])
async def test_an_error_status_is_an_answer(hands: Hands, server: Server, code: str):
    server.say("/", b"why", "Content-Type: text/plain", "Retry-After: 7", status=code)
    done = await hands.act("http_fetch", url=server.url("/"))
    assert done.status is ReceiptStatus.OK
    assert f"answered {code}" in done.text
    assert "retry-after: 7" in done.text
    assert done.carried == "why"


async def test_method_headers_and_body_are_sent_as_given(hands: Hands, server: Server):
    url = server.say("/", b"")
    await hands.act("http_fetch", url=url, method="post", headers={"X-Key": "k", "Accept": "text/csv"}, body={"a": "ü"})
    await hands.act("http_fetch", url=url, method="PUT", body="[1, 2]")
    await hands.act("http_fetch", url=url, method="PATCH", body="a=1&b=x%20y")
    await hands.act("http_fetch", url=url, method="DELETE", body="plain words")
    first, second, third, fourth = server.asked
    assert (first.line, first.body) == ("POST / HTTP/1.1", '{"a": "ü"}'.encode())
    assert (first.headers["x-key"], first.headers["accept"]) == ("k", "text/csv")
    kinds = [asked.headers["content-type"].partition(";")[0] for asked in (first, second, third, fourth)]
    assert kinds == ["application/json", "application/json", "application/x-www-form-urlencoded", "text/plain"]


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"headers": {"Host": "other.example"}}, "The header Host belongs to the connection"),
        ({"headers": {"content-length": 5}}, "The header content-length belongs to the connection"),
        ({"headers": {"Transfer-Encoding": "chunked"}}, "belongs to the connection"),
        ({"headers": {"Proxy-Authorization": "x"}}, "belongs to the connection"),
        ({"headers": {"Bad Name": "x"}}, "is not the name of a header"),
        ({"headers": {"X-A": "x\r\nHost: other"}}, "signs no header can have"),
        ({"headers": {"X-A": "schön"}}, "signs no header can have"),
        ({"method": "CONNECT"}, "use one of GET, HEAD, POST"),
        ({"body": "x"}, "GET has no body"),
        ({"method": "POST", "body": "x" * 1_000_001}, "1,000,000 are the most"),
    ],
)
async def test_a_request_that_cannot_be_is_named_and_not_made(hands: Hands, server: Server, given: dict, says: str):
    done = await hands.act("http_fetch", url=server.url("/"), **given)
    assert done.status is ReceiptStatus.FAILED
    assert says in done.text
    assert not server.asked


@pytest.mark.parametrize(
    ("kind", "data"),
    [
        ("text/html; charset=windows-1251", "Цена".encode("cp1251")),
        ("text/plain", "Цена".encode()),
        ("text/plain", "Цена".encode("utf-16")),
        ("text/plain; charset=nonsense", "Цена".encode()),
        ("text/plain; charset=idna", "Цена".encode()),
        ("text/html", b"<meta charset='koi8-r'>" + "Цена".encode("koi8-r")),
        ("application/xml", b"<?xml version='1.0' encoding='shift_jis'?>" + "Цена".encode("shift_jis")),
        ("", "Цена".encode()),
    ],
)
async def test_text_is_read_in_its_own_encoding(hands: Hands, server: Server, kind: str, data: bytes):
    server.say("/", data, *([f"Content-Type: {kind}"] if kind else []))
    done = await hands.act("http_fetch", url=server.url("/"))
    assert done.carried is not None
    assert done.carried.endswith("Цена")


async def test_what_is_no_text_goes_to_a_file_as_it_is(hands: Hands, server: Server):
    server.say("/1", PNG, "Content-Type: image/png")
    server.say("/2", PNG)
    server.say("/3", PNG, "Content-Type: text/plain")
    for path in ("/1", "/2", "/3"):
        done = await hands.act("http_fetch", url=server.url(path))
        assert "16 bytes, no text, kept in fetched" in done.text
        assert done.carried is None
    assert (hands.context.scratchpad.root / "fetched.png").read_bytes() == PNG


async def test_json_that_is_none_is_said(hands: Hands, server: Server):
    server.say("/", b"{'a': 1}", "Content-Type: application/json")
    assert "which is not valid JSON" in (await hands.act("http_fetch", url=server.url("/"))).text


async def test_an_answer_too_big_for_a_file_is_cut_and_that_is_said(hands: Hands, server: Server):
    server.say("/", b"\xe4" * 9_000_000, "Content-Type: text/plain; charset=latin-1")
    done = await hands.act("http_fetch", url=server.url("/"))
    assert "only its first 8,000,000 bytes were taken" in done.text
    assert len(hands.context.scratchpad.read("fetched.txt")) == 4_000_000


async def test_an_answer_that_finds_no_room_is_shown_all_the_same(hands: Hands, server: Server):
    for number in range(500):
        (hands.context.scratchpad.root / f"full-{number}.txt").touch()
    server.say("/", b"words " * 1_000, "Content-Type: text/plain")
    done = await hands.act("http_fetch", url=server.url("/"))
    assert "no file (There are 500 files already" in done.text
    assert (done.carried or "").startswith("words " * 1_000)


async def test_what_policy_refuses_is_blocked_with_the_reason(hands: Hands, server: Server):
    for url in ("http://169.254.169.254/", "http://192.168.1.1/", "file:///etc/passwd", "data:text/plain,x"):
        done = await hands.act("http_fetch", url=url)
        assert done.status is ReceiptStatus.BLOCKED
    server.say("/", b"", "Location: http://169.254.169.254/", status="302 Found")
    done = await hands.act("http_fetch", url=server.url("/"))
    assert done.status is ReceiptStatus.BLOCKED
    assert "It redirects on, and http://169.254.169.254 is a link-local or metadata address" in done.text


async def test_what_was_fetched_counts_as_read(hands: Hands, server: Server):
    page = """<title>Ware</title><nav>Home</nav><main><h1>Lamp</h1><p>Costs 12.50 euros</p><a href="/buy?x=1">Buy</a>
        </main><script type="application/ld+json">{"sku": "L-77", "url": "https://shop.example/l77"}</script>"""
    server.say("/ware", page.encode(), "Content-Type: text/html")
    hands.context.step = 4
    await hands.act("http_fetch", url=server.url("/ware"))
    seen = hands.context.evidence.sightings[-1]
    assert (seen.url, seen.step) == (server.url("/ware"), 4)
    assert "12.50 euros" in seen.text
    assert "L-77" in seen.text
    assert {server.url("/buy?x=1"), "https://shop.example/l77"} <= seen.links


class WatchedEvidence(Evidence):
    """Remembers which threads told it something."""

    def __init__(self) -> None:
        super().__init__()
        self.tellers: set[int] = set()

    def see(self, sighting: Sighting) -> None:
        self.tellers.add(threading.get_ident())
        super().see(sighting)


async def test_what_requests_beside_each_other_bring_is_noted_one_at_a_time(hands: Hands, server: Server):
    hands.context.evidence = evidence = WatchedEvidence()
    server.say("/", b"<p>Lamp</p>", "Content-Type: text/html")
    await hands.act("http_fetch", url=server.url("/"))
    await hands.open("act_second.html")
    await hands.act("extract", query="the title")
    assert evidence.tellers == {threading.get_ident()}


async def test_no_secret_gets_into_the_evidence_with_an_address(hands: Hands, server: Server):
    domain = f"http://127.0.0.1:{server.port}"
    hands.context.sensitive = SensitiveData.read({domain: {"token": "tok-12345-secret"}})
    server.say("/", b'<a href="/next?key=tok-12345-secret">on</a>', "Content-Type: text/html")
    await hands.act("http_fetch", url=server.url("/?key=tok-12345-secret"))
    seen = hands.context.evidence.sightings[-1]
    assert "tok-12345" not in f"{seen.url} {seen.text} {sorted(seen.links)}"


async def test_a_secret_goes_only_where_it_belongs(hands: Hands, server: Server):
    domain = f"http://127.0.0.1:{server.port}"
    hands.context.sensitive = SensitiveData.read({domain: {"token": "tok-12345-secret"}})
    server.say("/", b"you sent tok-12345-secret", "Content-Type: text/plain")
    done = await hands.act("http_fetch", url=server.url("/"), headers={"Authorization": "Bearer tok-12345-secret"})
    assert done.status is ReceiptStatus.OK
    assert done.carried == "you sent <secret>token</secret>"
    assert all("tok-12345" not in sighting.text for sighting in hands.context.evidence.sightings)
    async with Server("127.0.0.2") as other:
        other.say("/", b"")
        for given in (
            {"url": other.url("/?x=tok-12345-secret")},
            {"url": other.url("/"), "headers": {"X-A": "dG9rLTEyMzQ1LXNlY3JldA=="}},
            {"url": other.url("/"), "method": "POST", "body": {"a": ["tok-12345-secret"]}},
        ):
            done = await hands.act("http_fetch", **given)
            assert done.status is ReceiptStatus.BLOCKED
            assert 'holds the secret "token"' in done.text
            assert "tok-12345" not in done.text
        server.say("/on", b"", f"Location: {other.url('/?x=tok-12345-secret')}", status="302 Found")
        done = await hands.act("http_fetch", url=server.url("/on"))
        assert done.status is ReceiptStatus.BLOCKED
        assert not other.asked
    done = await hands.act("http_fetch", url=server.url("/"), headers={"X": "<secret>token</secret>"})
    assert done.status is ReceiptStatus.FAILED
    assert "can only be entered with input" in done.text
