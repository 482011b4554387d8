import pytest
from litestar.stores.memory import MemoryStore

from appliance.errors import RequestInvalid, TooManyRequests
from web.signin import SignIns, Throttle, Viewer, hash_password, is_password


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


async def test_a_password_is_kept_as_argon2_and_recognised() -> None:
    stored = await hash_password("correct horse battery")
    assert stored.startswith("$argon2id$")
    assert await is_password("correct horse battery", stored)
    assert not await is_password("correct horse", stored)
    assert not await is_password("correct horse battery", None)


@pytest.mark.parametrize("password", ["short", "x" * 1001])
async def test_an_unfit_password_is_refused_with_what_is_wanted(password: str) -> None:
    with pytest.raises(RequestInvalid, match="at least 10 characters"):
        await hash_password(password)


async def test_each_sign_in_has_a_token_of_its_own_and_ends_for_itself() -> None:
    sign_ins = SignIns(MemoryStore(), secure=True)
    first, second = await sign_ins.open(Viewer("eva@example.com")), await sign_ins.open(Viewer("eva@example.com"))
    assert first.value != second.value
    gone = await sign_ins.close(first.value)
    assert (gone.value, gone.max_age) == ("", 0)
    assert await sign_ins.find(first.value) is None
    assert await sign_ins.find(second.value) == Viewer("eva@example.com")
    assert await sign_ins.find("") is None
    assert await sign_ins.find("x" * 5000) is None


def test_the_throttle_counts_by_account_and_lets_go_after_its_window() -> None:
    clock = Clock()
    throttle = Throttle(clock)
    for _ in range(8):
        throttle.check("Eva@example.com ", "10.0.0.1")
        throttle.note_failure("eva@example.com", "10.0.0.1")
    with pytest.raises(TooManyRequests) as refused:
        throttle.check("eva@example.com", "10.9.9.9")
    assert 890 < refused.value.retry_after <= 901
    throttle.check("ada@example.com", "10.0.0.1")
    clock.now = 901.0
    throttle.check("eva@example.com", "10.0.0.1")


def test_the_throttle_counts_by_address_over_all_accounts() -> None:
    throttle = Throttle(Clock())
    for number in range(24):
        throttle.check(f"user{number}@example.com", "10.0.0.1")
        throttle.note_failure(f"user{number}@example.com", "10.0.0.1")
    with pytest.raises(TooManyRequests):
        throttle.check("another@example.com", "10.0.0.1")
    throttle.check("another@example.com", "10.0.0.2")


def test_success_forgets_the_accounts_failures() -> None:
    throttle = Throttle(Clock())
    for _ in range(7):
        throttle.note_failure("eva@example.com", "10.0.0.1")
    throttle.note_success("eva@example.com")
    throttle.note_failure("eva@example.com", "10.0.0.1")
    throttle.check("eva@example.com", "10.0.0.1")
