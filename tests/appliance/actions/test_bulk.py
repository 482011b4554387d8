"""read_pages: many pages in one step, each read once it shows something, none lost without a reason."""

import asyncio
import json
from dataclasses import replace
from typing import Any

import pytest

from appliance.actions.pressure import Pressure
from appliance.browser.observation import Screenshot
from appliance.store.answers import AnswerStore
from appliance.words import ReceiptStatus
from appliance.workspaces.scratchpad import MAX_FILES
from tests.appliance.actions.conftest import Hands
from tests.site.bulk import record

LAMPS: dict[str, Any] = {
    "type": "object",
    "properties": {
        "lamps": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {"name": {"type": "string"}, "sku": {"type": "string"}, "price": {"type": "number"}},
                "required": ["name", "sku"],
            },
        }
    },
    "required": ["lamps"],
}


def pages(hands: Hands, name: str = "pages.json") -> list[dict[str, Any]]:
    return json.loads(hands.context.scratchpad.read(name))


def told(carried: str | None) -> dict[str, Any]:
    assert carried is not None
    return json.loads(carried)


async def targets(hands: Hands) -> list[str]:
    found = await hands.browser.cdp.send("Target.getTargets", {"filter": [{"type": "page"}]})
    return [info["url"] for info in found["targetInfos"]]


async def settled_targets(hands: Hands, count: int) -> list[str]:
    async with asyncio.timeout(30):
        while len(found := await targets(hands)) != count:
            await hands.browser.settle(0.2)
    return found


async def test_found_links_are_read_with_all_that_their_pages_state(hands: Hands) -> None:
    await hands.open("bulk/list?count=14")
    await hands.act("find_links", href_contains="item")
    receipt = await hands.act("read_pages")
    assert receipt.status is ReceiptStatus.OK
    assert receipt.text == "Read 14 of 14 page(s), kept in pages.json."
    found = pages(hands)
    assert [page["url"] for page in found] == [hands.site.url(f"/bulk/item?n={number}") for number in range(1, 15)]
    for number, page in enumerate(found, 1):
        assert page["title"] == f"Lamp {number}"
        assert record(number)["description"] in page["text"]
        assert [one["sku"] for one in page["jsonld"]] == ([f"L-{1000 + number}"] if number % 2 == 0 else [])
        assert page["links"] == [{"url": hands.site.url("/bulk/list"), "text": "All lamps"}]
    assert hands.context.links.queue == []
    assert len(hands.context.links.read) == 14
    assert not hands.context.links.dead
    assert hands.context.evidence.find("L-1007", None) is not None


async def test_the_agents_own_tab_stays_as_it_was(hands: Hands) -> None:
    await hands.open("bulk/list?count=8")
    before = await hands.browser.observe(with_screenshot=False)
    await hands.js("window.kept = 1")
    await hands.act("find_links", href_contains="item")
    seen = [tab.tab_id for tab in await hands.browser.list_tabs()]
    await hands.act("read_pages")
    assert [tab.tab_id for tab in await hands.browser.list_tabs()] == seen
    after = await hands.browser.observe(with_screenshot=False)
    assert after.fingerprint == before.fingerprint
    assert after.notes == ()
    assert after.tabs == before.tabs
    assert await hands.js("window.kept") == 1
    assert len(await settled_targets(hands, len(seen))) == len(seen)


async def test_rows_are_drafted_for_the_schema(hands: Hands) -> None:
    hands.context.output_schema = LAMPS
    hands.context.store = AnswerStore.open(LAMPS, hands.context.evidence, hands.context.links)
    await hands.open("bulk/list?count=4")
    await hands.act("find_links", href_contains="item")
    receipt = await hands.act("read_pages")
    rows = json.loads(hands.context.scratchpad.read("rows_draft.json"))
    assert [row["name"] for row in rows] == ["Lamp 1", "Lamp 2", "Lamp 3", "Lamp 4"]
    assert [row["_page"] for row in rows] == [page["url"] for page in pages(hands)]
    assert "Drafted 4 row(s) in rows_draft.json: " in receipt.text
    assert told(receipt.carried)["data"]["drafted_rows"] == 4


async def test_pages_that_cannot_be_read_are_told_with_the_reason(hands: Hands) -> None:
    url = hands.site.url
    await hands.open("bulk/list")
    wanted = {
        url("/bulk/item?n=1"): None,
        url("/status?code=404"): "HTTP 404",
        url("/attachment"): "file to download",
        f"http://127.0.0.9:{hands.site.port}/": "refused",
        "ftp://127.0.0.1/file": "not a web address",
        url(f"/redirect?to={url('/status?code=410')}"): "HTTP 410",
        url("/bulk/list?count=0&tail="): None,
    }
    receipt = await hands.act("read_pages", urls=list(wanted))
    dead = hands.context.links.dead
    assert set(dead) == {address for address, reason in wanted.items() if reason}
    for address, reason in wanted.items():
        assert reason is None or reason in dead[address], (address, dead[address])
    assert "Read 2 of 7" in receipt.text
    assert [page.get("error") is None for page in pages(hands)] == [reason is None for reason in wanted.values()]
    assert hands.browser.downloads.all == ()
    assert (await hands.browser.observe(with_screenshot=False)).notes == ()


async def test_what_policy_refuses_is_not_read(hands: Hands) -> None:
    hands.browser.policy = policy = replace(hands.browser.policy, allowed_domains=("127.0.0.1",))
    hands.browser.tabs._policy = policy
    await hands.open("bulk/list")
    receipt = await hands.act("read_pages", urls=[hands.site.url("/bulk/item?n=1", host=2)])
    assert receipt.status is ReceiptStatus.FAILED
    assert "outside the domains" in receipt.text


async def test_what_is_no_page_of_a_site_is_refused(hands: Hands) -> None:
    await hands.open("bulk/list")
    receipt = await hands.act("read_pages", urls=["data:text/html,<p>Price 4711</p>"])
    assert receipt.status is ReceiptStatus.FAILED
    assert "it is no page of a site" in receipt.text
    assert hands.context.evidence.find(4711) is None


async def test_dialogs_and_popups_of_a_page_do_not_stop_it_from_being_read(hands: Hands) -> None:
    await hands.open("bulk/list")
    before = await hands.browser.list_tabs()
    receipt = await hands.act("read_pages", urls=[hands.site.url("/bulk/alerting?n=3")])
    assert receipt.status is ReceiptStatus.OK, receipt.text
    assert "Lamp 3 has a folding arm" in pages(hands)[0]["text"]
    assert hands.browser.dialog is None
    assert await hands.browser.list_tabs() == before


async def test_a_page_that_leads_on_to_one_that_cannot_be_reached_is_not_read(hands: Hands) -> None:
    await hands.open("bulk/list")
    url = hands.site.url("/bulk/leading?to=http://127.0.0.1:9/")
    receipt = await hands.act("read_pages", urls=[url])
    assert receipt.status is ReceiptStatus.FAILED
    assert pages(hands) == [{"url": url, "error": "it leads to a page that cannot be reached"}]
    assert not any("127.0.0.1:9" in sighting.url for sighting in hands.context.evidence.sightings)


async def test_tabs_of_pages_that_load_themselves_for_ever_are_closed(hands: Hands) -> None:
    await hands.open("bulk/list")
    before = len(await targets(hands))
    for _ in range(4):
        tabs = [await hands.browser.tabs.create_apart() for _ in range(3)]
        for number, tab in enumerate(tabs):
            await tab.load(hands.site.url(f"/bulk/reloading?n={number}"))
        asked = len(hands.site.requests)
        async with asyncio.timeout(30):
            while len(hands.site.requests) < asked + 6:
                await hands.browser.settle(0.05)
        for tab in tabs:
            hands.browser.tabs.close_apart(tab)
    await settled_targets(hands, before)


async def test_pdf_pages_are_read_as_text(hands: Hands) -> None:
    await hands.open("bulk/list")
    await hands.act("read_pages", urls=[hands.site.url("/pdf?text=Total+of+the+invoice+is+42")])
    assert "Total of the invoice is 42" in pages(hands)[0]["text"]


async def test_pages_drawn_late_are_waited_for_and_those_never_drawn_given_up(hands: Hands) -> None:
    await hands.open("bulk/list")
    late = hands.site.url("/bulk/late?n=5&seconds=1.2")
    empty = hands.site.url("/bulk/empty")
    receipt = await hands.act("read_pages", urls=[empty, late])
    assert "Read 1 of 2" in receipt.text
    assert hands.context.links.dead == {empty: "it shows nothing"}
    assert "Lamp 5 has a folding arm" in pages(hands)[1]["text"]


async def test_linked_data_that_comes_late_is_waited_for_where_other_pages_have_it(hands: Hands) -> None:
    await hands.open("bulk/list")
    urls = [hands.site.url(f"/bulk/late?n={number}&seconds=0.1&ld") for number in (1, 2)]
    urls += [hands.site.url(f"/bulk/item?n={number}") for number in (2, 4, 6)]
    await hands.act("read_pages", urls=urls)
    assert [len(page["jsonld"]) for page in pages(hands)] == [1, 1, 1, 1, 1]


async def test_the_panel_of_another_host_is_read_when_asked_for(hands: Hands) -> None:
    await hands.open("bulk/list")
    urls = [hands.site.url(f"/bulk/panel?path=/bulk/item?n={number}%26ld=all&seconds=1") for number in (1, 2)]
    urls.append(hands.site.url("/bulk/panel?path=/bulk/late?n=3%26seconds=1"))
    await hands.act("read_pages", urls=urls, frame_url_contains="127.0.0.2")
    found = pages(hands)
    assert [page["title"] for page in found] == ["Lamp 1", "Lamp 2", "Lamp 3"]
    assert all("Vacancies" not in page["text"] and "folding arm" in page["text"] for page in found)
    assert [len(page["jsonld"]) for page in found] == [1, 1, 0]
    assert found[0]["landed_on"] == hands.site.url("/bulk/item?n=1&ld=all", host=2)


async def test_a_panel_is_part_of_the_page_when_it_is_not_asked_for(hands: Hands) -> None:
    await hands.open("bulk/list")
    await hands.act("read_pages", urls=[hands.site.url("/bulk/panel?path=/bulk/item?n=1%26ld=all")])
    [page] = pages(hands)
    assert "Vacancies" in page["text"]
    assert "Lamp 1 has a folding arm" in page["text"]
    assert [one["sku"] for one in page["jsonld"]] == ["L-1001"]


async def test_pages_that_all_show_the_same_shell_are_read_in_their_panels(hands: Hands) -> None:
    await hands.open("bulk/list")
    await hands.act("read_pages", urls=[hands.site.url(f"/bulk/shell?n={number}") for number in (1, 2, 3, 4)])
    found = pages(hands)
    assert [page["title"] for page in found] == ["Lamp 1", "Lamp 2", "Lamp 3", "Lamp 4"]
    assert not any("Our partner runs" in page["text"] for page in found)


async def test_what_is_beyond_one_call_waits_and_a_bare_call_goes_on(hands: Hands) -> None:
    await hands.open("bulk/list")
    good = [hands.site.url(f"/bulk/item?n={number}") for number in range(1, 4)]
    urls = [good[0], *(f"ftp://127.0.0.1/{number}" for number in range(47)), *good[1:]]
    first = await hands.act("read_pages", urls=urls)
    assert "Read 1 of 48" in first.text
    assert "2 more wait" in first.text
    assert told(first.carried)["file"] == "pages.json"
    assert hands.context.links.queue == good[1:]
    second = await hands.act("read_pages")
    assert "Read 2 of 2" in second.text
    assert [page["url"] for page in pages(hands)] == good[1:]
    assert len(pages(hands, "pages_1.json")) == 48
    third = await hands.act("read_pages")
    assert third.status is ReceiptStatus.FAILED
    assert "find_links first" in third.text


async def test_places_of_one_page_and_what_was_read_meanwhile_are_not_read_again(hands: Hands) -> None:
    await hands.open("bulk/list")
    one, two, three = (hands.site.url(f"/bulk/item?n={number}") for number in (1, 2, 3))
    first = await hands.act("read_pages", urls=[one, f"{one}#top", f" {one} ", f"{two}#a", two])
    assert "Read 2 of 2" in first.text
    assert [page["url"] for page in pages(hands)] == [one, f"{two}#a"]
    hands.context.links.queue = [two, three, f"{three}#end"]
    second = await hands.act("read_pages")
    assert "Read 1 of 1" in second.text
    assert "more wait" not in second.text
    hands.context.links.queue = [one, two]
    third = await hands.act("read_pages")
    assert third.status is ReceiptStatus.FAILED
    assert "were read already" in third.text
    assert hands.context.links.queue == []


async def test_views_of_one_document_behind_the_hash_are_pages_of_their_own(hands: Hands) -> None:
    await hands.open("bulk/list")
    urls = [hands.site.url(f"/bulk/item?n=1#/view/{number}") for number in (1, 2)]
    receipt = await hands.act("read_pages", urls=urls)
    assert "Read 2 of 2" in receipt.text


async def test_a_huge_page_and_malformed_linked_data_are_read_as_far_as_they_go(hands: Hands) -> None:
    await hands.open("bulk/list")
    urls = [hands.site.url("/bulk/huge?megabytes=10"), hands.site.url("/bulk/item?n=2&malformed")]
    await hands.act("read_pages", urls=urls)
    huge, malformed = pages(hands)
    assert huge["text"].startswith("The beginning")
    assert len(huge["text"]) == 60_000
    assert malformed["jsonld"][-1]["sku"] == "L-1002"


async def test_a_picture_of_each_page_is_kept_and_named_where_it_was_seen(hands: Hands) -> None:
    kept: list[Screenshot] = []

    async def keep(screenshot: Screenshot) -> str:
        kept.append(screenshot)
        return f"{len(kept)}.jpg"

    hands.context.keep_picture = keep
    await hands.open("bulk/list")
    await hands.act("read_pages", urls=[hands.site.url("/bulk/item?n=1")])
    assert kept[0].data.startswith(b"\xff\xd8")
    found = hands.context.evidence.find("L-1001", None)
    assert found is not None
    assert found.screenshot == "1.jpg"


async def test_under_pressure_pages_are_spaced_and_it_is_told(hands: Hands) -> None:
    notices: list[tuple[str, str]] = []

    async def tell(code: str, text: str) -> None:
        notices.append((code, text))

    hands.context.tell = tell
    hands.context.pressure = Pressure(sessions=lambda: 2, stall=lambda: 0.2)
    await hands.open("bulk/list")
    await hands.act("read_pages", urls=[hands.site.url(f"/bulk/item?n={number}") for number in (1, 2)])
    assert [code for code, _ in notices] == ["pressure", "read_pages"]
    assert notices[0][1].startswith("2 sessions are at work and the processor stalls 20%")


def test_only_several_sessions_that_stall_hold_back() -> None:
    assert Pressure(lambda: 1, lambda: 0.9).gap(6) == 0
    assert Pressure(lambda: 2, lambda: 0.04).gap(6) == 0
    assert Pressure(lambda: 2, lambda: 0.5).gap(6) == pytest.approx(0.4)
    assert Pressure(lambda: 4, lambda: 1.0).gap(48) == pytest.approx(8 / 47)


async def test_a_crashed_tab_costs_its_page_only(hands: Hands) -> None:
    await hands.open("bulk/list")
    receipt = await hands.act("read_pages", urls=["chrome://crash", hands.site.url("/bulk/item?n=1")])
    assert "Read 1 of 2" in receipt.text


async def test_a_cancelled_call_keeps_what_was_read_and_closes_its_tabs(hands: Hands) -> None:
    await hands.open("bulk/list")
    before = len(await targets(hands))
    good, stuck = hands.site.url("/bulk/item?n=1"), hands.site.url("/never")
    acting = asyncio.create_task(hands.act("read_pages", urls=[good, stuck]))
    async with asyncio.timeout(30):
        while hands.context.evidence.find("L-1001", None) is None:
            await hands.browser.settle(0.2)
    acting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await acting
    assert [page["url"] for page in pages(hands)] == [good]
    assert hands.context.links.queue == [stuck]
    await settled_targets(hands, before)


async def test_while_the_run_is_paused_no_page_is_opened(hands: Hands):
    pause = hands.context.pause
    pause.pause()
    urls = [hands.site.url(f"/rows?nodes={nodes}") for nodes in (20, 21)]
    reading = asyncio.create_task(hands.act("read_pages", urls=urls))
    await asyncio.sleep(0.5)
    assert not set(urls) & set(await targets(hands))
    assert not reading.done()
    pause.resume()
    assert "Read 2 of 2 page(s)" in (await reading).text


def fill_up(hands: Hands, *, leaving: int) -> None:
    """Make files until only so many more may be made."""
    pad = hands.context.scratchpad
    for number in range(MAX_FILES - leaving - len(pad.listing())):
        (pad.root / f"note_{number}.txt").write_text("x")


async def test_pages_for_which_there_is_no_file_are_shown_and_written_as_soon_as_there_is_room(hands: Hands) -> None:
    await hands.open("bulk/list?count=2")
    hands.context.store = AnswerStore.open(LAMPS, hands.context.evidence, hands.context.links)
    fill_up(hands, leaving=0)
    urls = [hands.site.url(f"/bulk/item?n={number}") for number in (1, 2)]
    first = await hands.act("read_pages", urls=urls)
    assert first.status is ReceiptStatus.OK
    assert "Read 2 of 2 page(s), but pages.json could not be written: There are 500 files" in first.text
    assert "Drafted 2 row(s)" in first.text
    shown = told(first.carried)
    assert [page["url"] for page in shown["pages"]] == urls
    assert record(1)["description"] in shown["pages"][0]["text"]
    assert [row["sku"] for row in shown["rows"]] == ["L-1001", "L-1002"]
    for number in (0, 1):
        (hands.context.scratchpad.root / f"note_{number}.txt").unlink()
    visits = hands.site.paths().count("/bulk/item?n=1")
    second = await hands.act("read_pages")
    assert second.text == "What was read before is in pages.json now."
    assert [page["url"] for page in pages(hands)] == urls
    assert hands.site.paths().count("/bulk/item?n=1") == visits


async def test_where_no_further_file_can_be_made_pages_join_those_of_before(hands: Hands) -> None:
    await hands.open("bulk/list?count=2")
    urls = [hands.site.url(f"/bulk/item?n={number}") for number in (1, 2, 3)]
    await hands.act("read_pages", urls=urls[:1])
    fill_up(hands, leaving=0)
    second = await hands.act("read_pages", urls=urls[1:])
    assert second.text == "Read 2 of 2 page(s), kept in pages.json."
    assert [page["url"] for page in pages(hands)] == urls


async def test_links_are_queued_also_when_there_is_no_room_for_their_file(hands: Hands) -> None:
    await hands.open("bulk/list?count=3")
    fill_up(hands, leaving=0)
    receipt = await hands.act("find_links", href_contains="item")
    assert receipt.status is ReceiptStatus.OK
    assert "found_links.json could not be written" in receipt.text
    assert len(hands.context.links.queue) == 3
