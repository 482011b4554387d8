from pathlib import Path

from tests.ops.test_agent_docs import ROW, _exists

PAGE = (Path(__file__).parents[2] / "ops" / "docs" / "answers.md").read_text()


def test_every_statement_on_answers_names_a_test_that_exists() -> None:
    rows = ROW.findall(PAGE)
    assert len(rows) > 20
    assert [name for _, name in rows if not _exists(name)] == []
