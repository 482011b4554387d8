"""find_links: what is found, kept for reading, told, and what a wrong or hostile filter comes to."""

import asyncio
import json
from typing import Any

import pytest

from appliance.words import ReceiptStatus
from tests.appliance.actions.conftest import Hands


def told(carried: str | None) -> dict[str, Any]:
    assert carried is not None
    return json.loads(carried)


def kept(hands: Hands) -> list[dict[str, Any]]:
    return json.loads(hands.context.scratchpad.read("found_links.json"))


async def test_all_links_are_found_kept_in_a_file_queued_and_seen(hands: Hands) -> None:
    await hands.open("bulk/list?count=14")
    hands.context.links.queue = ["http://127.0.0.1/old"]
    receipt = await hands.act("find_links", href_contains="/item?")
    items = [hands.site.url(f"/bulk/item?n={number}") for number in range(1, 15)]
    assert receipt.status is ReceiptStatus.OK
    assert receipt.text.startswith("Found 14 link(s)")
    assert hands.context.links.queue == items
    assert [link.url for link in hands.context.links.found] == items
    assert [entry["url"] for entry in kept(hands)] == items
    assert told(receipt.carried)["data"][0] == {"url": items[0], "text": "Lamp 1"}
    assert hands.context.evidence.has_link(items[13])
    assert hands.context.evidence.has_link(hands.site.url("/bulk/about"))


async def test_many_links_are_told_by_a_sample_and_the_file_has_all(hands: Hands) -> None:
    await hands.open("bulk/list?count=5000")
    receipt = await hands.act("find_links")
    document = told(receipt.carried)
    assert document["truncated"]
    assert document["file"] == "found_links.json"
    assert len(receipt.carried or "") < 2_500
    assert len(kept(hands)) == 5_001
    assert len(hands.context.links.queue) == 5_001


async def test_a_document_that_still_arrives_is_waited_for(hands: Hands) -> None:
    await hands.browser.tab.evaluate(f"location.href = {hands.site.url('/arriving')!r}, 0")
    async with asyncio.timeout(30):
        while not hands.browser.tab.url.endswith("/arriving"):
            await hands.browser.tab.activity.wait(1)
    receipt = await hands.act("find_links")
    assert receipt.text.startswith("Found 100 link(s)")
    assert len(kept(hands)) == 100


async def test_a_link_that_stands_twice_is_one_with_the_text_that_it_has(hands: Hands) -> None:
    tail = '<li><a href="/bulk/item?n=99"></a><a href="/bulk/item?n=99">Lamp 99</a><a href="#list">Up</a></li>'
    await hands.open(f"bulk/list?count=2&tail={tail.replace('#', '%23')}")
    await hands.act("find_links", selector="#list")
    assert [entry["text"] for entry in kept(hands)] == ["Lamp 1", "Lamp 2", "Lamp 99", "Up"]
    assert [url[-4:] for url in hands.context.links.queue] == ["?n=1", "?n=2", "n=99"]


async def test_links_to_other_hosts_are_flagged_and_long_texts_cut(hands: Hands) -> None:
    tail = f'<li><a href="https://other.example/x">{"long " * 60}</a></li>'
    await hands.open(f"bulk/list?count=3&tail={tail}")
    receipt = await hands.act("find_links")
    assert "others to other.example (1)" in receipt.text
    [off] = [entry for entry in kept(hands) if entry.get("off_host")]
    assert off["url"] == "https://other.example/x"
    assert len(off["text"]) == 150


@pytest.mark.parametrize("filters", [{"href_contains": "/lamp/"}, {"href_regex": "/lamp/\\d+"}, {"selector": "nav a"}])
async def test_a_filter_that_keeps_almost_nothing_is_told_what_there_is(hands: Hands, filters: dict[str, str]) -> None:
    await hands.open("bulk/list?count=14")
    receipt = await hands.act("find_links", **filters)
    assert receipt.status is ReceiptStatus.NO_EFFECT
    assert "Without the filter there are 15" in receipt.text
    assert "/bulk/…" in receipt.text
    assert not hands.context.links.queue


async def test_a_regular_expression_narrows_and_python_spellings_are_understood(hands: Hands) -> None:
    await hands.open("bulk/list?count=14")
    await hands.act("find_links", href_regex=r"(?i)ITEM\?n=(?P<number>1\d)$")
    assert [url[-2:] for url in hands.context.links.queue] == ["10", "11", "12", "13", "14"]
    refused = await hands.act("find_links", href_regex="item(")
    assert refused.status is ReceiptStatus.FAILED
    assert "not a regular expression" in refused.text


async def test_a_hostile_regular_expression_is_cut_off_and_the_page_lives_on(hands: Hands) -> None:
    tail = f'<li><a href="/{"a" * 40}!">Trap</a></li>'
    await hands.open(f"bulk/list?count=3&tail={tail}")
    receipt = await hands.act("find_links", href_regex="/(a+)+$")
    assert receipt.status is ReceiptStatus.FAILED
    assert "takes too long" in receipt.text
    assert (await hands.act("find_links", href_contains="item")).text.startswith("Found 3")


async def test_a_container_and_a_frame_narrow_the_links(hands: Hands) -> None:
    await hands.open("bulk/panel?path=/bulk/list?count=3")
    while (await hands.act("find_links", frame_url_contains="127.0.0.2")).status is not ReceiptStatus.OK:
        pass
    assert len(hands.context.links.queue) == 4
    assert {entry["frame"] for entry in kept(hands)} == {hands.site.url("/bulk/list?count=3", host=2)}
    number = await hands.index("Lamp 2")
    await hands.act("find_links", container_index=number)
    assert hands.context.links.queue == [hands.site.url("/bulk/item?n=2", host=2)]


async def test_a_notice_says_what_was_found(hands: Hands) -> None:
    notices: list[tuple[str, str]] = []

    async def tell(code: str, text: str) -> None:
        notices.append((code, text))

    hands.context.tell = tell
    await hands.open("bulk/list?count=4")
    receipt = await hands.act("find_links")
    assert notices == [("found_links", receipt.text)]


async def test_pages_that_are_told_apart_by_what_follows_the_hash_alone_are_all_queued(hands: Hands) -> None:
    tail = '<li><a href="#/lamp/1">One</a> <a href="#/lamp/2">Two</a> <a href="#!/lamp/3">Three</a></li>'
    await hands.open(f"bulk/list?count=0&tail={tail.replace('#', '%23')}")
    await hands.act("find_links", selector="#list")
    assert [url.partition("#")[2] for url in hands.context.links.queue] == ["/lamp/1", "/lamp/2", "!/lamp/3"]


async def test_what_was_read_before_is_not_queued_again_and_that_is_told(hands: Hands) -> None:
    await hands.open("bulk/list?count=3")
    await hands.act("read_pages", urls=[hands.site.url(f"/bulk/item?n={number}") for number in (1, 3)])
    receipt = await hands.act("find_links", href_contains="item")
    assert "queued for read_pages. 2 of them were read before." in receipt.text
    assert hands.context.links.queue == [hands.site.url("/bulk/item?n=2")]
    assert len(hands.context.links.found) == 3
    await hands.act("read_pages")
    receipt = await hands.act("find_links", href_contains="item")
    assert "all were read before" in receipt.text
    assert hands.context.links.queue == []


async def test_what_was_found_before_and_not_read_is_told_to_wait_no_longer_and_stays_in_a_file(hands: Hands) -> None:
    await hands.open("bulk/list?count=6")
    await hands.act("find_links", href_contains="item")
    await hands.act("read_pages", urls=[hands.site.url("/bulk/item?n=1")])
    await hands.open("bulk/list?count=2&tail=<li><a href=/bulk/item?n=9>Lamp 9</a></li>")
    receipt = await hands.act("find_links", href_contains="item")
    assert "4 found before wait no longer; found_links_1.json has them" in receipt.text
    before = json.loads(hands.context.scratchpad.read("found_links_1.json"))
    assert len(before) == 6
    assert hands.context.links.queue == [hands.site.url(f"/bulk/item?n={number}") for number in (2, 9)]
