"""Where clicks land: wrapped links, frames, closed shadow roots, covers, and elements that are gone."""

import pytest

from appliance.words import ReceiptStatus
from tests.appliance.actions.conftest import Hands


@pytest.fixture
async def page(hands: Hands) -> Hands:
    await hands.open("act_hits.html")
    return hands


async def test_a_wrapped_link_is_hit_where_it_can_be_hit(page: Hands):
    assert (await page.act("click", on="a link that is wrapped over lines")).status is ReceiptStatus.OK
    assert await page.text() == "wrapped link true"


async def test_a_button_in_a_frame_is_hit_and_not_what_lies_there_in_the_page_around(page: Hands):
    done = await page.act("click", on="Frame button")
    assert "in frame true" in done.text
    assert await page.text() == "nothing yet"


async def test_a_button_in_a_closed_shadow_root_gets_real_presses(page: Hands):
    await page.act("click", on="Closed button")
    assert await page.js("window.closedEvents") == [["mousedown", True], ["click", True]]


async def test_elements_of_frames_of_other_sites_are_used_like_all_others(page: Hands):
    assert "pressed true" in (await page.act("click", on="Foreign button")).text
    assert 'it now reads "far away"' in (await page.act("input", on="Foreign field", text="far away")).text
    assert "low pressed" in (await page.act("click", on="Foreign low button")).text
    page.context.scratchpad.write("note.txt", "hello")
    assert "use upload_file" in (await page.act("click", on="Foreign upload")).text
    done = await page.act("upload_file", on="Foreign upload", path="note.txt")
    assert done.status is ReceiptStatus.OK
    assert await page.index("picked note.txt")


async def test_the_number_of_what_covers_an_element_is_told_so_that_it_can_be_used(page: Hands):
    covering = await page.index("Close offer")
    done = await page.act("click", on="Under the wall")
    assert done.status is ReceiptStatus.BLOCKED
    assert f"[{covering}]" in done.text
    await page.act("click", index=covering)
    await page.act("click", on="Under the wall")
    assert await page.text() == "under"


async def test_an_element_that_was_built_again_is_stale_and_its_likenesses_are_named(page: Hands):
    old = await page.index("Alpha entry")
    await page.act("click", on="Build again")
    await page.browser.observe(with_screenshot=False)
    fresh = await page.index("Alpha entry")
    done = await page.act("click", index=old)
    assert done.status is ReceiptStatus.FAILED
    assert "built anew" in done.text or "no longer on the page" in done.text
    assert f'button "Alpha entry" [{fresh}]' in done.text
    done = await page.act("click", index=99_999)
    assert done.status is ReceiptStatus.FAILED
    assert "the numbers shown go from 1 to" in done.text
    assert await page.text() == "nothing yet"


async def test_a_number_of_a_page_that_was_left_is_stale_and_says_so(page: Hands):
    old = await page.index("Copy")
    await page.open("act_second.html")
    await page.browser.observe(with_screenshot=False)
    done = await page.act("click", index=old)
    assert done.status is ReceiptStatus.FAILED
    assert "the numbers shown go from" in done.text
    assert done.lasting == f"There was no element [{old}]."


async def test_a_drag_that_the_page_does_by_itself_is_done_with_the_mouse_alone(page: Hands):
    await page.js("""(() => { const box = document.getElementById('copy'); box.draggable = true;
        box.ondragstart = (event) => event.preventDefault();
        document.getElementById('rebuild').onmouseup = () => { document.getElementById('log').textContent = 'let go'; };
    })()""")
    done = await page.act("drag", from_index=await page.index("Copy"), to_index=await page.index("Build again"))
    assert await page.text() == "let go"
    assert done.text.startswith("Dragged button")
