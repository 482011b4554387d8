"""What the codes of notices stand for: category and action for callers of the API, a short word for people."""

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class NoticeKind:
    """`category` and `action` are fixed words of the API; `word` stands before the notice on pages."""

    category: str
    action: str
    word: str


_KINDS: Mapping[str, NoticeKind] = {
    "start_url": NoticeKind("memory", "startUrl", "Memory"),
    "found_links": NoticeKind("read", "find_links", "Links"),
    "read_pages": NoticeKind("read", "read_pages", "Pages"),
    "script_run": NoticeKind("code", "script", "Code"),
    "schema_seeded": NoticeKind("schema", "seed", "Answer"),
    "incomplete": NoticeKind("schema", "completeness", "Answer"),
    "store_delivered": NoticeKind("judge", "storeComplete", "Answer"),
    "captcha": NoticeKind("interaction", "captcha", "Captcha"),
    "pressure": NoticeKind("system", "pressure", "Machine"),
    "cap_alert": NoticeKind("system", "budget", "Budget"),
    "paused": NoticeKind("system", "pause", "Pause"),
    "resumed": NoticeKind("system", "resume", "Pause"),
    "gave_way": NoticeKind("system", "keepAlive", "Browser"),
    "idle_timeout": NoticeKind("system", "keepAlive", "Browser"),
    "parked_browser_lost": NoticeKind("system", "keepAlive", "Browser"),
    "server_ended": NoticeKind("system", "keepAlive", "Browser"),
}


def kind_of(code: str) -> NoticeKind | None:
    """Return what a notice's code stands for, None for one that says all in its text."""
    return _KINDS.get(code)
