"""The prompt window: what the model is shown in a step, laid out so that everything before the page only grows.

Order: rules, task, history in blocks that never change, then what is true in this step alone. The text of websites
stands in fences that the page itself cannot close.
"""

import json
from dataclasses import dataclass, replace
from datetime import date

from appliance.actions.base import Receipt
from appliance.actions.registry import Registry
from appliance.agent import prompt
from appliance.agent.assignment import Assignment
from appliance.agent.prompt import fence
from appliance.agent.step import PlannedAction, Step
from appliance.browser.observation import Observation
from appliance.models.base import Image, Message, ModelRequest, Purpose, ReplyShape, Scene, Text
from appliance.words import ReceiptStatus

MAX_HISTORY = 7_000
KEPT_HISTORY = 4_500
MAX_READ_ONCE = 60_000
MAX_PAGE = 30_000
_MAX_SENTENCE = 300
_MAX_RECEIPT = 400
_MAX_ARGUMENTS = 160
_MAX_TITLE = 120
_MAX_URL = 400
_MAX_TABS = 20
_MAX_TODO = 2_000
_MAX_LISTING = 1_000
_SHAPE_MEANING = "What you see, what you plan, and the actions to do now."


@dataclass(frozen=True)
class Notes:
    """The agent's own files as they are shown: a listing, and the plan in full."""

    listing: str = ""
    todo: str = ""


class Window:
    """Builds the request of each step from the rules, the task, the history so far and the present."""

    def __init__(self, assignment: Assignment, registry: Registry, today: date) -> None:
        self._assignment = assignment
        self._system = prompt.system_prompt(registry.describe(), assignment.system_prompt_extension)
        self._shape = ReplyShape("reply", _SHAPE_MEANING, registry.reply_schema())
        self._task = Text(f"{prompt.task_block(assignment, today)}\n<history>\n", ends_prefix=True)
        self._items: list[str] = []
        self._omitted = 0
        self._carried: str | None = None

    def remember(self, step: Step) -> None:
        """Add a finished step to the history, and keep what it fetched for the step that follows."""
        self._items.append(_history_item(step))
        self._carried = step.carried
        self._bound_history()

    def compose(self, step: Step, notes: Notes, notices: tuple[str, ...], *, with_image: bool) -> ModelRequest:
        """Return the request that asks for this step, which has been observed; the notices stand at its end."""
        observation = step.observation
        assert observation is not None
        history = [Text(text) for text in self._history_blocks()]
        if history:
            history[-1] = Text(history[-1].text, ends_prefix=True)
        present = Text("</history>\n" + "\n".join(self._present(observation, notes, notices)))
        picture = observation.screenshot
        images = (Image(picture.data, picture.media_type),) if picture is not None and with_image else ()
        task = self._assignment
        return ModelRequest(
            purpose=Purpose.STEP,
            system=self._system,
            messages=(Message("user", (self._task, *history, present, *images)),),
            shape=self._shape,
            effort=task.effort,
            scene=Scene(task.task, task.output_schema, observation.url, step.number, self._carried),
        )

    def _history_blocks(self) -> list[str]:
        if not self._omitted:
            return self._items
        marker = f"({self._omitted} steps are left out here)\n"
        return [self._items[0] + marker, *self._items[1:]]

    def _bound_history(self) -> None:
        """Keep the first and the newest steps. Many are left out at once, so that the prefix seldom changes."""
        if sum(map(len, self._items)) <= MAX_HISTORY:
            return
        first, rest = self._items[0], self._items[1:]
        room = KEPT_HISTORY - len(first)
        while len(rest) > 1 and sum(map(len, rest)) > room:
            rest.pop(0)
            self._omitted += 1
        self._items = [first, *rest]

    def _present(self, observation: Observation, notes: Notes, notices: tuple[str, ...]) -> list[str]:
        blocks: list[str] = []
        if self._carried:
            blocks.append(f"<read_once>\n{fence(_cut(self._carried, MAX_READ_ONCE))}\n</read_once>")
        if notes.listing:
            todo = f"\ntodo.md:\n{_cut(notes.todo, _MAX_TODO)}" if notes.todo else ""
            blocks.append(f"<files>\n{fence(_cut(notes.listing, _MAX_LISTING) + todo)}\n</files>")
        blocks.append(f"<page>\n{fence(_page_text(observation))}\n</page>")
        blocks.extend(f"<notice>\n{notice}\n</notice>" for notice in notices)
        return blocks


def corrected(request: ModelRequest, reply: str, correction: str) -> ModelRequest:
    """Return the request continued by a reply that could not be used and by what is wrong with it."""
    rejected = _cut(reply, 4_000) or "(nothing)"
    turns = (Message("assistant", (Text(rejected),)), Message("user", (Text(correction),)))
    return replace(request, messages=(*request.messages, *turns))


def text_of(request: ModelRequest) -> str:
    """Return the exact text of a request, a picture standing as one word."""
    parts = [request.system]
    for message in request.messages:
        texts = [part.text if isinstance(part, Text) else "[picture]" for part in message.parts]
        parts.append(f"[{message.role}]\n" + "".join(texts))
    return "\n\n".join(parts)


def _history_item(step: Step) -> str:
    lines = [f"Step {step.number}"]
    if step.plan is not None:
        named = (("saw", step.plan.see), ("plan", step.plan.plan), ("move", step.plan.move))
        lines += [f"{name}: {_one_line(sentence, _MAX_SENTENCE)}" for name, sentence in named if sentence]
        lines += [_receipt_line(*pair) for pair in zip(step.plan.actions, step.receipts, strict=False)]
    if step.trouble:
        lines.append(f"trouble: {_one_line(step.trouble, _MAX_RECEIPT)}")
    return fence("\n".join(lines)) + "\n"


def _receipt_line(action: PlannedAction, receipt: Receipt) -> str:
    if receipt.status is ReceiptStatus.SKIPPED:
        return f"- {action.call.name}: skipped"
    arguments = json.dumps(action.call.arguments, ensure_ascii=False)
    result = _one_line(receipt.lasting or receipt.text, _MAX_RECEIPT)
    return f"- {action.call.name} {_one_line(arguments, _MAX_ARGUMENTS)}: {receipt.status}. {result}"


def _page_text(observation: Observation) -> str:
    lines = [f"URL: {_one_line(observation.url, _MAX_URL)}", f"Title: {_one_line(observation.title, _MAX_TITLE)}"]
    if len(observation.tabs) > 1:
        lines.append("Tabs:")
        for tab in observation.tabs[:_MAX_TABS]:
            mark = " (current)" if tab.is_current else ""
            lines.append(f"{tab.tab_id}{mark} {_one_line(tab.title, _MAX_TITLE)} {_one_line(tab.url, _MAX_TITLE)}")
    lines += [f"Note: {note}" for note in observation.notes]
    scroll = observation.scroll
    lines.append(f"({scroll.above} px above)" if scroll.above else "(top of the page)")
    lines.append(_cut_lines(observation.lines))
    lines.append(f"({scroll.below} px below)" if scroll.below else "(end of the page)")
    return "\n".join(lines)


def _cut_lines(lines: tuple[str, ...]) -> str:
    """Return the lines as far as they fit, saying how many do not."""
    room = MAX_PAGE
    for count, line in enumerate(lines):
        room -= len(line) + 1
        if room < 0:
            shown = "\n".join(lines[:count])
            return f"{shown}\n({len(lines) - count} more lines are not shown; use search_page, find_text or scroll)"
    return "\n".join(lines)


def _one_line(text: str, limit: int) -> str:
    return _cut(" ".join(text.split()), limit)


def _cut(text: str, limit: int) -> str:
    return text if len(text) <= limit else f"{text[: limit - 1]}…"
