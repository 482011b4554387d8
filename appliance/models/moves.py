"""The moves of the keyless model: what it sees, what it does next, and the actions, as any model replies."""

from collections.abc import Generator
from dataclasses import dataclass
from typing import Any

from appliance.errors import RunFailed
from appliance.models.base import Scene
from appliance.words import FailureKind

PLAN = "Autopilot has no language model: it reads what the pages state and fills in what is asked for."
CHOOSE = "set a provider key and choose a model for it"


@dataclass(frozen=True)
class Move:
    """One step: two sentences, and the actions to be done in order."""

    see: str
    do: str
    actions: tuple[dict[str, Any], ...]

    def as_reply(self) -> dict[str, Any]:
        """Return the reply that asks for it."""
        return {"what_i_see": self.see, "plan_to_goal": PLAN, "next_move": self.do, "action": list(self.actions)}


Moves = Generator[Move, Scene, Scene]
"""Moves one after the other; each is answered by the scene that came of it, the last scene is returned."""


def move(see: str, do: str, *actions: dict[str, Any]) -> Move:
    """Return a move."""
    return Move(see, do, actions)


def give_up(why: str, remedy: str) -> RunFailed:
    """Return the end of a run that nothing can be delivered in."""
    return RunFailed(f"{why}. {remedy}.", failure=FailureKind.AGENT_FAILURE)


def status_of(scene: Scene, action: str) -> str:
    """Return the status of the last action of this name in the step before, "" when it was not done."""
    return next((status for name, status, _ in reversed(scene.last) if name == action), "")


def receipt_of(scene: Scene, action: str) -> str:
    """Return what the receipt of the last action of this name says, "" without one."""
    return next((text for name, _, text in reversed(scene.last) if name == action), "")


def items_in(scene: Scene) -> int:
    """Return how many items the answer has."""
    return scene.coverage.items if scene.coverage is not None else 0
