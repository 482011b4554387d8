import pytest

from appliance.words import ReceiptStatus
from tests.appliance.actions.conftest import Hands


@pytest.fixture
async def page(hands: Hands) -> Hands:
    await hands.open("act_pointer.html")
    return hands


async def test_a_click_is_trusted_and_tells_what_text_appeared(page: Hands):
    done = await page.act("click", on="Save")
    assert await page.text() == "saved"
    assert await page.js("window.clicks") == [["save", True, 1, 0]]
    assert (done.status, done.ends_chain) == (ReceiptStatus.OK, False)
    assert done.text == 'Clicked button "Save" [1]: new text: "saved".'
    assert done.url.endswith("/act_pointer.html")


@pytest.mark.parametrize("name", ["Does nothing", "Only a ring"])
async def test_a_click_without_effect_says_so(page: Hands, name: str):
    done = await page.act("click", on=name)
    assert len(await page.js("window.clicks")) == 1
    assert done.status is ReceiptStatus.NO_EFFECT
    assert done.text.endswith("no visible effect.")


async def test_a_click_that_does_nothing_costs_little(page: Hands):
    index = await page.index("Does nothing")
    before = page.browser.cdp._last_id
    took = [(await page.act("click", index=index)).duration_ms for _ in range(5)]
    # On a quiet machine it is about 55 ms; how often the browser is asked does not depend on the machine.
    assert (page.browser.cdp._last_id - before) / 5 <= 14
    assert min(took) <= 300


async def test_a_disabled_button_is_not_clicked(page: Hands):
    done = await page.act("click", on="Switched off")
    assert done.status is ReceiptStatus.FAILED
    assert "is disabled" in done.text
    assert await page.js("window.clicks.length") == 0


async def test_boxes_and_radios_tell_their_state(page: Hands):
    done = await page.act("click", on="Newsletter")
    assert "checked changed from false to true" in done.text
    assert await page.js("document.getElementById('box').checked") is True
    assert "checked is now false" in (await page.act("click", on="Newsletter")).text
    assert "checked is now true" in (await page.act("click", on="Large")).text
    assert await page.js("document.querySelector('[name=size]:checked').value") == "l"


async def test_a_box_that_is_drawn_by_its_label_is_clicked_through_it(page: Hands):
    done = await page.act("click", on="Styled box")
    assert await page.js("document.getElementById('hiddenbox').checked") is True
    assert "checked is now true" in done.text


async def test_a_box_that_the_page_sets_back_is_no_effect(page: Hands):
    done = await page.act("click", on="Stubborn box")
    assert done.status is ReceiptStatus.NO_EFFECT
    assert "checked is now false" in done.text


async def test_a_covered_element_is_not_clicked_and_the_cover_is_named(page: Hands):
    done = await page.act("click", on="Under the cover")
    assert (done.status, done.ends_chain) == (ReceiptStatus.BLOCKED, True)
    assert "covered by dialog Cookie wall" in done.text
    assert await page.js("window.clicks.length") == 0


async def test_what_lies_under_a_bar_at_the_edge_is_scrolled_free(page: Hands):
    assert (await page.act("click", on="Far below")).status is ReceiptStatus.OK
    assert await page.text() == "far"


async def test_a_list_and_a_file_field_send_to_their_own_actions(page: Hands):
    index = await page.index("Your file")
    assert "use upload_file" in (await page.act("click", index=index)).text
    select = next(
        view.index
        for view in (await page.browser.observe(with_screenshot=False)).elements.values()
        if view.tag == "select"
    )
    assert "use select_dropdown" in (await page.act("click", index=select)).text


async def test_a_link_tells_from_where_to_where(page: Hands):
    done = await page.act("click", on="Second page")
    assert done.ends_chain
    base = page.site.url("/act_")
    assert f"navigated from {base}pointer.html to {base}second.html" in done.text
    assert await page.js("document.title") == "Second"


@pytest.mark.parametrize("name", ["New tab", "Pop up"])
async def test_a_new_tab_is_followed(page: Hands, name: str):
    before = page.browser.tab.tab_id
    done = await page.act("click", on=name)
    tab = page.browser.tab
    assert tab.tab_id != before
    assert tab.url.endswith("/act_second.html")
    assert f"opened tab {tab.tab_id}" in done.text
    assert done.ends_chain


async def test_a_tab_that_closes_itself_leads_back_to_its_opener(page: Hands):
    first = page.browser.tab.tab_id
    await page.js("window.open('act_popup.html'); 1")
    await page.act("switch", tab_id=next(tab.tab_id for tab in await page.browser.list_tabs() if tab.tab_id != first))
    await page.act("wait_for", url="act_popup")
    done = await page.act("click", on="Close me")
    assert page.browser.tab.tab_id == first
    assert "the tab closed" in done.text
    assert done.duration_ms < 2000


async def test_text_that_comes_from_the_network_is_waited_for(page: Hands):
    done = await page.act("click", on="Slow text")
    assert 'new text: "slow is here"' in done.text


async def test_a_button_that_turns_into_another_ends_the_chain(page: Hands):
    done = await page.act("click", on="Buy")
    assert 'its text changed from "Buy" to "Really buy"' in done.text
    assert done.ends_chain


async def test_an_element_that_was_rebuilt_is_gone(page: Hands):
    old = await page.index("Old entry")
    await page.act("click", on="Rebuild the list")
    done = await page.registry.run(page.context, page.registry.parse({"click": {"index": old}}))
    assert done.status is ReceiptStatus.FAILED
    assert "no longer on the page" in done.text


async def test_on_a_very_large_page_what_came_is_told_all_the_same(page: Hands):
    rebuild, save, dead = [await page.index(name) for name in ("Rebuild the list", "Save", "Does nothing")]
    await page.js("""document.body.append(...Array.from({ length: 20000 }, (_, at) => {
        const row = document.createElement('p'); row.textContent = 'Row ' + at; return row; })); 1""")
    assert '1 control(s) appeared (button "New entry")' in (await page.act("click", index=rebuild)).text
    assert 'new text: "saved"' in (await page.act("click", index=save)).text
    assert (await page.act("click", index=dead)).status is ReceiptStatus.NO_EFFECT


async def test_a_panel_that_opens_ends_the_chain_and_names_its_controls(page: Hands):
    done = await page.act("click", on="Open panel")
    assert '3 control(s) appeared (button "In the panel"' in done.text
    assert '"Panel text"' in done.text
    assert done.ends_chain


async def test_elements_in_frames_and_shadow_roots_are_hit(page: Hands):
    assert "Pressed inside" in (await page.act("click", on="Inside the frame")).text
    assert 'new text: "continued"' in (await page.act("click", on="Continue")).text
    assert await page.js("document.getElementById('host').shadowRoot.querySelector('p').textContent") == "continued"


async def test_a_drawing_is_clicked_although_its_effect_cannot_be_seen(page: Hands):
    done = await page.act("click", on="Drawing")
    assert done.status is ReceiptStatus.OK
    assert await page.js("window.drawn") is True


async def test_right_and_double_clicks_are_what_the_page_hears(page: Hands):
    assert "context menu" in (await page.act("click", on="Save", button="right")).text
    assert '"double"' in (await page.act("click", on="Save", count=2)).text


async def test_a_point_of_the_picture_is_clicked(page: Hands):
    corner = "document.getElementById('save').getBoundingClientRect()"
    box = await page.js(f"(b => [b.x + b.width / 2, b.y + b.height / 2, innerWidth, innerHeight])({corner})")
    scale = min(1, 1280 / box[2], 800 / box[3])
    done = await page.act("click", x=round(box[0] * scale), y=round(box[1] * scale))
    assert await page.text() == "saved"
    assert done.status is ReceiptStatus.OK
    assert "outside the picture" in (await page.act("click", x=9999, y=1)).text


async def test_a_click_without_a_target_or_on_an_unknown_one_is_refused(page: Hands):
    assert "needs index, or x and y" in (await page.act("click")).text
    done = await page.act("click", index=9999)
    assert done.status is ReceiptStatus.FAILED
    assert "no element [9999]" in done.text


async def test_hovering_opens_what_shows_on_hover(page: Hands):
    done = await page.act("hover", on="Products")
    assert 'control(s) appeared (link "Hidden item")' in done.text
    assert await page.js("document.querySelector('.menu').matches(':hover')") is True


async def test_leaving_an_open_menu_does_not_make_the_click_miss(page: Hands):
    await page.act("hover", on="Products")
    done = await page.act("click", on="Drawing")
    assert await page.js("window.clicks.at(-1)[0]") == "canvas"
    assert done.status is ReceiptStatus.OK


async def test_a_page_that_prints_does_not_stop(page: Hands):
    await page.js("document.getElementById('save').onclick = () => { print(); document.title = 'printed'; }; 1")
    done = await page.act("click", on="Save")
    assert "wants to print" in done.text
    assert done.status is ReceiptStatus.OK
    assert await page.js("document.title") == "printed"


async def test_the_browsers_own_menus_do_not_stop_the_page(page: Hands):
    await page.js(
        "document.body.insertAdjacentHTML('afterbegin', '<button oncontextmenu=event.stopPropagation()>Menu</button>')"
    )
    done = await page.act("click", on="Menu", button="right")
    assert done.duration_ms < 3000
    assert (await page.act("click", on="Save")).status is ReceiptStatus.OK


async def test_dragging_moves_a_knob_with_the_mouse(page: Hands):
    done = await page.act("drag", from_index=await page.index("Knob"), to_index=await page.index("Drag me"))
    assert done.status is ReceiptStatus.OK
    assert int((await page.js("document.getElementById('knob').style.left")).removesuffix("px")) > 20


async def test_dragging_drops_data(page: Hands):
    done = await page.act("drag", from_index=await page.index("Drag me"), to_index=await page.index("Drop here"))
    assert await page.text("target") == "Got parcel"
    assert done.text.startswith("Dragged and dropped")
