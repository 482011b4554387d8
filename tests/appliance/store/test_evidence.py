import pickle
from typing import Any

import pytest

from appliance.store.evidence import MAX_CHARACTERS, Evidence, Provenance
from tests.appliance.store.shop import LIST, see, ware_url

TEXT = """Brass lamp “Anna” – on sale. Price: € 1.299,50 (was 1,499.00). In stock: 12 pieces, 4GB, 30 cm.
Published 5 May 2024, updated 03.06.2024, ends June 7th, 2024. Call 0 123 45. 東京タワーの隣。 Straße 5. At −7,5 °C"""


def read_at(evidence: Evidence, value: Any, near: str | None = None, *, about: tuple[str, ...] = ()) -> Provenance:
    """Where a value was read that must have been read."""
    provenance = evidence.find(value, near, about=about)
    assert provenance is not None, f"{value!r} was not found"
    return provenance


@pytest.mark.parametrize(
    ("value", "quote"),
    [
        ("Brass lamp", "Brass lamp “Anna” – on sale."),
        ('brass LAMP "Anna" - on sale', "Brass lamp “Anna” – on sale."),
        (1299.5, "1.299,50"),
        (1499, "1,499.00"),
        (12, "12 pieces"),
        (4, "4GB"),
        (30.0, "30 cm"),
        (-12, None),
        (-7.5, "−7,5 °C"),
        ("2024-05-05", "5 May 2024"),
        ("2024-06-03", "03.06.2024"),
        ("2024-06-07T10:00:00Z", "June 7th, 2024"),
        ("タワー", "タワー"),
        ("STRASSE", None),
        ("Straße", "Straße"),
        ("lam", None),
        ("299", None),
        (1299, None),
        (499, None),
        (2, None),
        (99.5, None),
        ("2024-05-06", None),
        (True, None),
        (None, None),
        ("", None),
        ("\x00", None),
        (float("inf"), None),
        (10**400, None),
        ({}, None),
    ],
)
def test_values_are_found_as_pages_write_them_and_by_themselves_only(value: Any, quote: str | None):
    evidence = Evidence()
    see(evidence, LIST, TEXT)
    found = evidence.find(value)
    assert (found is None) == (quote is None)
    assert found is None or str(quote) in found.quote


def test_a_value_is_looked_for_on_its_own_page_first_and_else_where_it_was_read_last():
    evidence = Evidence()
    for number in range(3):
        see(evidence, ware_url(number), f"Lamp {number}: 20 EUR, shared words {number}", step=number)
    assert [read_at(evidence, 20, near).url for near in (ware_url(0) + "/", ware_url(1) + "#top", None)] == [
        ware_url(0),
        ware_url(1),
        ware_url(2),
    ]
    mark = evidence.mark
    see(evidence, LIST, "20")
    see(evidence, ware_url(0), "Lamp 0: 20 EUR, shared words 0", step=7)
    found = evidence.find("Lamp 0", until=mark)
    assert found is not None
    assert found.step == 0
    assert read_at(evidence, "Lamp 0").step == 7
    assert evidence.find(20, until=0) is None


def test_of_several_places_the_one_beside_the_fields_name_counts():
    evidence = Evidence()
    see(evidence, LIST, "4 items in your cart. " + "Much else stands here. " * 9 + "Rating: 4 of 5 stars")
    assert "Rating: 4 of 5" in read_at(evidence, 4, about=("rating",)).quote
    assert "4 items" in read_at(evidence, 4).quote


def test_quotes_are_short_and_whole_words():
    evidence = Evidence()
    see(evidence, LIST, "word " * 100 + "needle " + "word " * 100)
    found = evidence.find("needle")
    assert found is not None
    assert len(found.quote) < 250
    assert found.quote.startswith("…word")
    assert found.quote.endswith("word…")
    long = "word " * 60
    assert len(read_at(evidence, long.strip()).quote) <= 240


@pytest.mark.parametrize(
    ("words", "is_said"),
    [
        ("in_stock", True),
        ("InStock", True),
        ("brass-lamp", True),
        ("sto", False),
        ("it", False),
        ("4gb", True),
        ("de luxe", True),
        ("from the task", True),
        ("...", False),
        ("", False),
    ],
)
def test_words_count_as_said_only_whole_however_they_are_joined(words: str, is_said: bool):
    evidence = Evidence()
    evidence.hear("Words from the task")
    see(evidence, LIST, TEXT, "https://x.example/de-luxe/1")
    assert evidence.has_text(words) is is_said


def test_what_is_read_later_is_said_from_then_on():
    evidence = Evidence()
    see(evidence, LIST, TEXT)
    assert not evidence.has_text("sold out")
    see(evidence, LIST, "Sold out")
    assert evidence.has_text("sold out")


def test_only_looking_at_something_new_or_on_purpose_counts_as_looking():
    evidence = Evidence()
    assert evidence.is_empty
    see(evidence, "about:blank", "")
    assert evidence.is_empty
    looks = evidence.looks
    see(evidence, LIST, "Wares")
    see(evidence, LIST, "Wares")
    assert evidence.looks == looks + 1
    evidence.look()
    assert evidence.looks == looks + 2
    assert evidence.was_looked_at(LIST)
    assert evidence.visited == {LIST}
    assert evidence.has_visited(LIST + "/#part")
    assert not evidence.has_visited(LIST + "#/wares/1")
    assert len([one for one in evidence.sightings if one.url == LIST]) == 1


def test_the_oldest_texts_are_let_go_beyond_the_cap_and_links_stay_known():
    evidence = Evidence()
    told: list[int] = []
    evidence.before_forgetting.append(lambda: told.append(len(evidence.sightings)))
    see(evidence, LIST, "First words", ware_url(1))
    for number in range(4):
        see(evidence, ware_url(number), f"Page {number} " + "x" * (MAX_CHARACTERS // 3))
    assert sum(len(one.text) for one in evidence.sightings) <= MAX_CHARACTERS
    assert evidence.find("First words") is None
    assert evidence.has_link(ware_url(1))
    assert told
    assert told[0] > 3
    see(evidence, LIST, "y" * (MAX_CHARACTERS + 1))
    assert [one.url for one in evidence.sightings] == [LIST]


def test_an_address_that_says_itself_what_is_read_there_proves_nothing():
    evidence = Evidence()
    see(evidence, "data:text/html,<p>Price 4711</p>", "Price 4711 https://shop.test/made-up")
    assert evidence.find(4711) is None
    assert not evidence.has_text("price")
    assert not evidence.has_link("https://shop.test/made-up")


LETTERS = str.maketrans("0123456789", "abcdefghij")


def test_what_was_let_go_takes_no_room():
    evidence = Evidence()
    sizes: list[int] = []
    for number in range(12):
        words = (str(place).translate(LETTERS) + "x" * 90 for place in range(number * 10_000, number * 10_000 + 6_500))
        see(evidence, ware_url(number), " ".join(words))
        assert evidence.find("nowhere") is None
        sizes.append(len(pickle.dumps(evidence)))
    assert sizes[-1] < 1.2 * sizes[4]


def test_an_address_is_read_on_the_page_that_shows_it():
    evidence = Evidence()
    see(evidence, LIST, "Wares", ware_url(1), ware_url(2))
    see(evidence, ware_url(1), "Lamp")
    assert read_at(evidence, ware_url(2)).url == LIST
    assert read_at(evidence, ware_url(1), near=ware_url(1)).url == ware_url(1)
    evidence.add_links(LIST, frozenset({ware_url(3)}))
    assert read_at(evidence, ware_url(3)).url == LIST
    assert evidence.find(ware_url(4)) is None
    assert evidence.nearest_link(ware_url(22)) == ware_url(2)
    assert evidence.nearest_link("mailto:x") is None


def test_a_part_of_a_longer_number_or_word_is_passed_over_on_the_way_to_the_whole():
    evidence = Evidence()
    see(
        evidence,
        LIST,
        "There are 15 lamps, 5.5 metres, 1,005 in all. " + "Much else stands here. " * 9 + "It weighs 5 kg, a lamp",
    )
    for value in (5, "lamp"):
        found = evidence.find(value)
        assert found is not None
        assert "weighs 5 kg, a lamp" in found.quote
