from datetime import UTC, datetime

from appliance.store.coverage import Absence
from appliance.store.evidence import Provenance
from appliance.store.sources import trace

AT = datetime(2026, 11, 30, 12, 0, tzinfo=UTC)
READ = Provenance("http://shop.example/1", "Price: 17.90", AT, 4, "001-0004.jpg")


def test_a_value_has_the_address_the_words_the_time_and_the_picture_it_was_read_in():
    assert trace({"price": 17.9}, {"/price": READ}) == {
        "/price": {
            "status": "read",
            "url": "http://shop.example/1",
            "quote": "Price: 17.90",
            "at": "2026-11-30T12:00:00+00:00",
            "step": 4,
            "screenshot": "001-0004.jpg",
        }
    }


def test_a_value_that_no_page_has_shown_is_told_as_such_and_one_that_is_not_there_with_its_reason():
    answer = {"items": [{"name": "Bell", "date": None, "note": None}]}
    traced = trace(answer, {"/items/0/date": Absence("The page has none.")})
    assert traced == {
        "/items/0/name": {"status": "unseen"},
        "/items/0/date": {"status": "absent", "reason": "The page has none."},
    }


def test_parts_of_a_value_come_from_where_the_value_comes_from():
    traced = trace({"sizes": {"width": 3, "tags": ["a", "b"]}}, {"/sizes": READ})
    assert traced["/sizes/width"] == traced["/sizes/tags/1"] == traced["/sizes"]
