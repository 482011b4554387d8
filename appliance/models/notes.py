"""What the keyless model has to say about its answer: what it read, what is not stated, what it could not do."""

from collections.abc import Collection
from dataclasses import dataclass, field

from appliance.models.base import Scene
from appliance.models.demands import beyond_reading
from appliance.store.coverage import FieldCoverage

MAX_NAMED = 5
"""Pages that are named; of more the number is given."""


@dataclass
class Notes:
    """What happened on the way; `unread` are addresses that were found but not come to, `dead` those with a reason.

    `is_cut` says that the list goes on beyond what was read though nobody asked to stop there.
    """

    list_pages: int = 0
    read: set[str] = field(default_factory=set[str])
    dead: dict[str, str] = field(default_factory=dict[str, str])
    unread: list[str] = field(default_factory=list[str])
    is_cut: bool = False

    def tell(self, scene: Scene, task: str, given: Collection[str] = ()) -> str:
        """Return the note to the person, in a few sentences; `given` are fields that are written together with it."""
        sentences = [self._reading(scene), self._absent(scene, given), self._dead(), self._rest()]
        if beyond := beyond_reading(task):
            sentences.append(f"Autopilot only reads pages: it did not {', '.join(beyond)}.")
        return " ".join(filter(None, sentences))

    def _reading(self, scene: Scene) -> str:
        if not self.list_pages:
            return f"Read from {scene.url}."
        pages = f"{self.list_pages} page{'' if self.list_pages == 1 else 's'} of the list"
        behind = f" and {len(self.read)} page{'' if len(self.read) == 1 else 's'} behind it" if self.read else ""
        count = scene.coverage.items if scene.coverage is not None else 0
        return f"Read {pages}{behind}: {count} item{'' if count == 1 else 's'}."

    def _absent(self, scene: Scene, given: Collection[str]) -> str:
        if scene.coverage is None:
            return ""
        told = [_on(one, scene.coverage.items) for one in scene.coverage.item_fields if one.absent or one.missing]
        told += [one.name for one in scene.coverage.fields if (one.absent or one.missing) and one.name not in given]
        return f"Not stated: {', '.join(told)}." if told else ""

    def _dead(self) -> str:
        if not self.dead:
            return ""
        named = "; ".join(f"{url} ({why.rstrip('.')})" for url, why in list(self.dead.items())[:MAX_NAMED])
        more = f" and {len(self.dead) - MAX_NAMED} more" if len(self.dead) > MAX_NAMED else ""
        return f"Could not be read: {named}{more}."

    def _rest(self) -> str:
        if self.unread:
            return f"{len(self.unread)} pages that were found were not read, since the limits of the run were reached."
        return "The list goes on beyond what was read." if self.is_cut else ""


def _on(one: FieldCoverage, items: int) -> str:
    count = len({*one.absent, *one.missing})
    return f"{one.name} on {'all' if count == items else count}"
