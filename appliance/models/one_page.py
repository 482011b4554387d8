"""The keyless model's way with one page: an answer without a list from what the page states, or the page as text."""

from collections.abc import Generator

from appliance.errors import RunFailed
from appliance.models.base import Scene
from appliance.models.closing import close
from appliance.models.moves import CHOOSE, Move, Moves, give_up, move, receipt_of
from appliance.models.notes import Notes
from appliance.models.obstacles import explain
from appliance.models.opening import open_page
from appliance.models.survey import Survey, read_survey
from appliance.store.schema import AnswerSchema

_PATIENCE = 2
"""How often a page is read before it counts as one that cannot be."""


def hand_in_text(scene: Scene, address: str, task: str) -> Moves:
    """Yield the moves that hand in the page at the address as Markdown; raises RunFailed when it cannot be read."""
    scene = yield from open_page(scene, address)
    for _ in range(_PATIENCE):
        scene = yield _reading(scene, task)
        if scene.carried is not None:
            done = {"done": {"text": scene.carried, "success": True}}
            scene = yield move("The page has been read.", "Hand in what it says.", done)
            return scene
    raise _unreadable(scene, address)


def fill_object(scene: Scene, address: str, task: str, schema: AnswerSchema) -> Moves:
    """Yield the moves that fill an answer without a list from the page at the address, or from the one it names.

    Raises RunFailed when the page states nothing of what is asked for.
    """
    scene = yield from open_page(scene, address)
    scene, found = yield from _survey(scene, address, task)
    if found.named and not _has_required(found, schema):
        scene = yield move(
            f"{scene.url} does not state what is asked for, but has a link to what the task names.",
            f"Open {found.named}.",
            {"navigate": {"url": found.named}},
        )
        scene, found = yield from _survey(scene, address, task)
    obstacle = explain(scene)
    if not _states_anything(found, schema) or (obstacle and not _has_required(found, schema)):
        missing = ", ".join(
            field.name for field in schema.fields if field.is_required and field.name not in found.fields
        )
        why = obstacle or f"To have it searched for, {CHOOSE}"
        raise give_up(f"{scene.url} does not plainly state {missing or 'anything that the schema asks for'}", why)
    return (yield from close(scene, schema, found.fields, Notes(), task))


def _survey(scene: Scene, address: str, task: str) -> Generator[Move, Scene, tuple[Scene, Survey]]:
    for _ in range(_PATIENCE):
        scene = yield _reading(scene, task)
        found = read_survey(scene.carried)
        if found is not None:
            return scene, found
    raise _unreadable(scene, address)


def _reading(scene: Scene, task: str) -> Move:
    return move(f"The tab shows {scene.url}.", "Read the page.", {"extract": {"query": task[:2_000]}})


def _unreadable(scene: Scene, address: str) -> RunFailed:
    why = receipt_of(scene, "extract").rstrip(".") or "the steps before say why"
    return give_up(f"{address} could not be read: {why}", explain(scene) or "Try again, or name another page")


def _has_required(found: Survey, schema: AnswerSchema) -> bool:
    return all(field.name in found.fields for field in schema.fields if field.is_required)


def _states_anything(found: Survey, schema: AnswerSchema) -> bool:
    """Whether the page states something of what is required, or anything at all where nothing is."""
    required = [field.name for field in schema.fields if field.is_required]
    return any(name in found.fields for name in required) if required else bool(found.fields)
