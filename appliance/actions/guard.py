"""Keeps what actions read from flooding the prompt.

A text that was seen before is told by reference to it, a huge one by its beginning and the file that has it whole, and
a call that brings the same as the call right before is told to be of no use.
"""

import json
from dataclasses import dataclass, replace
from hashlib import sha1
from typing import TYPE_CHECKING, Any, cast

from pydantic import BaseModel

from appliance.errors import ActionFailed
from appliance.filenames import free_name
from appliance.workspaces.scratchpad import Scratchpad

if TYPE_CHECKING:
    from appliance.actions.base import Receipt

CAPPED = frozenset(
    {"find_elements", "search_page", "evaluate", "find_links", "http_fetch", "run_code_file", "read_pages"}
)
"""Actions whose texts are neither repeated nor shown whole when they are huge."""
GUARDED = CAPPED | {"read_output", "search_output", "recall"}
"""Actions whose texts are not repeated."""
REPEATED_FROM = 500
"""Characters up to which a text is shown again: a reference would hardly be shorter."""
SAMPLE = 300
"""Characters of a text seen before that stand beside the reference to it."""
WHOLE = 8_000
ELIDED_WHOLE = 16_000
"""Characters that a document may have whose long strings are cut, where that leaves it complete otherwise."""
LONG_STRING = 200


@dataclass
class _Readout:
    """A text that was shown: the how-manieth it was, of which action, in which step, and its file once it has one."""

    number: int
    action: str
    step: int
    file: str | None = None


class OutputGuard:
    """Knows the texts that the actions of one talk have shown; `steps_before` are those of its earlier runs."""

    def __init__(self) -> None:
        self.steps_before = 0
        self._readouts: dict[str, _Readout] = {}
        self._last: tuple[str, str, str] | None = None

    def go_on(self, steps_before: int) -> None:
        """Begin another run, after so many steps; what was shown stays known, but nothing repeats a call of before."""
        self.steps_before, self._last = steps_before, None

    def pass_on(
        self, scratchpad: Scratchpad, step: int, name: str, parameters: BaseModel, receipt: "Receipt"
    ) -> "Receipt":
        """Return the receipt of an action as it is to be shown; to be called with each, in order, secrets removed."""
        if name not in GUARDED:
            self._last = None
            return receipt
        result = f"{receipt.status} {receipt.text}\n{receipt.carried or ''}"
        call = (name, parameters.model_dump_json(), _digest(result))
        is_repeated, self._last = call == self._last, call
        receipt = self._shortened(scratchpad, step, name, receipt)
        if not is_repeated:
            return receipt
        note = f"This is the same call with the same result as before; do not repeat {name}, do something else."
        return replace(receipt, text=f"{receipt.text} {note}")

    def _shortened(self, scratchpad: Scratchpad, step: int, name: str, receipt: "Receipt") -> "Receipt":
        text = receipt.carried
        if text is None or len(text) <= REPEATED_FROM:
            return receipt
        digest = _digest(text)
        known = self._readouts.get(digest)
        readout = known or _Readout(len(self._readouts) + 1, name, self.steps_before + step)
        self._readouts[digest] = readout
        is_huge = name in CAPPED and len(text) > WHOLE
        if known is not None or is_huge:
            readout.file = readout.file or _keep(scratchpad, readout, text)
        if known is not None and readout.file is not None:
            return replace(receipt, carried=_reference(readout, text))
        return replace(receipt, carried=_beginning(text, readout.file)) if is_huge else receipt


def _digest(text: str) -> str:
    """Return what texts have in common that differ in the kind and number of their blanks alone."""
    return sha1(" ".join(text.split()).encode(errors="replace"), usedforsecurity=False).hexdigest()


def _keep(scratchpad: Scratchpad, readout: _Readout, text: str) -> str | None:
    """Write the text to a file and return its name, None when there is no room for it."""
    try:
        name = free_name(scratchpad.root, f"readout_{readout.action}_{readout.number}.txt")
        return scratchpad.write(name, text).name
    except ActionFailed:
        return None


def _reference(readout: _Readout, text: str) -> str:
    sample = " ".join(text[:SAMPLE].split())
    return (
        f"(The same {len(text):,} characters as readout {readout.number}, of {readout.action} in step {readout.step}; "
        f"whole in {readout.file}, read_file shows it. They begin: {sample}…)"
    )


def _beginning(text: str, file: str | None) -> str:
    where = f"whole in {file}, read_file shows it" if file else "there is no room for a file with the rest"
    elided = _elided(text)
    if elided is not None:
        return f"{elided}\n(Strings over {LONG_STRING} characters are cut here; {where}.)"
    return f"{text[:WHOLE]}\n(Cut here: {len(text):,} characters in all; {where}.)"


def _elided(text: str) -> str | None:
    """Return a JSON document with its long strings cut, None when the text is none or is still too long."""
    if text.lstrip()[:1] not in ("{", "["):
        return None
    try:
        elided = json.dumps(_cut_strings(json.loads(text)), ensure_ascii=False)
    except (ValueError, RecursionError):
        return None
    return elided if len(elided) <= ELIDED_WHOLE else None


def _cut_strings(value: Any) -> Any:
    if isinstance(value, str) and len(value) > LONG_STRING:
        return f"{value[:LONG_STRING]}… ({len(value)} characters)"
    if isinstance(value, dict):
        return {key: _cut_strings(one) for key, one in cast("dict[str, Any]", value).items()}
    if isinstance(value, list):
        return [_cut_strings(one) for one in cast("list[Any]", value)]
    return value
