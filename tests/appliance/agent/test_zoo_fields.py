"""The page zoo: lists, dates, suggestions, written pages and what wants a hand on the mouse.

Scripted models do the work by the texts they are shown; the pages themselves note what really happened to them.
"""

from appliance.words import Ending
from tests.appliance.agent.conftest import Finish
from tests.appliance.agent.moves import click
from tests.appliance.agent.zoo import DONE, OK, SKIPPED, Visit, choose, click_labelled, enter, statuses, told


async def test_native_several_and_built_lists_keep_what_was_chosen(finish: Finish, visit: Visit):
    native = [choose("Country", "Chile"), choose("Days", "Monday"), choose("Days", ["Thursday", "Monday"])]
    _, work = await finish([visit.open("zoo_choices"), native, choose("Month", "October"), click("Save choices"), DONE])
    assert await visit.noted(
        "country Chile",
        "days Monday+Tuesday+Wednesday",
        "days Monday+Thursday",
        "month October",
        "saved country=cl&days=Monday&days=Thursday&month=October",
    )
    assert statuses(work, "select_dropdown") == [OK] * 4
    assert "chosen now: Monday, Tuesday, Wednesday" in told(work, "select_dropdown")[1].text


async def test_a_date_field_takes_a_date_and_a_calendar_is_turned_and_clicked(finish: Finish, visit: Visit):
    turns = [click_labelled("Next month"), click_labelled("Next month")]
    steps = [enter("Arrival", "2027-03-12"), click_labelled("Departure"), *turns, click("15"), click("Book")]
    _, work = await finish([visit.open("zoo_dates"), *steps, DONE])
    assert await visit.noted(
        "arrival 2027-03-12",
        "turned to February",
        "turned to March",
        "departure 15 March 2027",
        "booked 2027-03-12 to 15 March 2027",
    )
    assert {receipt.status for receipt in work.receipts} == {OK}


async def test_suggestions_that_come_late_are_seen_and_one_is_chosen(finish: Finish, visit: Visit):
    steps = [enter("City", "Lis"), click("Lisbon, Portugal"), click("Find trains")]
    _, work = await finish([visit.open("zoo_cities"), *steps, DONE])
    # What was typed keeps the focus until a suggestion is chosen: the list is there in the very next step.
    assert await visit.noted(
        "asked for Lis", "chose Lisbon, Portugal", "lost the focus", "trains from Lisbon, Portugal"
    )
    assert "Lisburn, Northern Ireland" in work.asked[2].text
    assert statuses(work, "click") == [OK, OK]


async def test_a_page_that_is_written_on_is_read_back_and_kept(finish: Finish, visit: Visit):
    _, work = await finish(
        [visit.open("zoo_hands"), enter("Letter", "Dear Ada,\nthe lamp is yours."), click("Keep the letter"), DONE]
    )
    assert await visit.noted("letter: Dear Ada,\nthe lamp is yours.")
    assert "it now reads" in told(work, "input")[0].text
    assert statuses(work, "input") == [OK]


async def test_an_entry_of_a_menu_that_opens_under_the_mouse_is_clicked(finish: Finish, visit: Visit):
    hover = {"hover": {"index": {"text": "Products"}}}
    outcome, work = await finish([visit.open("zoo_hands"), hover, click("Lamps"), DONE])
    assert outcome.ending is Ending.DONE
    assert await visit.noted("lamps")
    assert "Lamps" not in work.asked[1].text
    assert statuses(work, "hover") + statuses(work, "click") == [OK, OK]


async def test_a_card_is_dragged_to_its_column_and_a_knob_along_its_rail(finish: Finish, visit: Visit):
    card = {"drag": {"from_index": {"text": "Water the plants"}, "to_index": {"label": "Drop finished cards here"}}}
    knob = {"drag": {"from_index": {"label": "Knob"}, "to_index": {"label": "End of the rail"}}}
    _, work = await finish([visit.open("zoo_hands"), card, knob, DONE])
    assert await visit.noted("moved Water the plants", "knob at 370")
    assert statuses(work, "drag") == [OK, OK]


async def test_a_button_that_changed_its_meaning_under_a_chain_is_not_clicked_again(finish: Finish, visit: Visit):
    _, work = await finish([visit.open("zoo_purchase"), [click("Next"), click("Next"), DONE], DONE])
    assert statuses(work, "click") == [OK, SKIPPED]
    assert "Confirm purchase" in told(work, "click")[0].text
    assert "Confirm purchase" in work.asked[2].text
    assert await visit.noted("next")
    assert "Noted: next" in work.asked[2].text
