"""The prompt window: what the model is shown in a step, laid out so that as much as possible is what it was before.

Order: rules, task and goal, the history before the page, the page in full, what happened since it was first shown,
and at the end what is true in this step alone. A page that only changed a little is told by its changes.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import date
from urllib.parse import urldefrag

from appliance.actions.registry import Registry
from appliance.actions.schema import reply_outline
from appliance.agent import prompt
from appliance.agent.archive import Archive
from appliance.agent.assignment import Assignment, EarlierTurn
from appliance.agent.compaction import ContextLimit
from appliance.agent.history import Block, History, TurnBlock
from appliance.agent.page_text import PageText, changes_since, cut, read_page
from appliance.agent.past import Files, Past, Shown
from appliance.agent.step import Step
from appliance.agent.turns import remind_of, tell_next
from appliance.browser.observation import Observation, Screenshot
from appliance.fences import fence
from appliance.models.base import Image, Message, ModelRequest, Purpose, ReplyShape, Scene, Text

MAX_PROMPT = 19_500
"""Characters a prompt is to have at most, the task's own length and what an action fetched not counted."""
MAX_PAGE = 7_000
MAX_READ_ONCE = 60_000
MAX_CHANGES = 1_800
CHANGED_SHARE = 0.35
REMINDER_EVERY = 10
PICTURES = 2

_ORDINARY_TASK = 1_000
_TAIL = 1_500
_ORDINARY_RULES = 9_450
_LEAST_PAGE = 3_000
_MIN_HISTORY, _MAX_HISTORY = 1_800, 6_000
_MIN_PAGE, _MIN_READ_ONCE = 1_000, 600
_SMALL_CHANGES = 700
_MAX_ANSWER = 600
_FILES_STEP = 500
_MIN_WHOLE, _MAX_WHOLE = 2_000, 16_000
_NO_LIMIT = 1_000_000
_WIDE = 100_000
_SHAPE_MEANING = "What you see, what you plan, and the actions to do now."
_REST_AS_BEFORE = "(the others as before)"
_CODE_MODE = "Code mode: nothing touched the page since, so it was not read again; every number still holds."


@dataclass(frozen=True)
class Notes:
    """The agent's own files as they are shown: a listing, and the plan in full; and what its answer has so far."""

    listing: str = ""
    todo: str = ""
    answer: str = ""


class Window:
    """Builds the request of each step from the rules, the task, the history so far and the present.

    With a `past` it goes on where that window was: what was said stays as it was, and the task follows it.
    """

    def __init__(
        self,
        assignment: Assignment,
        registry: Registry,
        today: date,
        *,
        archive: Archive | None = None,
        limit: ContextLimit | None = None,
        past: Past | None = None,
    ) -> None:
        self._assignment = assignment
        self._limit = limit or ContextLimit()
        self._ceiling = int(0.9 * self._limit.characters)
        answer = "filled" if registry.knows("set_field") else "text"
        self._system = prompt.system_prompt(
            registry.describe(),
            assignment.system_prompt_extension,
            answer=answer if assignment.output_schema is not None else None,
        )
        self._shape = ReplyShape("reply", _SHAPE_MEANING, registry.reply_schema(), reply_outline())
        self._task = prompt.task_block(assignment, today, self._limit.characters // 8)
        self._goal = ""
        self._today = today
        self._past = past
        self._turn: TurnBlock | None = None
        self._steps_before = past.steps if past else 0
        self._steps = 0
        self._history = past.history if past else History(archive)
        self._page = past.page if past else None
        self._latest = past.latest if past else None
        self._files = past.files if past else Files()
        self._carried: str | None = None
        self._last: tuple[tuple[str, str, str], ...] = ()
        self._is_whole = False
        self._last_size = 0

    def pin_goal(self, goal: str) -> None:
        """Let the goal stand under the task from the first request on."""
        self._goal = goal

    def remember(self, step: Step) -> None:
        """Add a finished step to the history, and keep what it fetched for the step that follows."""
        self._history.add_step(step, self._steps_before + step.number)
        self._steps = step.number
        self._carried = step.carried
        self._last = receipts_of(step)
        self._is_whole = False

    def compose(self, step: Step, notes: Notes, notices: tuple[str, ...], *, with_image: bool) -> ModelRequest:
        """Return the request that asks for this step, which has been observed; the notices stand at its end.

        It may be asked for again in the same step, for example after a compaction.
        """
        observation = step.observation
        assert observation is not None
        self._tell_task()
        notices = (*notices, *self._reminder(step.number))
        self._show_files(notes)
        changes = self._show_page(self._steps_before + step.number, observation, with_image=with_image)
        tail = [f"<page_changes>\n{fence(changes)}\n</page_changes>"] if changes is not None else []
        tail += [f"<answer>\n{fence(cut(notes.answer, _MAX_ANSWER))}\n</answer>"] if notes.answer else []
        tail += [f"<notice>\n{notice}\n</notice>" for notice in notices]
        with_pictures = with_image and not observation.is_stub
        parts = self._parts(with_pictures=with_pictures)
        used = self._size_around() + sum(len(part.text) for part in parts if isinstance(part, Text))
        room = min(self._limit.threshold, self._ceiling) - used - sum(map(len, tail))
        if self._carried:
            text = cut(self._carried, min(MAX_READ_ONCE, max(room, _MIN_READ_ONCE)))
            tail.insert(0, f"<read_once>\n{fence(text)}\n</read_once>")
        self._last_size = used + sum(map(len, tail))
        task = self._assignment
        return ModelRequest(
            purpose=Purpose.STEP,
            system=self._system,
            messages=(Message("user", (*parts, Text("\n".join(tail)))),),
            shape=self._shape,
            effort=task.effort,
            scene=Scene(
                task.task,
                task.output_schema,
                observation.url,
                step.number,
                self._carried,
                lines=observation.lines,
                last=self._last,
                max_steps=task.max_steps,
                only_done=step.limit is not None,
            ),
        )

    # ---- the task after the first ------------------------------------------------------------------------------

    def past(self, last: Step, answer: str) -> Past:
        """Return what the window has said by the end of the run, whose last step and answer may not be in it yet."""
        self._tell_task()
        if last.number > self._steps and last.plan is not None:
            self.remember(last)
        head = self._past.head if self._past else self._task_and_goal()
        turn = EarlierTurn(self._assignment.task, answer)
        steps = self._steps_before + self._steps
        return Past(head, self._history, self._page, self._latest, self._files, steps, turn, self._today)

    def _tell_task(self) -> None:
        """Add the task to the history, once, where others were given before it."""
        past = self._past
        if past is None or self._turn is not None:
            return
        today = self._today if self._today != past.day else None
        text = prompt.next_task_block(self._assignment, past.turn, self._goal, today, is_moved=past.is_moved)
        short = prompt.earlier_block(tell_next(past.turn.answer, self._assignment.task))
        self._turn = TurnBlock(text=text, short=short, first=past.steps, last=past.steps)
        self._history.add_turn(self._turn)

    # ---- compaction ---------------------------------------------------------------------------------------------

    @property
    def older_steps(self) -> int:
        """How many steps stand before the last two, those of an earlier summary not counted."""
        return max(0, len(self._history.steps) - 2) + self._history.left_out

    @property
    def size(self) -> int:
        """The characters of the last request."""
        return self._last_size

    def older_text(self) -> str:
        """Return the task, the goal and everything before the last two steps, as far as it is still at hand."""
        history = self._history
        checkpoints = [block.text for block in history.blocks if block.kind == "checkpoint"]
        told = [(step.first, 0, f"Step {step.first}\n{fence(step.whole)}") for step in history.dropped]
        told += [(step.first, 0, f"Step {step.first}\n{fence(step.whole)}") for step in history.steps[:-2]]
        told += [(turn.first, 1, turn.text) for turn in history.turns]
        return "\n".join([self._task_and_goal(), *checkpoints, *(text for _, _, text in sorted(told))])

    def put_checkpoint(self, summary: str | None) -> None:
        """Replace everything before the last two steps by the summary, None for a marker that it is left out."""
        self._history.put_checkpoint(summary, min(_MAX_WHOLE, max(_MIN_WHOLE, self._limit.threshold // 4)))
        self._is_whole = True
        self._page = None

    def tighten(self) -> None:
        """Let the next request be clearly shorter than the last, whatever has to be cut."""
        self._ceiling = min(self._ceiling, int(0.6 * self._last_size))
        self._page = None

    # ---- the parts ----------------------------------------------------------------------------------------------

    def _task_and_goal(self) -> str:
        if self._past is not None:
            return self._past.head
        return f"{self._task}\nGOAL: {self._goal}\n" if self._goal else f"{self._task}\n"

    def _reminder(self, number: int) -> tuple[str, ...]:
        is_time = self._goal and number % REMINDER_EVERY == 0
        newest = (remind_of(self._assignment.task),) if self._past else ()
        return (*newest, *((prompt.goal_notice(self._goal),) if is_time else ()))

    def _show_files(self, notes: Notes) -> None:
        """Tell the agent's files again when they are others than those told last: what is new, or all of them."""
        now = Files(tuple(notes.listing.splitlines()), notes.todo)
        if now == self._files:
            return
        before, self._files = self._files, now
        self._history.files = now.block(now.lines, with_todo=True)
        new = tuple(line for line in now.lines if line not in before.lines)
        is_short = len(now.lines) >= len(before.lines) > 0 and 2 * len(new) < len(now.lines)
        told = (
            now.block((*new, _REST_AS_BEFORE), with_todo=now.todo != before.todo) if is_short else self._history.files
        )
        self._history.after.append(Block("files", told))

    def _show_page(self, number: int, observation: Observation, *, with_image: bool) -> str | None:
        """Return what is told of the page at the end: what changed, or None when it has just been shown in full."""
        if observation.is_stub and self._latest is not None:
            if self._page is None:
                self._place_page(number, self._latest)
            self._bound_history()
            return self._code_mode(observation)
        now = self._latest = read_page(observation, self.room_for_page())
        page = self._page
        changes: str | None = None
        if (
            page is not None
            and page.step != number
            and page.files == self._size_of_files()
            and _is_same_page(page.text.url, now.url)
        ):
            changes = changes_since(page.text, now, _most_changes(now.size))
        if page is None or (changes is None and page.step != number):
            self._place_page(number, now)
        elif changes is not None:
            page.changes = changes
            changes = changes or "Nothing has changed on it."
        self._bound_history()
        if with_image and observation.screenshot is not None and observation.url != "about:blank":
            self._show_picture(observation.screenshot)
        return changes

    def _code_mode(self, observation: Observation) -> str:
        facts = read_page(observation, 0).facts
        told = [_CODE_MODE, facts["url"], facts["title"], facts["tabs"], self._page.changes if self._page else ""]
        return "\n".join(filter(None, told))

    def _place_page(self, number: int, text: PageText) -> None:
        """Show the page in full at the end of the history, which from now on stays as it is."""
        if self._page is not None:
            self._history.keep_evidence(f"# The page as of step {self._page.step}\n{self._page.text.text}")
        self._page = Shown(text, f"<page>\n{fence(text.text)}\n</page>\n", number, self._size_of_files())
        if not self._is_whole:
            self._history.keep_pictures(0)
        room = _NO_LIMIT if self._is_whole else self._room_for_history()
        self._history.freeze(int(0.6 * room), int(0.4 * room))

    def _bound_history(self) -> None:
        if not self._is_whole:
            room = self._room_for_history()
            self._history.bound_after(room - self._history.size_before, room // 4)

    def _show_picture(self, picture: Screenshot) -> None:
        """Add the picture where it looks different from the newest one; only the newest few stay."""
        history = self._history
        shown = [block.picture for block in history.blocks if block.picture is not None]
        if shown and (shown[-1] is picture or shown[-1].looks_like(picture)):
            return
        history.after.append(Block("picture", "", picture=picture))
        history.keep_pictures(PICTURES if self._limit.characters >= _WIDE else 1)

    def _parts(self, *, with_pictures: bool) -> list[Text | Image]:
        page = self._page
        assert page is not None
        parts: list[Text | Image] = [Text(self._task_and_goal(), ends_prefix=True)]
        parts += _shown(self._history.before, with_pictures=with_pictures)
        parts.append(Text(page.block, ends_prefix=True))
        parts += _shown(self._history.after, with_pictures=with_pictures)
        last = max(place for place, part in enumerate(parts) if isinstance(part, Text))
        parts[last] = replace(parts[last], ends_prefix=True)
        return parts

    # ---- how much there is room for -----------------------------------------------------------------------------

    def _size_around(self) -> int:
        return len(self._system) + self._shape.size

    def room_for_page(self) -> int:
        """Return the characters that the lines of a page may take."""
        rest = self._size_around() + len(self._task_and_goal()) + self._history.size + _TAIL
        # What more rules take, and files, which may be told twice, the page gives: it has room for its changes, too.
        longer = max(0, self._size_around() - _ORDINARY_RULES) + self._size_of_files()
        most = max(_LEAST_PAGE, MAX_PAGE - int((1 + CHANGED_SHARE) * longer))
        return min(most, max(_MIN_PAGE, self._ceiling - rest))

    def _size_of_files(self) -> int:
        """Return the characters that files take from the page, in large steps, as the page is shown anew at each."""
        return len(self._history.files) // _FILES_STEP * _FILES_STEP

    def _room_for_history(self) -> int:
        """Return the characters that the history may take beside the page that is shown."""
        page = len(self._page.block) if self._page is not None else 0
        task = min(len(self._task_and_goal()), _ORDINARY_TASK)
        room = min(MAX_PROMPT, self._ceiling) - self._size_around() - task - page - _TAIL
        least = max(_MIN_HISTORY, self._history.size_of_checkpoint + _MIN_HISTORY // 2)
        return min(_MAX_HISTORY, max(least, room))


def corrected(request: ModelRequest, reply: str, correction: str) -> ModelRequest:
    """Return the request continued by a reply that could not be used and by what is wrong with it."""
    rejected = cut(reply, 4_000) or "(nothing)"
    turns = (Message("assistant", (Text(rejected),)), Message("user", (Text(correction),)))
    return replace(request, messages=(*request.messages, *turns))


def receipts_of(step: Step) -> tuple[tuple[str, str, str], ...]:
    """Return what a step did: of each action the name, the status and what its receipt says."""
    actions = step.plan.actions if step.plan is not None else ()
    return tuple(
        (action.call.name, receipt.status.value, receipt.text)
        for action, receipt in zip(actions, step.receipts, strict=False)
    )


def text_of(request: ModelRequest) -> str:
    """Return the exact text of a request, a picture standing as one word."""
    parts = [request.system]
    for message in request.messages:
        texts = [part.text if isinstance(part, Text) else "[picture]" for part in message.parts]
        parts.append(f"[{message.role}]\n" + "".join(texts))
    return "\n\n".join(parts)


def _shown(blocks: Sequence[Block], *, with_pictures: bool) -> Iterator[Text | Image]:
    for block in blocks:
        if block.picture is None:
            yield Text(block.text)
        elif with_pictures:
            yield Image(block.picture.data, block.picture.media_type)


def _is_same_page(one: str, other: str) -> bool:
    return urldefrag(one).url == urldefrag(other).url


def _most_changes(size: int) -> int:
    """Return how many characters of changes are still better than the whole page of that size again."""
    return min(MAX_CHANGES, max(int(CHANGED_SHARE * size), min(_SMALL_CHANGES, size)))
