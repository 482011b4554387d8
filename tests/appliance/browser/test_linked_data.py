"""JSON-LD as pages really have it: what is broken is repaired without anything being made up, or lost by itself."""

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from appliance.browser.linked_data import read_block
from appliance.browser.reader import read_html

LAMP: dict[str, Any] = {"@type": "Product", "name": "Lamp", "offers": {"price": "19.90"}, "sku": 7}


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('{"name": "Lamp", "sizes": [1, 2,], }', [{"name": "Lamp", "sizes": [1, 2]}]),
        ('{"name": "Lamp", // so\n "url": "http://a.example/b" /* it */}', [{"name": "Lamp", "url": "http://a.example/b"}]),
        ('{&quot;name&quot;: &quot;Lamp &amp; shade&quot;}', [{"name": "Lamp & shade"}]),
        ('{"name": "two\nlines\tand more"}', [{"name": "two\nlines\tand more"}]),
        ('//<![CDATA[\n{"name": "Lamp"};\n//]]>', [{"name": "Lamp"}]),
        ('{"name": "Lamp", "brand": {"name": "Aster"}, "descr', [{"name": "Lamp", "brand": {"name": "Aster"}}]),
        ('{"name": "Lamp", "price": 19', [{"name": "Lamp"}]),
        ('{"name": "Lamp", "description": "A lamp that is cut', [{"name": "Lamp"}]),
        ('[{"name": "Lamp"}, {"name": "Shade"}, {"na', [{"name": "Lamp"}, {"name": "Shade"}]),
        ('{"name": "Lamp" "sku": "L-1"}', [{"name": "Lamp", "sku": "L-1"}]),
        ('{"name": "The "big" lamp", "sku": "L-1"}', [{"name": 'The "big" lamp', "sku": "L-1"}]),
        ("{'name': 'Lamp', sku: 7}", [{"name": "Lamp", "sku": 7}]),
        ('{"name": "Lamp", "sku": , "price": undefined, "stock": NaN}', [{"name": "Lamp"}]),
        ('{"name": "one" + "two", "sku": "L-1"}', [{"sku": "L-1"}]),
        ("function () { return 1; }", []),
        ("", []),
        ("null", []),
        ('{"name": "Lamp", "stock": NaN}', [{"name": "Lamp", "stock": None}]),
        ("[" * 100_000, []),
        ('{"a":' * 50_000, []),
    ],
)  # fmt: skip
def test_a_broken_block_says_what_is_beyond_doubt(text: str, said: list[dict[str, Any]]) -> None:
    assert list(read_block(text)) == said


def test_no_block_is_lost_to_another() -> None:
    broken = ['{"name": "x', '{"name" "y" :', "<b>", '{"@type": "Product", "name": "Lamp",}']
    blocks = "".join(f"<script type='application/ld+json'>{one}</script>" for one in (*broken, json.dumps(LAMP)))
    found = read_html(f"<html><head>{blocks}</head></html>", "http://a.example/").linked_data
    assert found[-1] == LAMP
    assert {"@type": "Product", "name": "Lamp"} in found


def leaves(value: Any) -> list[Any]:
    if isinstance(value, dict):
        return [leaf for one in value.values() for leaf in leaves(one)]
    if isinstance(value, list):
        return [leaf for one in value for leaf in leaves(one)]
    return [value]


@settings(max_examples=150, deadline=None)
@given(st.integers(0, 80), st.integers(0, 80), st.sampled_from(["", ",", '"', "}", "{", "[", "\\", ":", "\n", "x"]))
def test_damage_anywhere_loses_values_but_makes_none_up(start: int, end: int, sign: str) -> None:
    whole = json.dumps(LAMP)
    damaged = whole[: min(start, end)] + sign + whole[max(start, end) :]
    for leaf in (leaf for one in read_block(damaged) for leaf in leaves(one)):
        spellings = (str(leaf), json.dumps(leaf).strip('"'))
        assert any(one in damaged for one in spellings)


def test_a_long_stretch_of_blanks_in_a_block_does_not_hold_up_the_reading() -> None:
    block = f'\n<!-- {{"name": "Lamp",{" " * 200_000}"sku": 7}};\n-->{" " * 200_000}'
    assert list(read_block(block)) == [{"name": "Lamp", "sku": 7}]
