"""The page zoo: what stands in frames, sealed roots, behind covers, far down or in old markup is worked as it stands.

Scripted models do the work by the texts they are shown; the pages themselves note what really happened to them.
"""

import pytest

from appliance.words import Ending
from tests.appliance.agent.conftest import Finish
from tests.appliance.agent.moves import click
from tests.appliance.agent.zoo import (
    BLOCKED,
    DONE,
    OK,
    Visit,
    choose,
    click_labelled,
    enter,
    statuses,
    told,
)


async def test_a_form_in_a_frame_of_another_site_is_filled_and_sent(finish: Finish, visit: Visit):
    form = [enter("Card holder", "Ada Lovelace"), choose("Bank", "Second bank"), click_labelled("I accept")]
    outcome, work = await finish([visit.open("zoo_checkout"), [*form, click("Pay 39.90 EUR")], DONE])
    assert outcome.ending is Ending.DONE
    assert await visit.noted("paid holder=Ada+Lovelace&bank=Second+bank&terms=yes")
    assert {receipt.status for receipt in work.receipts} == {OK}
    assert 'reads "Ada Lovelace"' in told(work, "input")[0].text
    assert "Paid, thank you." in work.asked[2].text


async def test_every_depth_of_nested_frames_on_three_hosts_is_reached(finish: Finish, visit: Visit):
    steps = [[enter(f"Field {depth}", f"word {depth}"), click(f"Keep {depth}")] for depth in (4, 3, 2, 1)]
    _, work = await finish([visit.open("zoo_nest"), *steps, DONE])
    assert await visit.noted(*(f"{depth} kept word {depth}" for depth in (4, 3, 2, 1)))
    assert statuses(work, "input") == [OK] * 4
    assert [
        receipt.text.count(f'reads "word {depth}"')
        for depth, receipt in zip((4, 3, 2, 1), told(work, "input"), strict=True)
    ] == [1] * 4


async def test_a_form_in_a_closed_root_is_filled_by_a_real_mouse(finish: Finish, visit: Visit):
    form = [enter("Mail", "ada@example.org"), choose("Plan", "Team"), click("Sign up")]
    outcome, work = await finish([visit.open("zoo_sealed"), form, DONE])
    assert outcome.ending is Ending.DONE
    assert await visit.noted("pressed", "signed up mail=ada%40example.org&plan=Team")
    assert {receipt.status for receipt in work.receipts} == {OK}
    assert "Welcome aboard." in told(work, "click")[0].text
    assert "Welcome aboard." in work.asked[2].text


@pytest.mark.parametrize(
    ("cover", "named", "closes"),
    [("cookies", "Cookie notice", "Reject all"), ("offer", "Special offer", "No thanks")],
    ids=["opaque", "translucent"],
)
async def test_a_click_on_what_is_covered_names_the_cover_and_goes_through_once_it_is_closed(
    finish: Finish, visit: Visit, cover: str, named: str, closes: str
):
    steps = [visit.open("zoo_covers", f"&cover={cover}"), [click("Order now"), DONE], click(closes), click("Order now")]
    _, work = await finish([*steps, DONE])
    assert await visit.noted(f"{cover} closed", "ordered")
    assert statuses(work, "click") == [BLOCKED, OK, OK]
    blocked = told(work, "click")[0].text
    assert named in blocked
    assert closes in blocked


async def test_a_row_of_a_list_that_draws_only_what_is_in_view_is_found_and_chosen(finish: Finish, visit: Visit):
    far = {"scroll": {"index": {"text": "Row 3"}, "pages": 432}}
    outcome, work = await finish([visit.open("zoo_rows"), far, click("Row 4321"), DONE])
    assert outcome.ending is Ending.DONE
    assert await visit.noted("picked 4321")
    assert statuses(work, "scroll") == [OK]
    assert statuses(work, "click") == [OK]
    assert "Picked row 4321." in work.asked[3].text


async def test_an_old_page_without_a_doctype_is_worked_far_below_its_fold(finish: Finish, visit: Visit):
    begin = [enter("Your name", "Ada"), click_labelled("Carton:")]
    _, work = await finish(
        [
            visit.open("zoo_old"),
            begin,
            {"find_text": {"text": "Part 1321:"}},
            click_labelled("Part 1321:"),
            {"scroll": {"pages": 1000}},
            click_labelled("Send the order"),
            DONE,
        ]
    )
    assert await visit.noted("BackCompat", "sent customer=Ada&wrap=carton&item=1321")
    assert {receipt.status for receipt in work.receipts} == {OK}


async def test_the_last_button_of_a_page_of_fifty_thousand_nodes_is_reached_by_looking(finish: Finish, visit: Visit):
    steps = [
        visit.open("zoo_large"),
        {"wait_for": {"text": "Take 5000", "seconds": 30}},
        {"search_page": {"pattern": "Take 5000"}},
        {"look": {"from_line": {"__seen__": r"(?<=\(line )\d+(?=\) .*«Take 5000»)"}}},
        click("Take 5000"),
        DONE,
    ]
    outcome, work = await finish(steps)
    assert outcome.ending is Ending.DONE
    assert await visit.noted("large", "Take 5000")
    assert statuses(work, "look") == [OK]
    assert statuses(work, "click") == [OK]
    assert ["<button>Take 5000" in request.text for request in work.asked[1:5]] == [False, False, False, True]
