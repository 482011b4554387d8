"""The model without a model: works along the pages that a task begins at and hands in what they say; costs nothing.

It plans from the typed scene of a request, answers in the same JSON as any other model, and says what it cannot do.
"""

import json
from typing import Any

from appliance.content import Content
from appliance.errors import RunFailed, SchemaUnusable
from appliance.events import TokenCount
from appliance.models.addresses import find_address
from appliance.models.base import ModelRequest, OnText, Purpose, Reply, Scene
from appliance.models.golden_path import GoldenPath
from appliance.models.moves import CHOOSE, Move, Moves, give_up, move, status_of
from appliance.models.one_page import fill_object, hand_in_text
from appliance.models.survey import survey
from appliance.store.schema import AnswerSchema
from appliance.words import Effort, FailureKind

LONGEST_TEXT = 100_000
"""Characters of a page that are handed in; what is beyond is cut, and that is said."""
MAX_DIALOGS = 5
"""Native dialogs that are declined in a task; a page that opens more is left to its dialogs."""


class Autopilot:
    """The keyless model."""

    name = "autopilot"
    sees_images = False
    context_window: int | None = None
    compacts_itself: bool = False

    def __init__(self) -> None:
        self._planner = _Planner()

    def slowness(self, effort: Effort | None) -> float:  # noqa: ARG002 - it reasons not at all
        """Return 1: it answers at once."""
        return 1.0

    async def ask(self, request: ModelRequest, on_text: OnText | None = None) -> Reply:
        """Return the reply; raises RunFailed when the pages do not state what the output schema demands."""
        scene = request.scene
        if scene is None:
            raise RunFailed(f"Autopilot can only work on pages; {CHOOSE}.", failure=FailureKind.AGENT_FAILURE)
        if request.purpose is Purpose.EXTRACT:
            text = extract(scene)
        else:
            text = json.dumps(self._planner.plan(scene).as_reply(), ensure_ascii=False)
        if on_text is not None:
            await on_text(text)
        return Reply(text, TokenCount(), self.name, is_of_scene=True)

    async def close(self) -> None:
        """Nothing is held."""


class _Planner:
    """Takes the steps of one task after the other, each move once however often it is asked for."""

    def __init__(self) -> None:
        self._task = ""
        self._step: int = 0
        self._moves: Moves | None = None
        self._last: Move | None = None
        self._dialogs = 0

    def plan(self, scene: Scene) -> Move:
        """Return the next move; raises RunFailed when the answer cannot be given.

        Without a schema the reason is itself the answer.
        """
        if scene.only_done:
            return _deliver(scene)
        if scene.task == self._task and scene.step == self._step and self._last is not None:
            return self._last
        if scene.task != self._task or scene.step < self._step or self._is_over(scene):
            self._task, self._moves, self._dialogs = scene.task, None, 0
        self._step = scene.step
        self._last = self._declined(scene) or self._planned(scene)
        return self._last

    def _is_over(self, scene: Scene) -> bool:
        """Whether the answer was handed in and not sent back: what is asked now is the same task once more."""
        handed_in = self._last is not None and any("done" in action for action in self._last.actions)
        return handed_in and not status_of(scene, "done")

    def _declined(self, scene: Scene) -> Move | None:
        """Return the move that declines a dialog which holds up the page, None without one."""
        is_held_up = any(status == "needs_decision" for _, status, _ in scene.last)
        if not is_held_up or self._dialogs >= MAX_DIALOGS:
            return None
        self._dialogs += 1
        return move("A dialog holds up the page.", "Decline it.", {"answer_dialog": {"accept": False}})

    def _planned(self, scene: Scene) -> Move:
        try:
            if self._moves is None:
                self._moves = _moves_for(scene)
                return next(self._moves)
            return self._moves.send(scene)
        except StopIteration:
            return _deliver(scene)
        except RunFailed as failed:
            self._moves = None
            if scene.output_schema is not None:
                raise
            done = {"done": {"text": failed.message, "success": False}}
            return move(failed.message, "End the run.", done)


def _moves_for(scene: Scene) -> Moves:
    """Return the way for a task; raises RunFailed when there is none."""
    task, address = scene.task, find_address(scene.task)
    if address is None:
        raise give_up("The task names no web address", f"Name the page in the task, or {CHOOSE}")
    if scene.output_schema is None:
        return hand_in_text(scene, address, task)
    schema = _schema_of(scene.output_schema)
    if schema is None or scene.coverage is None:
        raise give_up("Autopilot fills only fields of an object and of lists of objects", f"For this schema, {CHOOSE}")
    if schema.list_field is None:
        return fill_object(scene, address, task, schema)
    if not schema.item_fields:
        raise give_up("Autopilot cannot fill a list of plain values", f"Ask for a list of objects, or {CHOOSE}")
    return GoldenPath(task, address, schema).steps(scene)


def _schema_of(document: dict[str, Any]) -> AnswerSchema | None:
    try:
        return AnswerSchema.read(document)
    except SchemaUnusable:
        return None


def _deliver(scene: Scene) -> Move:
    """Return the move of the turn in which only an answer is taken: what is there is handed in."""
    text = "The limits of the run were reached; this is what was found until then."
    if scene.output_schema is None and scene.carried:
        text = scene.carried
    return move(
        "The limits of the run were reached.", "Hand in what there is.", {"done": {"text": text, "success": False}}
    )


def extract(scene: Scene) -> str:
    """Return what the page says: Markdown, or with a schema the survey of what it states."""
    content = scene.content or Content(scene.url, "", "")
    schema = _schema_of(scene.output_schema) if scene.output_schema is not None else None
    return _as_markdown(content) if schema is None else survey(content, schema, scene.task)


def _as_markdown(content: Content) -> str:
    body = content.markdown.strip()
    title = " ".join(content.title.split()) or content.url
    text = body if body.startswith(f"# {title}\n") else f"# {title}\n\n{body}"
    if len(text) <= LONGEST_TEXT:
        return text
    return f"{text[:LONGEST_TEXT]}\n\n(Cut here: the page has {len(text):,} characters.)"
