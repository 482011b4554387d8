from pathlib import Path

ROOT = Path(__file__).parents[2]


def read_lock(name: str) -> set[str]:
    return {line.split(" ")[0] for line in (ROOT / name).read_text().splitlines() if line[:1].isalpha()}


def test_what_the_product_needs_is_also_there_for_its_tests():
    assert read_lock("requirements.lock") - read_lock("ops/dev.lock") == set()
