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
