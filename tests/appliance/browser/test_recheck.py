from appliance.browser.connection import Browser
from tests.appliance.browser.look import index_of
from tests.site import Site

PAGE = """document.body.innerHTML = `
<button id=next>Next</button> <button id=save>Save</button> <label><input type=checkbox id=all>All</label>
<input id=name placeholder=Name value=a> <a href=/x id=link>Link</a>
<div role=button aria-pressed=false id=like>Like</div>`"""


async def test_an_element_that_stayed_the_same_is_told_so(browser: Browser, site: Site) -> None:
    await browser.tab.navigate(site.url("/"))
    await browser.tab.evaluate(PAGE)
    seen = await browser.observe(with_screenshot=False)
    await browser.tab.evaluate("document.querySelector('#name').value = 'another'; document.body.append('more text')")

    assert [await browser.recheck(index) for index in seen.elements] == [None] * 6


async def test_what_is_different_about_an_element_is_told(browser: Browser, site: Site) -> None:
    await browser.tab.navigate(site.url("/"))
    await browser.tab.evaluate(PAGE)
    seen = await browser.observe(with_screenshot=False)
    await browser.tab.evaluate(
        """const find = (id) => document.getElementById(id);
        find('next').textContent = 'Confirm purchase'; find('save').disabled = true; find('all').checked = true;
        find('like').setAttribute('aria-pressed', 'true'); find('link').remove();
        const box = find('name').getBoundingClientRect();
        document.body.insertAdjacentHTML('beforeend', `<div id=ad style="position:fixed;left:${box.left - 5}px;
          top:${box.top - 5}px;width:${box.width + 10}px;height:${box.height + 10}px">Ad</div>`)"""
    )

    async def change(text: str) -> str | None:
        return await browser.recheck(index_of(seen, text))

    assert await change("Next") == '[1] now reads "Confirm purchase" instead of "Next"'
    assert await change("Save") == "[2] is now disabled"
    assert await change(">All") == "[3] is now checked"
    assert await change("Name") == "[4] is now covered by div Ad"
    assert await change("Link") == "[5] is no longer on the page"
    assert await change("Like") == "[6] is now pressed"
    assert "There is no element [99]" in str(await browser.recheck(99))


async def test_an_element_of_a_document_that_went_away_is_gone(browser: Browser, site: Site) -> None:
    await browser.tab.navigate(site.url("/controls.html"))
    seen = await browser.observe(with_screenshot=False)

    await browser.tab.navigate(site.url("/"))

    assert "is no longer on the page" in str(await browser.recheck(index_of(seen, "Check")))


async def test_a_sign_that_was_given_another_name_is_another_element(browser: Browser, site: Site) -> None:
    await browser.tab.navigate(site.url("/"))
    await browser.tab.evaluate("document.body.innerHTML = '<button aria-label=\"Next month\">›</button>'")
    seen = await browser.observe(with_screenshot=False)
    assert "<button>Next month" in "".join(seen.lines)

    await browser.tab.evaluate("document.querySelector('button').setAttribute('aria-label', 'Buy all')")

    assert await browser.recheck(1) == '[1] now reads "Buy all" instead of "Next month"'


LABELS = {
    "one that is hidden": "<label for=f style='display:none'>Hidden words</label><input id=f>",
    "one shown and one hidden": "<label for=f>Shown</label><input id=f><label for=f hidden>And hidden</label>",
    "two shown": "<label for=f>First</label><label for=f>Second</label><input id=f>",
    "one in what cannot be seen": "<div style='opacity:0'><label for=f>Clear words</label></div><input id=f>",
    "one beside a label of nothing": "<label>Caption</label><label for=f>Words</label><input id=f>",
    "none, but a title": "<label>Caption</label><input id=f title=Titled>",
    "one inside a link": "<a href=/x>Link <label for=f>Words</label></a><input id=f>",
    "one in a frame": "<iframe srcdoc='<label for=f>Framed</label><label hidden>x</label><input id=f>'></iframe>",
}
"""A field, by what its labels are."""


async def test_a_field_stays_the_same_whatever_its_labels_are(browser: Browser, site: Site) -> None:
    for case, markup in LABELS.items():
        await browser.tab.navigate(site.url("/"))
        await browser.tab.evaluate(f"document.body.innerHTML = {markup!r}")
        await browser.settle(10)
        seen = await browser.observe(with_screenshot=False)
        await browser.tab.evaluate("document.body.append('more')")

        assert seen.elements, case
        assert [await browser.recheck(index) for index in seen.elements] == [None] * len(seen.elements), case
