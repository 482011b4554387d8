"""Where each value of an answer was read, as a JSON document by JSON pointer.

Each value has an entry: {"status": "read", "url", "quote", "at", "step", "screenshot"}, {"status": "absent", "reason"}
for what was looked for and is not there, {"status": "unseen"} for what no page has shown.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from appliance.store.coverage import Absence
from appliance.store.evidence import Provenance
from appliance.store.pointers import leaves

Sources = dict[str, dict[str, Any]]


def trace(answer: Any, known: Mapping[str, Provenance | Absence]) -> Sources:
    """Return the sources of an answer's values; `known` has what is known of some of the pointers."""
    found: Sources = {pointer: _entry(source) for pointer, source in known.items()}
    for pointer, value in leaves(answer):
        if pointer not in found and value is not None:
            above = next((above for above in _above(pointer) if above in known), None)
            found[pointer] = {"status": "unseen"} if above is None else found[above]
    return found


def _above(pointer: str) -> Iterator[str]:
    while pointer:
        pointer = pointer.rpartition("/")[0]
        yield pointer


def _entry(source: Provenance | Absence) -> dict[str, Any]:
    if isinstance(source, Absence):
        return {"status": "absent", "reason": source.reason}
    return {
        "status": "read",
        "url": source.url,
        "quote": source.quote,
        "at": source.at.isoformat(),
        "step": source.step,
        "screenshot": source.screenshot,
    }
