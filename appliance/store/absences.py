"""When a value may be called absent: only after the pages that could state it were looked at."""

from collections.abc import Sequence

from appliance.errors import AnswerRefused
from appliance.store.evidence import Evidence
from appliance.store.guards import Guards
from appliance.store.rows import Row
from appliance.store.schema import ObjectShape

MAX_NAMED = 8
MAX_REASON = 500


class Absences:
    """The rule of earned absence for one answer."""

    def __init__(self, guards: Guards, evidence: Evidence) -> None:
        self._guards = guards
        self._evidence = evidence
        self._looks_at_bounce: int | None = None

    def note_bounce(self) -> None:
        """Remember that the answer was sent back: from here on something has to be looked at first."""
        self._looks_at_bounce = self._evidence.looks

    def check_reason(self, field: str, reason: str) -> str:
        """Return the reason, tidied; raises AnswerRefused without one."""
        tidied = " ".join(reason.split())[:MAX_REASON]
        if not tidied:
            raise AnswerRefused(f"Say why {field} is absent: where you looked for it.")
        return tidied

    def check_looked(self, field: str) -> None:
        """Raise AnswerRefused unless something was looked at, and since the answer was last sent back."""
        evidence = self._evidence
        if evidence.is_empty:
            raise AnswerRefused(f"{field} cannot be absent yet: no page was read; open the page that would state it.")
        if self._looks_at_bounce is None or evidence.looks > self._looks_at_bounce:
            return
        if evidence.current is None or not evidence.was_looked_at(evidence.current):
            raise AnswerRefused(
                f"{field} cannot be absent yet: nothing was looked at since done was sent back. Look for it first "
                "with search_page, extract, look or read_pages."
            )

    def check_pages(self, field: str, shape: ObjectShape, rows: Sequence[tuple[int, Row]]) -> None:
        """Raise AnswerRefused, naming them, when the own pages of some of the items were not read."""
        own = [(index, shape.own_url_of(row.value) or row.page) for index, row in rows]
        unread = [(index, url) for index, url in own if url and not self._guards.has_read(url)]
        if unread:
            named = ", ".join(f"{index} ({url})" for index, url in unread[:MAX_NAMED])
            more = f" and {len(unread) - MAX_NAMED} more" if len(unread) > MAX_NAMED else ""
            raise AnswerRefused(
                f"{field} cannot be absent yet: the pages of these items were not read: {named}{more}. Read them with "
                "read_pages first."
            )

    def check_not_partial(self, field: str, filled: int, open_rows: Sequence[int]) -> None:
        """Raise AnswerRefused when a field that some items have is called absent on all others at once."""
        if filled and open_rows:
            named = ", ".join(map(str, open_rows[:MAX_NAMED])) + (" …" if len(open_rows) > MAX_NAMED else "")
            raise AnswerRefused(
                f"{field} is stated for {filled} items, so it is not absent throughout. Look at the pages of the "
                f"others ({named}) and mark those that do not state it by their index."
            )
