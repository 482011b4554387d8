import re
from pathlib import Path

from appliance.captcha.registry import STRATEGIES
from tests.ops.test_agent_docs import ROW, _exists

PAGE = (Path(__file__).parents[2] / "ops" / "docs" / "captcha.md").read_text()


def test_every_kind_of_captcha_is_told_with_the_price_it_is_counted_at() -> None:
    told = dict(re.findall(r"^\| `(\w+)`[^|]*\| \w+ \| ([\d.]+) \|", PAGE, re.MULTILINE))
    assert told == {one.kind: f"{one.price_usd.normalize():f}" for one in STRATEGIES if one.price_usd is not None}
    assert all(f"`{one.kind}`" in PAGE for one in STRATEGIES)


def test_every_statement_of_the_page_names_a_test_that_exists() -> None:
    rows = ROW.findall(PAGE)
    assert len(rows) > 10
    assert [name for _, name in rows if not _exists(name)] == []
