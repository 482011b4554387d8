"""The running text of a page is found without its marks, whatever stands around it."""

from appliance.store.prose import find_prose, whole_text

TEXT = "The lamp burns all night, and the keeper need not wake for it, as the old captains say."


def test_links_are_their_words_pictures_are_nothing_and_emphasis_is_no_mark() -> None:
    block = TEXT.replace("keeper", "[keeper](http://a.example/k_(1))").replace("old", "**old**")
    assert find_prose(f"# Lamp\n\n![A lamp](http://a.example/l.jpg)\n\n{block}\n\n## More\n") == TEXT


def test_brackets_that_nothing_closes_do_not_hold_up_the_reading() -> None:
    brackets = "[" * 200_000
    assert find_prose(f"{brackets}\n\n{TEXT}") == TEXT
    assert whole_text(f"# Lamp\n{TEXT}\n{brackets}").startswith(TEXT)
