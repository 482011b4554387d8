"""The golden path of the keyless model: list, links, pages, drafts, absent marks, done."""

import json
from collections.abc import Generator
from typing import Any

from appliance.models.base import Scene
from appliance.models.closing import close
from appliance.models.demands import wanted_pages, wanted_rows
from appliance.models.details import choose_details
from appliance.models.mending import mend
from appliance.models.moves import CHOOSE, Move, Moves, give_up, items_in, move, receipt_of, status_of
from appliance.models.notes import Notes
from appliance.models.obstacles import explain
from appliance.models.opening import open_page
from appliance.models.pagination import Turning
from appliance.models.survey import Survey, read_survey
from appliance.store.schema import AnswerSchema

MAX_ROWS = 500
"""Records that are gathered unless the task names a number."""
PAGES_PER_CALL = 48
STEPS_KEPT = 4
"""Steps kept back for what is absent and for the answer."""
_SHARE = 0.9
"""Of the rows of a list that have all that is asked for, so that their own pages need not be read."""
_DRAFT = "rows_draft.json"


class GoldenPath:
    """Fills an answer with a list of items from one list of pages; `steps` is to be run once."""

    def __init__(self, task: str, address: str, schema: AnswerSchema) -> None:
        self._task = task
        self._address = address
        self._schema = schema
        self._wanted = self._find_wanted()
        self._turning = Turning(wanted_pages(task), self._wanted)
        self._asked: set[str] = set()
        self._taken: set[str] = set()
        self._notes = Notes()
        self._own: dict[str, Any] = {}

    def steps(self, scene: Scene) -> Moves:
        """Yield the moves; raises RunFailed when the page states nothing of what is asked for."""
        scene = yield from open_page(scene, self._address)
        while True:
            scene, found = yield from self._survey(scene)
            self._own = {**found.fields, **self._own}
            before = items_in(scene)
            scene = yield from self._take(scene, found)
            self._notes.list_pages += 1
            if self._is_enough(scene) or (self._notes.list_pages > 1 and items_in(scene) == before):
                break
            turned = yield from self._turning.turn(scene, found)
            if turned is None:
                break
            scene = turned
        if self._turning.more_than_read or (self._wanted is None and items_in(scene) >= MAX_ROWS):
            self._notes.is_cut = True
        if not items_in(scene):
            why = explain(scene) or f"For pages that only a reader understands, {CHOOSE}"
            raise give_up(f"{self._address} states no list of what the schema asks for that autopilot can read", why)
        return (yield from close(scene, self._schema, self._own, self._notes, self._task))

    def _find_wanted(self) -> int | None:
        field = self._schema.root.by_name.get(self._schema.list_field or "")
        document = field.schema if field is not None else self._schema.document
        most = document.get("maxItems")
        numbers = [number for number in (wanted_rows(self._task), most) if isinstance(number, int)]
        return min(numbers) if numbers else None

    def _is_enough(self, scene: Scene) -> bool:
        return items_in(scene) >= (self._wanted or MAX_ROWS) or scene.step > scene.max_steps - STEPS_KEPT

    def _room(self, scene: Scene) -> int:
        return max(0, (self._wanted or MAX_ROWS) - items_in(scene))

    # ---- one page of the list -----------------------------------------------------------------------------------

    def _survey(self, scene: Scene) -> Generator[Move, Scene, tuple[Scene, Survey]]:
        """Collect the links of the page to its end, and read what it states itself."""
        query = {"query": self._task[:2_000]}
        scene = yield move(
            f"The tab shows {scene.url}.",
            "Collect the links of the whole page and read what it states itself.",
            {"find_links": {}},
            {"extract": query},
        )
        found = read_survey(scene.carried)
        if found is None:
            scene = yield move(f"{scene.url} was not read.", "Read the page once more.", {"extract": query})
            found = read_survey(scene.carried)
        if found is None:
            text = receipt_of(scene, "extract").rstrip(".") or "it did not answer"
            raise give_up(f"{scene.url} could not be read: {text}", "Try again, or open another page of it")
        return scene, found

    def _take(self, scene: Scene, found: Survey) -> Moves:
        """Add the rows of this page of the list: as it states them, or as their own pages do."""
        chosen = choose_details(scene.links.found if scene.links else (), scene.url, self._task)
        details = [link for link in chosen.links if link.url not in self._asked][: self._room(scene)]
        is_enough = self._says_all(found.rows) or (not chosen.is_sure and all(map(self._has_required, found.rows)))
        if found.rows and (not details or is_enough):
            return (yield from self._take_rows(scene, found.rows))
        before = items_in(scene)
        if details:
            scene = yield from self._read_details(scene, [link.url for link in details])
        if self._is_poor(scene, before, found):
            if items_in(scene) > before:
                indices = list(range(before, items_in(scene)))
                scene = yield move(
                    "The pages behind the links do not state what is asked for, the list itself does.",
                    "Take their rows out.",
                    {"remove_items": {"indices": indices}},
                )
            scene = yield from self._take_rows(scene, found.rows)
        if items_in(scene) == before == 0 and found.row and self._has_required(found.row):
            scene = yield from self._take_rows(scene, [found.row])
        return scene

    def _read_details(self, scene: Scene, urls: list[str]) -> Moves:
        """Read the pages, as many at once as can be, and add what is drafted from them."""
        self._asked.update(urls)
        pending = urls
        while pending and (pending is urls or scene.step <= scene.max_steps - STEPS_KEPT):
            portion = pending[:PAGES_PER_CALL]
            scene = yield move(
                f"{len(urls)} links lead to pages of the same kind, {len(pending)} of them are still to be read.",
                f"Read {len(portion)} of these pages and add what they state to the answer.",
                {"read_pages": {"urls": portion}},
                {"add_items_from_file": {"name": _DRAFT}},
            )
            links = scene.links
            scene = yield from mend(scene, _DRAFT)
            known = {*links.read, *links.dead} if links is not None else set[str]()
            left = [url for url in portion if url not in known]
            # What could not be come to is asked for once more together with the rest, unless nothing was read at all.
            pending = [*pending[PAGES_PER_CALL:], *(left if len(left) < len(portion) else ())]
        self._notes.unread += pending
        if scene.links is not None:
            self._notes.read.update(url for url in urls if url in scene.links.read)
            self._notes.dead.update({url: why for url, why in scene.links.dead.items() if url in urls})
        return scene

    def _take_rows(self, scene: Scene, rows: list[dict[str, Any]]) -> Moves:
        """Add rows that the list states itself; those that were added before are left out."""
        new = [row for row in rows if self._is_new(row)][: self._room(scene)]
        if not new:
            return scene
        name = f"rows_page_{self._notes.list_pages + 1}.json"
        content = json.dumps(new, ensure_ascii=False)
        scene = yield move(
            f"{scene.url} states {len(rows)} rows itself.",
            f"Add {len(new)} rows to the answer.",
            {"write_file": {"file_name": name, "content": content}},
            {"add_items_from_file": {"name": name}},
        )
        return (yield from mend(scene, name))

    def _is_new(self, row: dict[str, Any]) -> bool:
        key = json.dumps({name: value for name, value in row.items() if name != "_page"}, sort_keys=True)
        is_new = key not in self._taken
        self._taken.add(key)
        return is_new

    # ---- which rows are good enough -----------------------------------------------------------------------------

    def _says_all(self, rows: list[dict[str, Any]]) -> bool:
        """Whether the list states all that is asked for, so that nothing is to be gained from the rows' own pages."""
        names = {field.name for field in self._schema.item_fields if not set(field.kinds) & {"object", "array"}}
        return sum(names <= set(row) for row in rows) >= _SHARE * len(rows)

    def _has_required(self, row: dict[str, Any]) -> bool:
        return all(field.name in row for field in self._schema.item_fields if field.is_required)

    def _is_poor(self, scene: Scene, before: int, found: Survey) -> bool:
        """Whether what the pages behind the links gave lacks more than what the list states itself."""
        if not found.rows or status_of(scene, "write_file"):
            return False
        new = items_in(scene) - before
        gaps = (
            sum(gap.index is not None and gap.index >= before for gap in scene.coverage.gaps) if scene.coverage else 0
        )
        lacking = sum(not self._has_required(row) for row in found.rows)
        return new == 0 or (gaps >= new and lacking * new < gaps * len(found.rows) / 2)
