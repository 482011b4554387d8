"""Keeps a stranger's text inside the block of a prompt that it stands in, whatever it says."""

import re

_UNSEEN = "\u00ad\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff\x00-\x1f\x7f"
"""Signs that nobody sees, which a tag may be broken up with and still be read as one."""
_NAMES = (
    *("page", "page_changes", "read_once", "task", "goal", "step", "steps", "files", "notice", "checkpoint"),
    *("earlier_tasks", "answer_schema", "answer", "coverage", "review", "earlier_review", "reply", "note", "element"),
    *("move", "action", "query", "before", "answered"),
)


def _spelled(name: str) -> str:
    return f"[{_UNSEEN}]*+".join(map(re.escape, name))


_GAP = rf"[\s{_UNSEEN}]*+"
_FENCES = re.compile(rf"<({_GAP}(?:/{_GAP})?+)(?=(?:{'|'.join(map(_spelled, _NAMES))})(?![\w-]))", re.IGNORECASE)


def fence(text: str) -> str:
    """Return a stranger's text so that it cannot open or close one of the prompt's own blocks."""
    return _FENCES.sub(r"‹\1", text)
