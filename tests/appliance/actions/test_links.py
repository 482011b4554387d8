import pytest

from appliance.actions.links import TAKEN_OUT, keep_known_links
from appliance.content import Content

PAGE = Content(
    "https://a.example/list?page=2",
    "List",
    "[One](https://a.example/one) and https://b.example/wiki/Bell_(ship).",
    linked_data=({"offers": {"url": "/buy/1", "image": ["https://c.example/i.png"]}},),
    meta=(("og:url", "https://a.example/list"),),
)


@pytest.mark.parametrize(
    "text",
    [
        "https://a.example/one",
        "See https://a.example/one.",
        "[One](https://a.example/one)",
        "(https://b.example/wiki/Bell_(ship)), **https://a.example/list?page=2**",
        '{"url":"https://a.example/buy/1","image":"https://c.example/i.png","page":"https://a.example/list"}',
        "no address, http:// alone, mail@a.example",
    ],
)
def test_what_the_page_has_stays(text: str):
    assert keep_known_links(text, PAGE) == (text, 0)


@pytest.mark.parametrize(
    "address",
    [
        "https://a.example/on",
        "https://a.example/one/",
        "https://a.example/One",
        "http://a.example/one",
        "https://evil.test/one",
    ],
)
def test_what_differs_in_one_sign_is_taken_out(address: str):
    assert keep_known_links(f"Link: {address}, and more", PAGE) == (f"Link: {TAKEN_OUT}, and more", 1)
