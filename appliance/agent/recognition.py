"""Asks the model which element of a page is the one that a recorded action was done to, where its keys do not tell."""

from pydantic import BaseModel, ConfigDict, ValidationError

from appliance.agent import prompt
from appliance.agent.page_text import cut
from appliance.agent.replay_plan import Intent
from appliance.browser.matching import ElementKeys
from appliance.browser.observation import Observation
from appliance.errors import ContextOverflow, RunFailed
from appliance.fences import fence
from appliance.models.base import Message, Model, ModelRequest, Purpose, ReplyShape, Text
from appliance.words import Effort

SECONDS = 60.0
_MAX_PAGE = 60_000
_SHAPE = ReplyShape(
    "element",
    "Which element it is.",
    {
        "type": "object",
        "properties": {"index": {"type": ["integer", "null"]}, "why": {"type": "string"}},
        "required": ["index", "why"],
        "additionalProperties": False,
    },
)


class _Answer(BaseModel):
    model_config = ConfigDict(extra="ignore")

    index: int | None


async def recognise(
    model: Model, intent: Intent, keys: ElementKeys, seen: Observation, *, move: str, effort: Effort | None
) -> int | None:
    """Return the number of the element that was meant, None when the model knows none or cannot be asked.

    `move` is what the agent said of the step then. Raises MoneySpent and BrowserLost only.
    """
    told = {
        "action": f"{intent.call.name} on {fence(keys.words)}",
        "move": fence(move),
        "element": fence(f"tag {keys.tag}, attributes {keys.attributes}, near: {cut(keys.near, 500)}"),
        "page": fence(cut("\n".join((seen.url, *seen.lines)), _MAX_PAGE)),
    }
    text = "\n".join(f"<{name}>\n{part}\n</{name}>" for name, part in told.items() if part)
    request = ModelRequest(
        purpose=Purpose.EXTRACT,
        system=prompt.recognition_rules(),
        messages=(Message("user", (Text(text),)),),
        shape=_SHAPE,
        effort=effort,
        timeout=SECONDS * model.slowness(effort),
    )
    try:
        reply = await model.ask(request)
        return _Answer.model_validate_json(reply.text).index
    except (RunFailed, ContextOverflow, ValidationError):
        return None
