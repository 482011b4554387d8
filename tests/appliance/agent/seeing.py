"""What the tests of the prompt window are made of: observations, finished steps, and the text of a request by parts."""

from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import Any

from appliance.actions.base import Receipt
from appliance.actions.registry import ACTIONS, Registry
from appliance.agent.archive import Archive
from appliance.agent.assignment import Assignment
from appliance.agent.compaction import ContextLimit
from appliance.agent.step import Plan, PlannedAction, Step
from appliance.agent.window import Notes, Window, text_of
from appliance.browser.observation import Observation, Screenshot, Scroll, TabView
from appliance.errors import ActionInvalid
from appliance.events import ActionCall
from appliance.models.base import Image, ModelRequest, Text
from appliance.words import ReceiptStatus

REGISTRY = Registry([action for action in ACTIONS if action.needs is None])
"""What a run has without an answer schema, scripts and captcha service."""
TASK = "Find the price"


def new_window(
    folder: Path | None = None, *, limit: ContextLimit | None = None, task: str = TASK, goal: str = "One price."
) -> Window:
    archive = Archive(folder) if folder is not None else None
    window = Window(Assignment(task), REGISTRY, date(2026, 11, 30), archive=archive, limit=limit)
    window.pin_goal(goal)
    return window


def observation(*lines: str, url: str = "http://shop/", **fields: Any) -> Observation:
    """A page of these lines; `shade` gives it a screenshot that looks alike for equal shades."""
    shade = fields.pop("shade", None)
    seen = Observation(
        url=url,
        title="Shop",
        tabs=(TabView("ab12", url, "Shop", is_current=True),),
        lines=lines,
        elements={},
        scroll=Scroll(0, 300),
        fingerprint="f",
        screenshot=picture(shade) if isinstance(shade, int) else None,
    )
    return replace(seen, **fields)


def stub_of(seen: Observation) -> Observation:
    return replace(seen, lines=(), notes=(), screenshot=None, is_stub=True)


def picture(shade: int) -> Screenshot:
    return Screenshot(b"jpeg %d" % shade, "image/jpeg", 100, 50, bytes([shade]) * 640)


def finished(number: int, text: str = "Clicked.", carried: str | None = None, **fields: Any) -> Step:
    """A step that clicked; `see`, `name` of the action, `seen` the observation and `lasting` may be given."""
    call = ActionCall(f"call_{number}", str(fields.get("name", "click")), {"index": number})
    see = str(fields.get("see", "A shop."))
    plan = Plan(see, "Read the price.", f"Click number {number}.", (PlannedAction(call, ActionInvalid("unused")),))
    lasting = fields.get("lasting")
    receipts = [Receipt(ReceiptStatus.OK, text, lasting=str(lasting) if lasting else None, carried=carried)]
    seen = fields.get("seen")
    return Step(
        number,
        observation=seen if isinstance(seen, Observation) else observation(),
        plan=plan,
        receipts=receipts,
    )


def ask(
    window: Window, number: int, seen: Observation, *notices: str, notes: Notes | None = None, with_image: bool = True
) -> ModelRequest:
    return window.compose(Step(number, observation=seen), notes or Notes(), notices, with_image=with_image)


def texts(request: ModelRequest) -> list[Text]:
    return [part for part in request.messages[0].parts if isinstance(part, Text)]


def pictures(request: ModelRequest) -> list[bytes]:
    return [part.data for part in request.messages[0].parts if isinstance(part, Image)]


def prompt_of(request: ModelRequest) -> str:
    """The whole text as a model gets it, the shape of the reply before all."""
    assert request.shape is not None
    return f"{request.shape.shown}{text_of(request)}"


def shared(before: str, now: str) -> float:
    """The share of a prompt that is what the prompt before began with, byte for byte."""
    same = next((at for at, (one, other) in enumerate(zip(before, now, strict=False)) if one != other), None)
    return (min(len(before), len(now)) if same is None else same) / len(now)
