import time
from typing import Any

import pytest

from appliance.browser.storage.in_use import StorageInUse
from appliance.errors import BrowserLost
from appliance.profiles.jar import Cookie, Jar, Origin, Partition
from tests.appliance.browser.storage.conftest import OpenBrowser
from tests.site import Site

NOTES: dict[str, Any] = {
    "name": "notes",
    "version": 2,
    "stores": [
        {
            "name": "pages",
            "autoIncrement": False,
            "keyPath": "id",
            "records": [{"value": {"id": 1, "title": "one"}}],
            "indexes": [{"name": "by title", "keyPath": "title", "multiEntry": False, "unique": False}],
        },
        {"name": "loose", "autoIncrement": False, "records": [{"key": "a", "value": 1}], "indexes": []},
    ],
}
EMPTY: dict[str, Any] = {
    **NOTES,
    "stores": [{**NOTES["stores"][1], "records": []}, {**NOTES["stores"][0], "records": []}],
}
ALL_KINDS = {
    "date": 5,
    "map": [["a", 1]],
    "set": ["b"],
    "bytes": [1, 2],
    "buffer": [3],
    "big": "12345678901234567890",
    "pattern": "/x/gi",
    "blob": "text/plain:hello",
    "same": True,
    "nothing": "undefined",
    "proto": "own",
}
WRITE_ALL_KINDS = """(async () => {
  const inner = { itself: null };
  inner.itself = inner;
  const odd = JSON.parse('{"__proto__": "own"}');
  await write("loose", {
    date: new Date(5), map: new Map([["a", 1]]), set: new Set(["b"]), bytes: new Uint8Array([1, 2]),
    buffer: new Uint8Array([3]).buffer, big: 12345678901234567890n, pattern: /x/gi,
    blob: new Blob(["hello"], { type: "text/plain" }), inner, nothing: undefined, odd,
  }, ["a", new Date(7)]);
  await write("loose", 2, 1.5);
})()"""
DESCRIBE_ALL_KINDS = """async (values) => {
  const all = values.find((value) => typeof value === "object");
  return {
    date: all.date.getTime(), map: [...all.map], set: [...all.set], bytes: [...all.bytes],
    buffer: [...new Uint8Array(all.buffer)], big: String(all.big), pattern: String(all.pattern),
    blob: `${all.blob.type}:${await all.blob.text()}`, same: all.inner.itself === all.inner,
    nothing: typeof all.nothing, proto: Object.getOwnPropertyDescriptor(all.odd, "__proto__").value,
  };
}"""


def origin_of(jar: Jar, origin: str) -> Origin | None:
    return next((one for one in jar.origins if one.origin == origin), None)


def kept_at(site: Site, host: int = 1, **parts: Any) -> Origin:
    return Origin(
        site.url("", host).rstrip("/"), parts.get("local", {}), parts.get("session", {}), parts.get("databases", [])
    )


async def captured(storage: StorageInUse) -> Jar:
    found = await storage.capture()
    assert not found.failures
    return found.jar


async def test_what_a_site_kept_is_there_before_the_first_script_of_its_page(
    open_browser: OpenBrowser, site: Site
) -> None:
    browser = await open_browser()
    kept = kept_at(site, local={"token": "t"}, session={"tab": "s"}, databases=[NOTES])
    await StorageInUse.restore(browser, Jar(origins=(kept,)))

    await browser.tab.navigate(site.url("/memory.html"))

    assert await browser.tab.evaluate("saw") == {"local": {"token": "t"}, "session": {"tab": "s"}}
    assert await browser.tab.evaluate("asked") == {"pages": [{"id": 1, "title": "one"}], "loose": [1]}
    assert await browser.tab.evaluate("saw.madeAnew") is None


async def test_a_redirect_to_a_site_finds_what_that_site_kept(open_browser: OpenBrowser, site: Site) -> None:
    browser = await open_browser()
    jar = Jar(origins=(kept_at(site, local={"a": "1"}), kept_at(site, 2, local={"b": "2"})))
    await StorageInUse.restore(browser, jar)

    await browser.tab.navigate(site.url(f"/redirect?to={site.url('/memory.html', 2)}"))
    there = await browser.tab.evaluate("saw.local")
    await browser.tab.navigate(site.url("/memory.html"))

    assert there == {"b": "2"}
    assert await browser.tab.evaluate("saw.local") == {"a": "1"}


async def test_what_a_page_deletes_stays_deleted_on_the_next_page_and_in_an_empty_frame(
    open_browser: OpenBrowser, site: Site
) -> None:
    browser = await open_browser()
    storage = await StorageInUse.restore(browser, Jar(origins=(kept_at(site, local={"token": "t", "rest": "r"}),)))

    await browser.tab.navigate(site.url("/memory.html"))
    await browser.tab.evaluate(
        "localStorage.removeItem('token'); document.body.append(document.createElement('iframe'))"
    )
    framed = await browser.tab.evaluate("localStorage.getItem('token')")
    await browser.tab.navigate(site.url("/memory.html?again"))

    assert framed is None
    assert await browser.tab.evaluate("saw.local") == {"rest": "r"}
    assert (await captured(storage)).origins == (kept_at(site, local={"rest": "r"}, databases=[EMPTY]),)


async def test_session_storage_belongs_to_the_first_tab_of_a_site(open_browser: OpenBrowser, site: Site) -> None:
    browser = await open_browser()
    storage = await StorageInUse.restore(browser, Jar(origins=(kept_at(site, session={"tab": "first"}),)))

    await browser.tab.navigate(site.url("/memory.html"))
    other, _ = await browser.open_tab(site.url("/memory.html"))

    assert await other.evaluate("saw.session") == {}
    assert (await captured(storage)).origins[0].session == {"tab": "first"}


async def test_sites_that_were_not_opened_come_back_as_they_were_and_nobody_asks_them(
    open_browser: OpenBrowser, site: Site
) -> None:
    browser = await open_browser()
    jar = Jar(origins=(kept_at(site, local={"a": "1"}), Origin("https://far.example", {"b": "2"}, {}, [NOTES])))
    storage = await StorageInUse.restore(browser, jar)
    asked = len(site.requests)

    assert await captured(storage) == jar
    assert len(site.requests) == asked


async def test_what_a_site_keeps_is_taken_when_its_page_is_open_and_when_it_is_not(
    open_browser: OpenBrowser, site: Site
) -> None:
    browser = await open_browser()
    storage = await StorageInUse.restore(browser, Jar())
    for host in (1, 2):
        await browser.tab.navigate(site.url("/memory.html", host))
        await browser.tab.evaluate("asked")
        await browser.tab.evaluate(f"localStorage.setItem('l', {host}); sessionStorage.setItem('s', {host})")
        await browser.tab.evaluate(f"write('pages', {{ id: {host}, title: 'one' }})")
    asked, tabs = len(site.requests), len(await browser.list_tabs())

    jar = await captured(storage)

    for host in (1, 2):
        kept = origin_of(jar, site.url("", host).rstrip("/"))
        assert kept is not None
        assert (kept.local, kept.session) == ({"l": str(host)}, {"s": str(host)})
        assert kept.databases[0]["stores"][1]["records"] == [{"value": {"id": host, "title": "one"}}]
    assert len(site.requests) == asked
    assert len(await browser.list_tabs()) == tabs
    assert not (await browser.observe(with_screenshot=False)).notes


async def test_what_was_captured_is_the_same_in_another_browser(open_browser: OpenBrowser, site: Site) -> None:
    browser = await open_browser()
    storage = await StorageInUse.restore(browser, Jar())
    await browser.tab.navigate(site.url("/memory.html"))
    await browser.tab.evaluate("asked")
    await browser.tab.evaluate(WRITE_ALL_KINDS)
    first = await captured(storage)

    another = await open_browser()
    again = await StorageInUse.restore(another, first)
    await another.tab.navigate(site.url("/memory.html"))

    assert await another.tab.evaluate(f"asked.then((found) => ({DESCRIBE_ALL_KINDS})(found.loose))") == ALL_KINDS
    assert await captured(again) == first


async def test_a_site_that_has_all_thrown_away_keeps_nothing_although_no_page_of_it_is_open(
    open_browser: OpenBrowser, site: Site
) -> None:
    browser = await open_browser()
    kept = kept_at(site, local={"token": "t"}, session={"s": "1"}, databases=[NOTES])
    storage = await StorageInUse.restore(browser, Jar(origins=(kept,)))
    await browser.tab.navigate(site.url("/memory.html"))
    await browser.tab.evaluate("asked")

    await browser.tab.navigate(site.url("/logged-out"))
    await browser.tab.navigate(site.url("/", 2))

    assert (await captured(storage)).origins == ()


async def test_what_a_page_writes_while_it_is_left_is_kept(open_browser: OpenBrowser, site: Site) -> None:
    browser = await open_browser()
    storage = await StorageInUse.restore(browser, Jar())
    await browser.tab.navigate(site.url("/"))
    await browser.tab.evaluate("addEventListener('pagehide', () => localStorage.setItem('left', '1')); 0")
    await browser.tab.navigate(site.url("/", 2))

    assert (await captured(storage)).origins == (kept_at(site, local={"left": "1"}),)


async def test_what_a_site_keeps_inside_another_site_is_not_taken_for_its_own(
    open_browser: OpenBrowser, site: Site
) -> None:
    browser = await open_browser()
    storage = await StorageInUse.restore(browser, Jar(origins=(kept_at(site, 2, local={"own": "1"}),)))
    await browser.tab.navigate(site.url("/"))
    frame = f"""new Promise((done) => {{
      const frame = document.createElement('iframe');
      frame.onload = () => done(0);
      frame.src = '{site.url("/storing", 2)}';
      document.body.append(frame);
    }})"""
    await browser.tab.evaluate(frame)
    before = await captured(storage)
    await browser.tab.navigate(site.url("/memory.html", 2))

    assert before.origins == (kept_at(site, 2, local={"own": "1"}),)
    assert await browser.tab.evaluate("saw.local") == {"own": "1"}


async def test_cookies_come_back_as_they_were_given_whatever_the_browser_makes_of_them(
    open_browser: OpenBrowser,
) -> None:
    browser = await open_browser()
    later = float(int(time.time()) + 3600)
    cookies = (
        Cookie("a", "1", "shop.example", expires=later, http_only=True, secure=True, same_site="Lax"),
        Cookie(
            "a", "2", "shop.example", secure=True, same_site="None", partition_key=Partition("https://other.example")
        ),
        Cookie("a", "3", ".shop.example", "/below"),
        Cookie("b", "4", "shop.example", expires=later + 1e9),
        Cookie("refused\n", "5", "shop.example"),
    )
    storage = await StorageInUse.restore(browser, Jar((*cookies, Cookie("old", "6", "shop.example", expires=5.0))))

    jar = await captured(storage)

    assert set(jar.cookies) == set(cookies)


async def test_a_cookie_that_a_site_changes_or_deletes_is_changed_or_gone(
    open_browser: OpenBrowser, site: Site
) -> None:
    browser = await open_browser()
    host = "127.0.0.1"
    cookies = (Cookie("same", "1", host), Cookie("other", "1", host), Cookie("gone", "1", host))
    storage = await StorageInUse.restore(browser, Jar(cookies))

    await browser.tab.navigate(site.url("/"))
    assert await browser.tab.evaluate("document.cookie.split('; ').sort()") == ["gone=1", "other=1", "same=1"]
    await browser.tab.evaluate(
        "document.cookie = 'other=2'; document.cookie = 'gone=; max-age=0'; document.cookie = 'new=3'"
    )
    jar = await captured(storage)

    assert {one.name: one.value for one in jar.cookies} == {"same": "1", "other": "2", "new": "3"}


async def test_what_cannot_leave_the_browser_is_said_and_the_rest_is_taken(
    open_browser: OpenBrowser, site: Site
) -> None:
    browser = await open_browser()
    storage = await StorageInUse.restore(browser, Jar())
    await browser.tab.navigate(site.url("/memory.html"))
    await browser.tab.evaluate("asked")
    await browser.tab.evaluate(
        """(async () => {
          const key = await crypto.subtle.generateKey({ name: "AES-GCM", length: 128 }, false, ["encrypt"]);
          await write("loose", key, "key");
          await write("loose", 1, "one");
          localStorage.setItem("half", "\\ud800");
          localStorage.setItem("whole", "1");
        })()"""
    )

    found = await storage.capture()

    assert [one.origin for one in found.failures] == [site.url("").rstrip("/")]
    assert "CryptoKey" in found.failures[0].reason
    assert "no Unicode" in found.failures[0].reason
    assert found.jar.origins[0].local == {"whole": "1"}
    assert found.jar.origins[0].databases[0]["stores"][0]["records"] == [{"key": "one", "value": 1}]


async def test_databases_that_are_too_large_stay_as_they_were_and_the_rest_is_taken(
    open_browser: OpenBrowser, site: Site
) -> None:
    browser = await open_browser()
    storage = await StorageInUse.restore(browser, Jar(origins=(kept_at(site, databases=[NOTES]),)))
    await browser.tab.navigate(site.url("/memory.html"))
    await browser.tab.evaluate("asked")
    await browser.tab.evaluate("localStorage.setItem('token', 't')")
    await browser.tab.evaluate("write('loose', 'x'.repeat(16_000_000), 'large')")

    found = await storage.capture()

    assert ["16000000 characters" in one.reason for one in found.failures] == [True]
    assert found.jar.origins == (kept_at(site, local={"token": "t"}, databases=[NOTES]),)


async def test_an_origin_that_could_not_be_put_back_is_named_and_comes_back_as_it_was(
    open_browser: OpenBrowser, site: Site
) -> None:
    browser = await open_browser()
    broken = {
        **NOTES,
        "name": "broken",
        "stores": [{**NOTES["stores"][1], "records": [{"keyEncoded": {"o": [], "id": 1}, "value": 1}]}],
    }
    kept = kept_at(site, local={"a": "1"}, databases=[broken])
    storage = await StorageInUse.restore(browser, Jar(origins=(kept,)))

    await browser.tab.navigate(site.url("/memory.html"))
    await browser.tab.evaluate("asked")
    await browser.tab.evaluate("localStorage.setItem('a', '2')")
    found = await storage.capture()

    assert [one.origin for one in found.failures] == [kept.origin]
    assert "a database (DataError)" in found.failures[0].reason
    assert found.jar.origins == (kept,)


async def test_a_page_that_stands_still_before_a_dialog_is_read_all_the_same(
    open_browser: OpenBrowser, site: Site
) -> None:
    browser = await open_browser()
    storage = await StorageInUse.restore(browser, Jar())
    await browser.tab.navigate(site.url("/"))
    await browser.tab.evaluate("localStorage.setItem('a', '1'); setTimeout(() => alert('still'), 0)")
    await browser.settle()

    assert (await captured(storage)).origins == (kept_at(site, local={"a": "1"}),)


async def test_a_browser_that_has_gone_gives_no_contents(open_browser: OpenBrowser, site: Site) -> None:
    browser = await open_browser()
    storage = await StorageInUse.restore(browser, Jar((Cookie("a", "1", "shop.example"),)))
    await browser.tab.navigate(site.url("/"))
    browser.cdp.post("Browser.close")
    await browser.lost.wait()

    with pytest.raises(BrowserLost):
        await storage.capture()


async def test_a_second_capture_tells_what_has_happened_since(open_browser: OpenBrowser, site: Site) -> None:
    browser = await open_browser()
    storage = await StorageInUse.restore(browser, Jar())
    await browser.tab.navigate(site.url("/"))
    await browser.tab.evaluate("localStorage.setItem('a', '1')")
    await browser.tab.navigate(site.url("/", 2))
    first = await captured(storage)

    await browser.tab.navigate(site.url("/"))
    await browser.tab.evaluate("localStorage.setItem('a', '2')")
    await browser.tab.navigate(site.url("/", 2))
    second = await captured(storage)

    assert first.origins == (kept_at(site, local={"a": "1"}),)
    assert second.origins == (kept_at(site, local={"a": "2"}),)


async def test_databases_are_there_although_the_first_page_was_left_at_once(
    open_browser: OpenBrowser, site: Site
) -> None:
    browser = await open_browser()
    many = [{"value": {"id": number, "title": "x" * 100}} for number in range(3000)]
    notes = {**NOTES, "stores": [{**NOTES["stores"][0], "records": many}, NOTES["stores"][1]]}
    storage = await StorageInUse.restore(browser, Jar(origins=(kept_at(site, databases=[notes]),)))

    await browser.tab.navigate(site.url(f"/leaving?to={site.url('/memory.html')}"))
    await browser.settle()

    assert len((await browser.tab.evaluate("asked"))["pages"]) == len(many)
    assert (await captured(storage)).origins[0].databases[0]["stores"][1]["records"] == many
