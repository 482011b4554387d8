from typing import Any

from appliance.browser.reader import read_html
from appliance.content import Entry


def entries_of(body: str) -> list[tuple[Entry, ...]]:
    return list(read_html(f"<title>T</title><body>{body}</body>", "http://shop.test/lamps/").entries)


def the_group(body: str) -> tuple[Entry, ...]:
    (group,) = entries_of(body)
    return group


def test_rows_of_a_table_are_told_under_its_headings_with_the_link_they_lead_to():
    first, second = the_group(
        """<table><thead><tr><th>Lamp</th><th>Price</th></tr></thead>
        <tr><td><a href="arc">Arc</a></td><td>€ 20</td></tr><tr><td><a href="/pole">Pole</a></td><td>€ 30</td></tr>
        <tr><td colspan="2">All prices with tax</td></tr></table>"""
    )
    assert first.labelled == (("Lamp", "Arc"), ("Price", "€ 20"))
    assert (first.title, first.url) == ("Arc", "http://shop.test/lamps/arc")
    assert (second.title, second.url) == ("Pole", "http://shop.test/pole")


def test_a_table_without_headings_and_one_of_things_said_about_one_thing_list_nothing():
    assert entries_of("<table><tr><td>a</td><td>b</td></tr><tr><td>c</td><td>d</td></tr></table>") == []
    assert entries_of("<table><tr><th>Colour</th><td>red</td></tr><tr><th>Size</th><td>9</td></tr></table>") == []


def test_a_definition_list_is_records_where_its_terms_come_again_and_else_terms_with_their_meaning():
    records = the_group(
        "<dl><dt>Name<dd>Arc<dt>Price<dd>20<dt>Name<dd>Pole<dt>Price<dd>30<dt>Name<dd>Ada<dt>Maker<dd>Nord</dl>"
    )
    assert [entry.labelled for entry in records] == [
        (("Name", "Arc"), ("Price", "20")),
        (("Name", "Pole"), ("Price", "30")),
        (("Name", "Ada"), ("Maker", "Nord")),
    ]
    meanings = the_group("<dl><dt>Ebb</dt><dd>Falling tide</dd><dt>Flood</dt><dd>Rising tide</dd></dl>")
    assert meanings[1].labelled == (("term", "Flood"), ("definition", "Rising tide"))


def test_cards_are_told_with_heading_link_class_names_picture_and_moment():
    card = """<div class="card"><a href="{0}"><img src="{0}.jpg" alt=""></a><h3><a href="{0}">{1}</a></h3>
        <span class="maker price-from">{2}</span> <time datetime="2026-03-0{3}">lately</time>
        <a href="/save">Save</a></div>"""
    first, second = the_group(
        card.format("arc", "Arc", "Halden", 1) + card.format("pole", "Pole", "Nord", 2) + "<div>x</div>"
    )
    assert (first.title, first.url, first.image) == (
        "Arc",
        "http://shop.test/lamps/arc",
        "http://shop.test/lamps/arc.jpg",
    )
    assert {("maker", "Halden"), ("price-from", "Halden"), ("time", "2026-03-01")} <= set(first.named)
    assert second.texts == ("Pole", "Nord", "lately", "Save")


def test_the_picture_of_an_entry_is_told_where_it_has_one_alone():
    first, second = the_group('<li><img src="a.jpg"><b>A</b>x</li><li><img src="b.jpg"><img src="c.jpg"><b>B</b>x</li>')
    assert (first.image, second.image) == ("http://shop.test/lamps/a.jpg", "")


def test_parts_under_headings_of_one_level_are_entries():
    first, second = the_group("<h2>Arc</h2><p>Price: 20</p><p>Bends.</p><h2>Pole</h2><p>Price: 30</p>")
    assert (first.title, first.labelled) == ("Arc", (("Price", "20"),))
    assert second.labelled == (("Price", "30"),)


def test_lists_of_bare_words_and_menus_are_no_entries():
    assert entries_of("<ul><li>red</li><li>green</li></ul><nav><ul><li><a href=/a>A</a></li></ul></nav>") == []


def test_a_list_of_very_many_is_read_as_far_as_a_thousand():
    rows = "".join(f"<li><a href='/{number}'>Row {number}</a> <b>{number}</b></li>" for number in range(3_000))
    assert len(the_group(f"<ul>{rows}</ul>")) == 1_000


def labelled(body: str) -> list[Any]:
    return list(read_html(f"<body>{body}</body>", "http://a.test/").labelled)


def test_two_texts_in_a_row_are_a_label_and_its_text_where_such_rows_stand_together():
    rows = "<div><span>Price</span><span>12 €</span></div><div><span>Weight</span><b>3 kg</b></div>"
    assert labelled(rows) == [("Price", "12 €"), ("Weight", "3 kg")]
    assert labelled("<div><span>Price</span><span>12 €</span></div>") == []
    assert labelled("<li><a href=/a>Arc</a><b>12</b></li><li><a href=/b>Pole</a><b>13</b></li>") == []
