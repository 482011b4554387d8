"""Forms whose fields are called like what scripts ask of an element: <form><input name=parentNode>."""

import re
from pathlib import Path

from appliance.browser.concealment import conceal
from appliance.browser.connection import Browser
from tests.appliance.browser.look import click, find, index_of, line_with
from tests.site import Site


async def test_a_form_with_fields_named_like_properties_is_read_completely_and_once(
    browser: Browser, site: Site
) -> None:
    names = re.findall(
        r"<label>Field (\w+)", (Path(__file__).parents[2] / "site/pages/zoo_clobbering.html").read_text()
    )
    await browser.tab.navigate(site.url("/zoo_clobbering.html"))

    seen = await browser.observe(with_screenshot=False)

    lines = [line.strip() for line in seen.lines]
    for text in ("Before the form", "Inside the form in bold", "After the form", "A form named body", "The end"):
        assert lines.count(text) == 1, (text, lines)
    fields = [line.rpartition(">")[2] for line in lines if ">Field " in line]
    assert fields == [f"Field {name}" for name in names]
    assert line_with(seen, "Send the trap")
    assert line_with(seen, "]<button>Next")


async def test_whether_such_a_form_is_still_the_same_is_told(browser: Browser, site: Site) -> None:
    await browser.tab.navigate(site.url("/zoo_clobbering.html"))
    seen = await browser.observe(with_screenshot=False)

    assert await browser.recheck(index_of(seen, "Trap")) is None
    await browser.tab.evaluate(
        "Element.prototype.setAttribute.call(document.querySelector('form'), 'aria-disabled', 'true')"
    )
    assert await browser.recheck(index_of(seen, "Trap")) == "[1] is now disabled"


async def test_the_button_of_such_a_form_is_clicked(browser: Browser, site: Site) -> None:
    await browser.tab.navigate(site.url("/zoo_clobbering.html"))
    seen = await browser.observe(with_screenshot=False)

    await click(browser, find(browser, seen, "Send the trap"))
    await browser.settle()

    seen = await browser.observe(with_screenshot=False)
    assert line_with(seen, "Sent:")


async def test_a_value_to_hide_is_hidden_beside_such_a_form(browser: Browser, site: Site) -> None:
    await browser.tab.navigate(site.url("/zoo_clobbering.html"))

    await conceal(browser.tab, ("loose words",))

    style = "getComputedStyle(document.getElementById('trap')).webkitTextSecurity"
    assert await browser.tab.evaluate(style) == "disc"
