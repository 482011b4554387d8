"""How things are said on the pages: states, failures, times, money. Words only, no markup."""

from dataclasses import dataclass
from datetime import UTC, datetime
from decimal import ROUND_HALF_UP, Decimal
from typing import Literal
from urllib.parse import urlsplit

from appliance.persistence.records import SessionRecord
from appliance.words import FailureKind, Lifecycle, ReceiptStatus, SessionStatus

Tone = Literal["running", "waiting", "delivered", "failed", "trouble", "resting"]


@dataclass(frozen=True)
class StateWords:
    """A session's state as a person would say it; `tone` picks the colour."""

    word: str
    tone: Tone


@dataclass(frozen=True)
class FailureWords:
    """A failure in words, and the two or three things most likely to help."""

    headline: str
    remedies: tuple[str, ...]


def say_state(session: SessionRecord) -> StateWords:
    """Return the state in words."""
    if session.queue_position is not None:
        return StateWords(f"waiting, {say_ordinal(session.queue_position)} in line", "waiting")
    match session.status:
        case SessionStatus.CREATED:
            return StateWords("ready for a task", "resting")
        case SessionStatus.RUNNING:
            is_paused = session.lifecycle is Lifecycle.PAUSED
            return StateWords("paused", "waiting") if is_paused else StateWords("running", "running")
        case SessionStatus.TIMED_OUT:
            is_expired = session.lifecycle is Lifecycle.EXPIRED
            return StateWords("expired", "resting") if is_expired else StateWords("out of time", "failed")
        case SessionStatus.ERROR:
            return StateWords("failed", "failed")
        case SessionStatus.IDLE | SessionStatus.STOPPED:
            return _say_result(session)


def _say_result(session: SessionRecord) -> StateWords:
    if session.is_successful:
        return StateWords("delivered", "delivered")
    if session.failure is not None:
        return StateWords("failed", "failed")
    if session.is_successful is False and session.output is not None:
        return StateWords("ended without success", "trouble")
    return StateWords("open" if session.status is SessionStatus.IDLE else "stopped", "resting")


_FAILURES = {
    FailureKind.PROVIDER_RATE_LIMIT: FailureWords(
        "The model's provider would not take more requests",
        ("Wait a minute and start the task again.", "Choose another model, or raise the limit with the provider."),
    ),
    FailureKind.PROVIDER_SERVER_ERROR: FailureWords(
        "The model's provider had a fault of its own",
        ("Start the task again in a few minutes.", "Choose a model of another provider meanwhile."),
    ),
    FailureKind.PROVIDER_CONNECTION_ERROR: FailureWords(
        "The model's provider could not be reached",
        ("Check this machine's network and the provider's base URL in the settings.", "Start the task again."),
    ),
    FailureKind.PROVIDER_TIMEOUT: FailureWords(
        "The model took too long to answer",
        ("Start the task again.", "Choose a quicker model or less effort."),
    ),
    FailureKind.PROVIDER_ERROR: FailureWords(
        "The model's provider refused the request",
        ("Check the API key and that the account has credit.", "Choose another model."),
    ),
    FailureKind.SESSION_TIMEOUT: FailureWords(
        "The time for this task was used up",
        ("Give it more time, or ask for less in one task.", "What it had found by then is kept below."),
    ),
    FailureKind.INVALID_OUTPUT: FailureWords(
        "The model's answers could not be used",
        ("Choose a stronger model.", "Make the output schema simpler."),
    ),
    FailureKind.BUDGET_EXCEEDED: FailureWords(
        "The money for this task was used up",
        ("Raise the cap, or choose a cheaper model.", "What it had found by then is kept below."),
    ),
    FailureKind.AGENT_FAILURE: FailureWords(
        "The agent could not finish the task",
        (
            "Read the last steps: the page may need a sign-in or may not load here.",
            "Say the task more exactly, or allow more steps.",
        ),
    ),
}
_INTERRUPTED = FailureWords(
    "The run was interrupted",
    ("The appliance or its browser was stopped while it worked; what it had found is kept.", "Start the task again."),
)


def say_failure(failure: FailureKind | None) -> FailureWords:
    """Return what went wrong and what to do; None stands for a run that was cut off by a restart or a lost browser."""
    return _INTERRUPTED if failure is None else _FAILURES[failure]


_RECEIPTS = {
    ReceiptStatus.OK: "done",
    ReceiptStatus.NO_EFFECT: "had no effect",
    ReceiptStatus.FAILED: "did not work",
    ReceiptStatus.BLOCKED: "blocked",
    ReceiptStatus.NEEDS_DECISION: "needs a decision",
    ReceiptStatus.SKIPPED: "skipped",
}


def say_receipt(status: ReceiptStatus) -> str:
    """Return what came of an action in words."""
    return _RECEIPTS[status]


def say_ordinal(number: int) -> str:
    """Return 1 as "1st", 2 as "2nd", 11 as "11th"."""
    if 10 <= number % 100 <= 20:
        return f"{number}th"
    return f"{number}{ {1: 'st', 2: 'nd', 3: 'rd'}.get(number % 10, 'th') }"


def say_money(amount: Decimal | None) -> str:
    """Return dollars with as many digits as matter; None is unknown, never nothing."""
    if amount is None:
        return "cost unknown"
    if amount == 0:
        return "$0"
    step = Decimal("0.0001") if amount < Decimal("0.01") else Decimal("0.001") if amount < 1 else Decimal("0.01")
    rounded = amount.quantize(step, rounding=ROUND_HALF_UP)
    return f"${rounded:,}" if rounded else "<$0.0001"


def say_clock(seconds: float) -> str:
    """Return seconds as 01:43, or 1:02:03 from an hour on."""
    whole = max(0, int(seconds))
    hours, minutes = whole // 3600, whole % 3600 // 60
    return f"{hours}:{minutes:02d}:{whole % 60:02d}" if hours else f"{minutes:02d}:{whole % 60:02d}"


def say_duration(milliseconds: int) -> str:
    """Return milliseconds as 40 ms, 1.3 s, 64 s."""
    if milliseconds < 100:
        return f"{milliseconds} ms"
    seconds = milliseconds / 1000
    return f"{seconds:.1f} s" if seconds < 10 else f"{seconds:.0f} s"


def say_ago(moment: datetime, now: datetime | None = None) -> str:
    """Return how long ago it was: just now, 5 min ago, 3 h ago, yesterday, 4 days ago, 2 Nov 2026."""
    seconds = ((now or datetime.now(UTC)) - moment).total_seconds()
    if seconds < 60:
        return "just now"
    if seconds < 3600:
        return f"{int(seconds // 60)} min ago"
    if seconds < 86400:
        return f"{int(seconds // 3600)} h ago"
    if seconds < 172800:
        return "yesterday"
    if seconds < 14 * 86400:
        return f"{int(seconds // 86400)} days ago"
    return f"{moment.day} {moment:%b %Y}"


def say_moment(moment: datetime) -> str:
    """Return the exact time in UTC, for a tooltip."""
    return f"{moment.astimezone(UTC):%Y-%m-%d %H:%M:%S} UTC"


def say_host(url: str) -> str:
    """Return the part of an address that tells where one is."""
    parts = urlsplit(url)
    return parts.netloc.removeprefix("www.") or url


def first_line(text: str, most: int = 140) -> str:
    """Return the first line that says something, cut at a word where it is long."""
    line = next((line.strip(" #>*\t") for line in text.splitlines() if line.strip(" #>*-\t")), "")
    return line if len(line) <= most else f"{line[: most - 1].rsplit(' ', 1)[0].rstrip(' ,;:.')}…"
