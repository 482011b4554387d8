import asyncio
import re

from appliance.words import ReceiptStatus
from tests.appliance.actions.conftest import Hands


async def test_a_place_that_was_searched_for_is_looked_at_and_used(hands: Hands):
    await hands.open("rows?nodes=5000")
    await hands.browser.observe(with_screenshot=False)
    found = await hands.act("search_page", pattern="Text of row 400 ")
    line = re.match(r"\(line (\d+)\)", found.carried or "")
    assert line

    looked = await hands.act("look", from_line=int(line[1]))
    seen = await hands.browser.observe(with_screenshot=False)

    assert looked.status is ReceiptStatus.OK
    assert seen.first_line == int(line[1])
    assert "Text of row 400" in seen.lines[1]
    button = next(view for view in seen.elements.values() if view.name == "Buy 401")
    await hands.js("addEventListener('click', (event) => { document.title = event.target.textContent }); 1")
    await hands.act("click", index=button.index)
    assert await hands.js("document.title") == "Buy 401"


async def test_a_long_value_is_read_in_full(hands: Hands):
    await hands.open("zoo_marks.html")

    found = await hands.act("find_elements", selector="#story, #long")

    assert "They lived." in (found.carried or "")
    assert "x the end" in (found.carried or "")


async def test_frames_of_other_sites_are_searched_too(hands: Hands):
    await hands.open("zoo_frames.html")
    async with asyncio.timeout(20):
        while "Inside deep" not in "\n".join((await hands.browser.observe(with_screenshot=False)).lines):
            await hands.browser.settle(0.5)

    found = await hands.act("search_page", pattern="Inside deep")
    assert found.text.startswith("1 place(s)")
    line = re.match(r"\(line (\d+), in the frame (\S+)\)", found.carried or "")
    assert line
    assert line[2] == hands.site.url("/zoo_frame.html?deep", 3)
    seen = await hands.browser.observe(with_screenshot=False)
    assert seen.lines[int(line[1]) - 1].strip() == "Inside deep"
    assert (await hands.act("find_text", text="Inside deep")).status is ReceiptStatus.OK
    fields = await hands.act("find_elements", selector="input[aria-label=Field]")
    assert fields.text.startswith("3 element(s)")


async def test_an_area_without_controls_is_scrolled_by_its_own_number(hands: Hands):
    await hands.open("act_second.html")
    await hands.js(
        """document.body.innerHTML = '<div id=area style="height:100px;overflow:auto">' +
        '<p>Text</p>'.repeat(50) + '</div>'; 1"""
    )
    seen = await hands.browser.observe(with_screenshot=False)
    area = next(view for view in seen.elements.values() if view.tag == "div")

    done = await hands.act("scroll", index=area.index)

    assert done.status is ReceiptStatus.OK
    assert await hands.js("document.getElementById('area').scrollTop") == 100
