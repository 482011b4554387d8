"""Traces the values of an answer to where they were read, when that is asked for or before it would be forgotten."""

from collections.abc import Iterator

from appliance.store.evidence import Evidence, Provenance
from appliance.store.facts import split_words
from appliance.store.pointers import leaves
from appliance.store.rows import Origin, Row

PORTION = 50
"""Values that are traced at a time, in a few milliseconds."""


class Tracer:
    """Finds the places of values; what was read after a value was written does not count."""

    def __init__(self, evidence: Evidence) -> None:
        self._evidence = evidence

    def origin(self, page: str | None) -> Origin:
        """Return the origin of what is written now, from this page or else from the one that was read last."""
        return Origin(page or self._evidence.current, self._evidence.mark)

    def known(self, page: str | None) -> str | None:
        """Return the page if it was read."""
        return page if page and self._evidence.has_visited(page) else None

    def trace_row(self, row: Row) -> None:
        """Trace every value of a row that is not traced yet."""
        for _ in self.portions(row):
            pass

    def portions(self, row: Row) -> Iterator[None]:
        """Trace every value of a row that is not traced yet, a portion at each turn."""
        for name, origin in tuple(row.origins.items()):
            if name in row.traced or name not in row.value:
                continue
            found: dict[str, Provenance] = {}
            for number, (pointer, value) in enumerate(tuple(leaves(row.value[name])), 1):
                if (place := self._place(value, name, origin)) is not None:
                    found[pointer] = place
                if number % PORTION == 0:
                    yield
            if row.origins.get(name) is origin:
                # It was not written anew meanwhile.
                row.traced[name] = found
        yield

    def trace(self, row: Row, name: str) -> dict[str, Provenance]:
        """Return where the values of a field were read, by their pointers inside the field."""
        if name not in row.traced:
            origin = row.origins[name]
            found = {
                pointer: place
                for pointer, value in leaves(row.value[name])
                if (place := self._place(value, name, origin)) is not None
            }
            row.traced[name] = found
        return row.traced[name]

    def _place(self, value: object, name: str, origin: Origin) -> Provenance | None:
        if isinstance(value, bool):
            return self._evidence.page(origin.page, until=origin.mark)
        about = split_words(name)
        return self._evidence.find(value, near=origin.page, until=origin.mark, about=about)
