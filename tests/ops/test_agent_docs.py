import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
DOCUMENT = ROOT / "ops" / "docs" / "agent.md"
ROW = re.compile(r"^\| (?P<statement>[^|]+) \| `(?P<tests>[^|]+)` \|$", re.MULTILINE)


def test_every_statement_of_the_agent_page_names_tests_that_exist():
    rows = ROW.findall(DOCUMENT.read_text())
    assert len(rows) > 60
    missing = [name for _, tests in rows for name in tests.split("`, `") if not _exists(name)]
    assert missing == []


def test_no_statement_is_made_twice():
    statements = [statement for statement, _ in ROW.findall(DOCUMENT.read_text())]
    assert sorted(set(statements)) == sorted(statements)


def _exists(name: str) -> bool:
    """Say whether `path::test` or `path::Class::test` names a test, paths being those below `tests`."""
    path, _, test = name.partition("::")
    file = ROOT / "tests" / path
    called = test.rsplit("::", 1)[-1]
    return file.is_file() and re.search(rf"def {re.escape(called)}\(", file.read_text()) is not None
