from pathlib import Path

from appliance.models.autopilot import MAX_DIALOGS
from appliance.models.closing import MAX_TRIES
from appliance.models.golden_path import MAX_ROWS, PAGES_PER_CALL
from appliance.models.pagination import MAX_CLICKS, MAX_PAGES
from tests.ops.test_agent_docs import ROW

TESTS = Path(__file__).parents[1]
PAGE = (TESTS.parent / "ops" / "docs" / "autopilot.md").read_text()


def test_every_statement_on_autopilot_names_a_test_that_exists() -> None:
    rows = ROW.findall(PAGE)
    assert len(rows) > 10
    for _, name in rows:
        file, _, test = name.partition("::")
        assert f"def {test}(" in (TESTS / file).read_text(), name


def test_the_limits_told_are_those_of_the_planner() -> None:
    limits = PAGE[PAGE.index("## Limits") : PAGE.index("What it cannot do")]
    for name, value in (
        ("pages of one list", MAX_PAGES),
        ("items", MAX_ROWS),
        ("presses of a button for more", MAX_CLICKS),
        ("pages behind a list in one call", PAGES_PER_CALL),
    ):
        assert f"| {name} | {value}" in limits
    assert (MAX_DIALOGS, MAX_TRIES) == (5, 4)
