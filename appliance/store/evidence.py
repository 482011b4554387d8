"""Everything that was read in a run, so that each value of an answer can be traced to the place it was read at."""

from dataclasses import dataclass, field
from datetime import datetime


@dataclass(frozen=True)
class Sighting:
    """What was read at one time at one address: its text, and the links it showed, to the byte.

    `screenshot` names a picture of it among the session's.
    """

    url: str
    text: str
    at: datetime
    links: frozenset[str] = frozenset()
    step: int = 0
    screenshot: str | None = None


@dataclass(frozen=True)
class Provenance:
    """Where a value was read: the address, the words around it, when, and the name of a picture of it, if any."""

    url: str
    quote: str
    at: datetime
    step: int = 0
    screenshot: str | None = None


@dataclass
class Evidence:
    """What a run has read so far, oldest first."""

    sightings: list[Sighting] = field(default_factory=list[Sighting])

    def see(self, sighting: Sighting) -> None:
        """Keep what was read."""
        self.sightings.append(sighting)
