from decimal import Decimal

import pytest

from appliance.errors import RequestInvalid
from web.pages.forms import TaskForm, read_schema


@pytest.mark.parametrize(
    "text",
    [
        "{bad",
        "[]",
        '{"minimum": NaN}',
        '{"minimum": -Infinity}',
        '{"minimum": ' + "9" * 5000 + "}",
        '{"a":' * 50_000,
    ],
)
def test_a_schema_that_cannot_be_read_is_refused_at_its_field(text: str) -> None:
    with pytest.raises(RequestInvalid) as refused:
        read_schema(text)
    assert refused.value.location[-1] == "schema"


@pytest.mark.parametrize("steps", ["0", "1001", "5x", "٣", "000001" + "9" * 30])
def test_steps_out_of_bounds_are_refused(steps: str) -> None:
    with pytest.raises(RequestInvalid):
        TaskForm(task="x", max_steps=steps).to_wish()


@pytest.mark.parametrize(("typed", "amount"), [("0,50", "0.5"), ("$2.5", "2.5"), ("0,125", "0.125"), ("1200", "1200")])
def test_money_is_typed_with_a_point_or_a_comma(typed: str, amount: str) -> None:
    assert TaskForm(task="x", max_cost=typed).to_wish().max_cost_usd == Decimal(amount)


@pytest.mark.parametrize("typed", ["1,200", "$12,000", "1,200.50", "nan", "-1", "1e9", "<b>"])
def test_money_that_could_be_read_in_two_ways_or_not_at_all_is_refused(typed: str) -> None:
    with pytest.raises(RequestInvalid, match="or 1200") as refused:
        TaskForm(task="x", max_cost=typed).to_wish()
    assert refused.value.location[-1] == "max_cost"
