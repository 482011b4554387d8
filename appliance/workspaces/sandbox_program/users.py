"""The users that scripts run as: each process has one of its own."""

import random

FIRST_UID, LAST_UID = 60600, 60999
"""Numbers that no distribution gives away."""
_taken: set[int] = set()


def take_user() -> int:
    """Return a user that no other process of ours runs as; raises LookupError when there is none left."""
    free = [uid for uid in range(FIRST_UID, LAST_UID + 1) if uid not in _taken]
    if not free:
        raise LookupError("too many scripts run at once")
    # Two servers on one machine know nothing of each other: they hardly ever meet in so many.
    uid = random.choice(free)  # noqa: S311
    _taken.add(uid)
    return uid


def free_user(uid: int) -> None:
    """Let a user be taken again."""
    _taken.discard(uid)
