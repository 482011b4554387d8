"""The model without a model: opens the task's first address and hands in what the page says; costs nothing.

It plans from the typed scene of a request, answers in the same JSON as any other model, and says what it cannot do.
"""

import json
import re
from typing import Any, cast
from urllib.parse import urlsplit

from appliance.content import Content
from appliance.errors import RunFailed
from appliance.events import TokenCount
from appliance.models.base import ModelRequest, OnText, Purpose, Reply, Scene
from appliance.store.drafting import draft_object
from appliance.store.links import Links
from appliance.store.pages import PageRead
from appliance.store.schema import AnswerSchema, FieldShape
from appliance.words import Effort, FailureKind

LONGEST_TEXT = 100_000
"""Characters of a page that are handed in; what is beyond is cut, and that is said."""

_ADDRESS = re.compile(
    r"https?://[^\s<>\"'`]+|(?<![\w@/.-])(?:[a-z0-9-]+\.)+[a-z]{2,}(?::\d+)?(?:/[^\s<>\"'`]*)?", re.IGNORECASE
)
_FILE_ENDINGS = (".md", ".txt", ".py", ".js", ".json", ".csv", ".pdf", ".doc", ".docx", ".xls", ".xlsx", ".png", ".jpg")
_CLOSING = {")": "(", "]": "[", "}": "{"}
_PATIENCE = 3
"""Steps within which the page must have been read."""

_PLAN = "Autopilot has no language model: it opens the task's first address and hands in what that page says."
_CHOOSE = "set a provider key and choose a model for it"


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
        """Return the reply; raises RunFailed when the page does not state what the output schema demands."""
        scene = request.scene
        if scene is None:
            raise RunFailed(f"Autopilot can only work on pages; {_CHOOSE}.", failure=FailureKind.AGENT_FAILURE)
        if request.purpose is Purpose.EXTRACT:
            text = extract(scene)
        else:
            text = json.dumps(self._planner.plan(scene), ensure_ascii=False)
        if on_text is not None:
            await on_text(text)
        return Reply(text, TokenCount(), self.name, is_of_scene=True)

    async def close(self) -> None:
        """Nothing is held."""


class _Planner:
    """Decides the next step of a task; remembers only how often it was asked about it."""

    def __init__(self) -> None:
        self._task = ""
        self._asked = 0

    def plan(self, scene: Scene) -> dict[str, Any]:
        """Return the next step as a reply of design 2.4; raises RunFailed when the answer cannot be given."""
        self._asked = self._asked + 1 if scene.task == self._task else 1
        self._task = scene.task
        reply = self._choose(scene)
        if "done" in reply["action"][0]:
            self._task = ""
        return reply

    def _choose(self, scene: Scene) -> dict[str, Any]:
        address = find_address(scene.task)
        if address is None:
            return _give_up(scene, "The task names no web address", f"Name the page in the task, or {_CHOOSE}")
        if refused := _explain_refusal(scene):
            return _give_up(scene, *refused)
        if scene.carried is not None:
            return _hand_in(scene)
        shown = scene.url or "an empty tab"
        if self._asked == 1 and not is_same_page(scene.url, address):
            return _reply(f"The tab shows {shown}.", f"Open {address}.", {"navigate": {"url": address}})
        if not scene.url.startswith(("http://", "https://")) or self._asked > _PATIENCE:
            return _give_up(scene, f"{address} could not be read", "The steps before say why")
        return _reply(f"The tab shows {shown}.", "Read the page.", {"extract": {"query": scene.task[:2_000]}})


def extract(scene: Scene) -> str:
    """Return what the page says: Markdown, or the JSON of the schema's plain fields."""
    content = scene.content or Content(scene.url, "", "")
    if scene.output_schema is None:
        return _as_markdown(content)
    schema = AnswerSchema.read(scene.output_schema)
    rows = draft_object(schema, [PageRead(content.url, content)], Links())
    filled = {name: value for row in rows for name, value in row.items() if name != "_page"}
    nulls = {shape.name: None for shape in schema.fields if shape.is_nullable}
    return json.dumps({**nulls, **filled}, ensure_ascii=False)


def find_address(task: str) -> str | None:
    """Return the first web address in the task, with https:// put before a bare host name; None without any."""
    for match in _ADDRESS.finditer(task):
        address = _without_tail(match[0])
        if "://" in address:
            return address
        if not address.lower().endswith(_FILE_ENDINGS):
            return f"https://{address}"
    return None


def is_same_page(url: str, address: str) -> bool:
    """Say whether both name the same page; the fragment and a slash at the end do not count."""
    one, other = (urlsplit(text) for text in (url, address))
    same_place = (one.scheme, one.netloc.lower(), one.query) == (other.scheme, other.netloc.lower(), other.query)
    return same_place and one.path.rstrip("/") == other.path.rstrip("/")


def _without_tail(address: str) -> str:
    """Drop the punctuation of the sentence around an address, but keep brackets that it opens itself."""
    while address:
        last = address[-1]
        if last in ".,;:!?…”’»*_" or (last in _CLOSING and address.count(last) > address.count(_CLOSING[last])):
            address = address[:-1]
        else:
            break
    return address


def _hand_in(scene: Scene) -> dict[str, Any]:
    text = scene.carried or ""
    if scene.output_schema is None:
        return _reply("The page has been read.", "Hand in what it says.", {"done": {"text": text, "success": True}})
    filled = _read_object(text)
    shapes = AnswerSchema.read(scene.output_schema).fields
    missing = [shape.name for shape in shapes if shape.is_required and shape.name not in filled]
    if missing:
        named = ", ".join(missing)
        return _give_up(scene, f"{scene.url} does not plainly state {named}", f"To have it searched for, {_CHOOSE}")
    answer = json.dumps(filled, ensure_ascii=False)
    return _reply("The page has been read.", "Hand in what it states.", {"done": {"text": answer, "success": True}})


def _explain_refusal(scene: Scene) -> tuple[str, str] | None:
    if scene.output_schema is None:
        return None
    fields = AnswerSchema.read(scene.output_schema).fields
    hard = [field.name for field in fields if field.is_required and not _is_plain(field) and not field.is_nullable]
    if fields and not hard:
        return None
    named = f": {', '.join(hard)} cannot be filled" if hard else ""
    return f"Autopilot fills only plain fields of an object{named}", f"For any other schema, {_CHOOSE}"


def _is_plain(shape: FieldShape) -> bool:
    return "array" not in shape.kinds and "object" not in shape.kinds


def _give_up(scene: Scene, why: str, remedy: str) -> dict[str, Any]:
    """Hand in the reason as text; where a schema leaves no place for one, the run fails with it."""
    sentence = f"{why}. {remedy}."
    if scene.output_schema is not None:
        raise RunFailed(sentence, failure=FailureKind.AGENT_FAILURE)
    return _reply(f"{why}.", "End the run.", {"done": {"text": sentence, "success": False}})


def _reply(see: str, move: str, action: dict[str, Any]) -> dict[str, Any]:
    return {"what_i_see": see, "plan_to_goal": _PLAN, "next_move": move, "action": [action]}


def _as_markdown(content: Content) -> str:
    body = content.markdown.strip()
    title = " ".join(content.title.split()) or content.url
    text = body if body.startswith(f"# {title}\n") else f"# {title}\n\n{body}"
    if len(text) <= LONGEST_TEXT:
        return text
    return f"{text[:LONGEST_TEXT]}\n\n(Cut here: the page has {len(text):,} characters.)"


def _read_object(text: str) -> dict[str, Any]:
    """Return the first JSON object in the text, an empty one without any."""
    start = text.find("{")
    try:
        value: Any = json.JSONDecoder().raw_decode(text[start:])[0] if start >= 0 else None
    except json.JSONDecodeError:
        return {}
    return cast("dict[str, Any]", value) if isinstance(value, dict) else {}
