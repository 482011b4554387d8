from pathlib import Path

from appliance.browser.connection import Browser
from appliance.browser.reader import read_html
from tests.site import Site

PRODUCT = (Path(__file__).parents[2] / "site" / "pages" / "product.html").read_text()
URL = "http://shop.test/chairs/12"


def test_the_content_is_read_without_what_surrounds_it() -> None:
    content = read_html(PRODUCT, URL)

    assert content.title == "Blue chair – Shop"
    assert content.markdown.startswith("# Blue chair")
    assert "A **comfortable** chair. See the [guide](http://shop.test/guide)." in content.markdown
    assert "| S | 3 |" in content.markdown
    assert "noise" not in content.markdown
    assert "All chairs" not in content.markdown


def test_a_malformed_block_of_linked_data_loses_only_itself() -> None:
    found = [(thing["@type"], thing.get("name")) for thing in read_html(PRODUCT, URL).linked_data]

    others = [("Organization", "Shop"), ("BreadcrumbList", None), ("FAQPage", None)]
    assert found == [("Product", "Blue chair"), ("Broken", None), *others]


def test_line_breaks_comments_and_other_spellings_of_linked_data_are_read() -> None:
    html = (
        '<script type="application/ld+json; charset=utf-8">\n<!--\n{"@type": "A", "name": "two\nlines"}\n-->\n</script>'
        '<SCRIPT TYPE="Application/LD+JSON">[[{"@type": "B"}], {"@id": "x", "name": "kept", "@graph": {"@type": "C"}}]'
        "</SCRIPT><script type=application/ld+json></script><script type=application/ld+json>"
        + "[" * 100_000
        + "</script>"
    )

    things = read_html(html, URL).linked_data

    assert [thing.get("@type") or thing.get("name") for thing in things] == ["A", "B", "kept", "C"]
    assert things[0]["name"] == "two\nlines"


def test_meta_tags_are_kept_in_order_with_repeats() -> None:
    assert read_html(PRODUCT, URL).meta == (
        ("description", "A blue chair"),
        ("og:title", "Blue chair"),
        ("og:title", "Blue chair again"),
    )


def test_labels_are_paired_with_their_text() -> None:
    assert read_html(PRODUCT, URL).labelled == (
        ("Material", "Oak"),
        ("Weight", "5 kg"),
        ("Colour", "Blue"),
        ("Colour", "Navy"),
        ("Legs", "Four"),
        ("Delivery", "3 days"),
        ("Warranty", "two years"),
    )


def test_a_table_of_one_row_says_one_thing_per_column() -> None:
    html = (
        "<table><tr><th>Name<th>Price<tr><td>Chair<td>49 €</table><p>At 12:30 we close</p><span itemprop=sku>X1</span>"
    )

    assert read_html(html, URL).labelled == (("Name", "Chair"), ("Price", "49 €"), ("sku", "X1"))


def test_links_that_are_complete_stay_as_they_were_written() -> None:
    query = "q=" + "a%2fB+c" * 40
    html = f'<base href="/deep/"><p><a href="https://x.test/?{query}">one</a> <a href="two?x=1">two</a></p>'

    markdown = read_html(html, URL).markdown

    assert f"https://x.test/?{query}" in markdown
    assert "http://shop.test/deep/two?x=1" in markdown


def test_anything_is_read_without_an_error() -> None:
    for html in ("", "plain", "<", "<html><body><table><tr></table>", "<dl><dd>x</dl>", "\x00", "<p>" * 3000):
        read_html(html, URL)


async def test_the_content_of_a_tab_holds_its_shadow_roots_and_frames(browser: Browser, site: Site) -> None:
    await browser.tab.navigate(site.url("/shadow.html"))

    content = await browser.read_content()

    assert content.url == site.url("/shadow.html")
    assert "Slotted title" in content.markdown
    assert "Deep text" in content.markdown
    await browser.tab.navigate(site.url("/frames.html"))
    assert (await browser.read_content()).markdown.count("Inner text") == 2


def test_of_very_many_choices_the_first_thousands_are_read_and_all_that_follows_them() -> None:
    choices = "".join(f"<option value={number}>Choice {number}</option>" for number in range(60_000))
    content = read_html(f"<body><p>Before</p><select>{choices}</select><p>Behind</p></body>", URL)

    assert "Choice 1999" in content.markdown
    assert "Choice 2000" not in content.markdown
    assert content.markdown.startswith("Before")
    assert content.markdown.endswith("Behind")


def test_the_page_that_follows_is_told_where_the_page_says_which_it_is():
    content = read_html('<nav><a href="?page=2" rel="nofollow next">More</a></nav>', "http://a.test/")
    assert content.meta == (("next", "?page=2"),)
