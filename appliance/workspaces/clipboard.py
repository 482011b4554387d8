"""The session's clipboard: small values under names of the agent's choice, kept as a file of the scratchpad."""

import json
from typing import cast

from appliance.errors import ActionFailed
from appliance.workspaces.scratchpad import Scratchpad

FILE_NAME = "clipboard.json"
MAX_KEY = 100
MAX_VALUE = 10_000
MAX_ENTRIES = 200
RESERVED = ("startUrl", "goal")
"""Keys of ours: where the task begins, and what it is to come to."""


class Clipboard:
    """What is remembered in a session; `seed` adds values of ours, which are not written down."""

    def __init__(self, scratchpad: Scratchpad) -> None:
        self._scratchpad = scratchpad
        self._seeds: dict[str, str] = {}

    def seed(self, key: str, value: str, *, is_guess: bool = False) -> None:
        """Make a value known that the agent has not to remember itself; a guess takes the place of nothing."""
        if not is_guess or key not in self._seeds:
            self._seeds[key] = value

    def remember(self, key: str, value: str) -> None:
        """Keep a value, in place of an earlier one of that key.

        Raises ActionFailed for a key of ours and for what is too long or too much.
        """
        if key in RESERVED:
            raise ActionFailed(f"{key} is set by the task and cannot be changed; remember it under another key.")
        if not key or len(key) > MAX_KEY:
            raise ActionFailed(f"A key has 1 to {MAX_KEY} characters.")
        if len(value) > MAX_VALUE:
            raise ActionFailed(f"A value has at most {MAX_VALUE} characters; write longer text to a file.")
        kept = self._kept() | {key: value}
        if len(kept) > MAX_ENTRIES:
            raise ActionFailed(f"{MAX_ENTRIES} values are remembered already; write more of them to a file.")
        self._scratchpad.write(FILE_NAME, json.dumps(kept, ensure_ascii=False, indent=1))

    def recall(self, key: str) -> str:
        """Return the value of a key; raises ActionFailed, naming the keys there are."""
        values = self.values()
        if key not in values:
            raise ActionFailed(f"Nothing is remembered as {key!r}; there are: {', '.join(values) or 'no keys'}.")
        return values[key]

    def values(self) -> dict[str, str]:
        """Return all values by key, ours first."""
        return self._seeds | {key: value for key, value in self._kept().items() if key not in RESERVED}

    def _kept(self) -> dict[str, str]:
        if FILE_NAME not in {entry.name for entry in self._scratchpad.listing()}:
            return {}
        try:
            kept = json.loads(self._scratchpad.read(FILE_NAME))
        except ValueError:
            return {}  # the agent may write its files as it likes
        pairs = cast("dict[str, object]", kept).items() if isinstance(kept, dict) else ()
        return {key: value if isinstance(value, str) else json.dumps(value) for key, value in pairs}
