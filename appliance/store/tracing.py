"""Traces the values of an answer to where they were read, when that is asked for or before it would be forgotten."""

from appliance.store.evidence import Evidence, Provenance
from appliance.store.facts import split_words
from appliance.store.pointers import leaves
from appliance.store.rows import Origin, Row


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
        for name in row.origins:
            self.trace(row, name)

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
