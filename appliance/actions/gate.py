"""What the gate before the end of a run remembers."""

from dataclasses import dataclass

from appliance.store.answers import AnswerStore

MAX_BOUNCES = 3
"""So many times in a row without progress an answer goes back; the last of them ends the run."""


@dataclass
class Gate:
    """How often in a row the answer went back, and for what else it did once.

    `filled` is how many writes the store had taken right after a whole answer came out of the text of done: as long as
    nothing else is written, such a text may replace it. `stated` are the names that the file of pages has values for,
    with the time and the size of the file that they were read from.
    """

    bounces: int = 0
    told_links: bool = False
    told_refused: int = 0
    filled: int | None = None
    stated: tuple[tuple[int, int], tuple[str, ...]] = ((0, 0), ())
    _most: int = -1
    _fewest_gaps: int = 0

    def note_filled(self, store: AnswerStore) -> None:
        """Take note that the store was just filled from the text of done."""
        self.filled = store.writes

    def may_replace(self, store: AnswerStore) -> bool:
        """Whether a whole answer in the text of done is taken for the answer: nothing else has filled the store."""
        return not store.is_touched or self.filled == store.writes

    def bounce(self, store: AnswerStore) -> bool:
        """Count that the answer goes back; returns whether it may, False when that led nowhere often enough.

        Progress is more that is filled or marked absent than ever before, or fewer gaps: what is taken out and put
        back by turns is none.
        """
        coverage = store.coverage()
        every = (*coverage.item_fields, *coverage.fields)
        known, gaps = sum(field.filled + len(field.absent) for field in every), len(coverage.gaps)
        is_first = self._most < 0
        has_progress = is_first or known > self._most or gaps < self._fewest_gaps
        self.bounces = 1 if has_progress else self.bounces + 1
        self._most = max(self._most, known)
        self._fewest_gaps = gaps if is_first else min(self._fewest_gaps, gaps)
        store.note_bounce()
        return self.bounces < MAX_BOUNCES
