from datetime import UTC, datetime, timedelta
from decimal import Decimal
from uuid import uuid4

import pytest

from appliance.persistence.records import SessionRecord
from appliance.words import FailureKind, SessionStatus
from web.wording import (
    first_line,
    say_ago,
    say_clock,
    say_duration,
    say_host,
    say_money,
    say_ordinal,
    say_state,
)

NOW = datetime(2026, 11, 30, 12, 0, tzinfo=UTC)


@pytest.mark.parametrize(
    ("amount", "said"),
    [
        (None, "cost unknown"),
        (Decimal(0), "$0"),
        (Decimal("0.00001"), "<$0.0001"),
        (Decimal("0.00123"), "$0.0012"),
        (Decimal("0.0492"), "$0.049"),
        (Decimal(3), "$3.00"),
        (Decimal("1234.5"), "$1,234.50"),
    ],
)
def test_money_has_as_many_digits_as_matter(amount: Decimal | None, said: str) -> None:
    assert say_money(amount) == said


@pytest.mark.parametrize(
    ("ago", "said"),
    [
        (timedelta(seconds=5), "just now"),
        (timedelta(minutes=5), "5 min ago"),
        (timedelta(hours=3), "3 h ago"),
        (timedelta(hours=30), "yesterday"),
        (timedelta(days=4), "4 days ago"),
        (timedelta(days=28), "2 Nov 2026"),
    ],
)
def test_times_are_said_relative_to_now(ago: timedelta, said: str) -> None:
    assert say_ago(NOW - ago, NOW) == said


def test_clocks_durations_ordinals_and_hosts() -> None:
    assert [say_clock(seconds) for seconds in (-1, 103, 3723)] == ["00:00", "01:43", "1:02:03"]
    assert [say_duration(ms) for ms in (40, 420, 1480, 64_000)] == ["40 ms", "0.4 s", "1.5 s", "64 s"]
    assert [say_ordinal(number) for number in (1, 2, 3, 4, 11, 22)] == ["1st", "2nd", "3rd", "4th", "11th", "22nd"]
    assert [say_host(url) for url in ("https://www.a.example/b", "about:blank")] == ["a.example", "about:blank"]


def test_a_first_line_is_cut_at_a_word() -> None:
    assert first_line("\n# Lamps of the shop\nmore") == "Lamps of the shop"
    assert first_line("one two three four", most=12) == "one two…"


@pytest.mark.parametrize(
    ("values", "word", "tone"),
    [
        ({"status": SessionStatus.CREATED}, "ready for a task", "resting"),
        ({"status": SessionStatus.CREATED, "queue_position": 2}, "waiting, 2nd in line", "waiting"),
        ({"status": SessionStatus.RUNNING}, "running", "running"),
        ({"status": SessionStatus.STOPPED, "is_successful": True, "output": "x"}, "delivered", "delivered"),
        ({"status": SessionStatus.STOPPED, "is_successful": False, "output": "x"}, "ended without success", "trouble"),
        ({"status": SessionStatus.STOPPED, "is_successful": False}, "stopped", "resting"),
        ({"status": SessionStatus.IDLE}, "open", "resting"),
        ({"status": SessionStatus.STOPPED, "failure": FailureKind.AGENT_FAILURE}, "failed", "failed"),
        ({"status": SessionStatus.TIMED_OUT}, "out of time", "failed"),
        ({"status": SessionStatus.ERROR}, "failed", "failed"),
    ],
)
def test_a_state_is_one_word_with_a_tone(values: dict[str, object], word: str, tone: str) -> None:
    base: dict[str, object] = {"id": uuid4(), "model": "m", "wire_model": "w", "created_at": NOW, "updated_at": NOW}
    said = say_state(SessionRecord(**{**base, **values}))
    assert (said.word, said.tone) == (word, tone)
