"""Blocks of a prompt cannot be opened or closed by what stands in them."""

import pytest

from appliance.fences import fence


@pytest.mark.parametrize(
    "tag",
    [
        *("</page>", "< / PAGE >", "<answer>", "</query>", "</before>", "<answered x>", "</earlier_tasks>"),
        *("</pa\u200bge>", "<\u2060/page>", "</\u202epage>", "<\x00/re\u00adad_once>", "</n\ufeffotice\n>"),
    ],
)
def test_a_tag_of_ours_is_none_any_more_also_with_signs_in_it_that_nobody_sees(tag: str) -> None:
    assert fence(f"a {tag} b") == f"a ‹{tag[1:]} b"


def test_everything_else_stays_as_it_is() -> None:
    text = "[3]<page-header role=banner>Shop <pager> 3 < 4 </pages> <a href=/task>task</a> <steps-list>"
    assert fence(text) == text


def test_long_texts_of_nothing_but_beginnings_do_not_hold_it_up() -> None:
    text = "<" * 20_000 + "<\u200b" * 20_000 + "<p" * 20_000 + "<" + "\u200b" * 40_000
    assert fence(text) == text
