import pytest

from appliance.errors import MachineFault
from appliance.runtime.sealing import Seal


def test_what_is_sealed_can_be_opened_with_the_same_secret_only() -> None:
    document = {"good.test": {"pw": "hünter-22"}, "flat": "x"}
    text = Seal(b"one secret").close(document)
    assert "hunter" not in text
    assert "good" not in text
    assert Seal(b"one secret").open(text) == document
    with pytest.raises(MachineFault, match="SECRET_KEY"):
        Seal(b"another secret").open(text)
    with pytest.raises(MachineFault, match="SECRET_KEY"):
        Seal(b"one secret").open(text[:-4] + "AAA=")


def test_two_seals_of_the_same_are_not_alike() -> None:
    seal = Seal(b"one secret")
    assert seal.close({"a": "b"}) != seal.close({"a": "b"})
