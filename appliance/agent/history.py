"""The part of the prompt that only grows: finished steps in their order, with what was shown in between.

Steps have three lengths. What gets shorter or is left out goes to the evidence archive first.
"""

import json
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

from appliance.actions.base import Receipt
from appliance.agent import prompt
from appliance.agent.archive import Archive
from appliance.agent.page_text import cut, one_line
from appliance.agent.step import PlannedAction, Step
from appliance.agent.turns import MAX_TURNS
from appliance.browser.observation import Screenshot
from appliance.fences import fence
from appliance.words import ReceiptStatus

_MAX_SENTENCE = 240
_MAX_RECEIPTS = 1_500
_MIN_RECEIPT = 120
_MAX_ARGUMENTS = 160
_MAX_WHOLE = 8_000
_MAX_IN_LINE = 90
_LEAST_OLDER = 1_000
_MAX_DROPPED = 40


Kind = Literal["step", "files", "picture", "checkpoint", "left_out", "turn"]


@dataclass(eq=False)
class Block:
    """A piece of the history as it is sent; `first` and `last` are the numbers of the steps it is about."""

    kind: Kind
    text: str
    first: int = 0
    last: int = 0
    picture: Screenshot | None = None


@dataclass(eq=False)
class StepBlock(Block):
    """A finished step: `text` is one of the other three, `carried` long texts that its actions fetched.

    These are held while the step is one of the last two.
    """

    kind: Kind = "step"
    text: str = ""
    line: str = ""
    full: str = ""
    whole: str = ""
    carried: str = ""
    is_archived: bool = False
    is_carried_archived: bool = False


@dataclass(eq=False)
class TurnBlock(Block):
    """The next task of a talk that goes on, given after the step `first`; `short` is told once others followed it."""

    kind: Kind = "turn"
    text: str = ""
    short: str = ""


@dataclass
class History:
    """The blocks before the page that is shown, which stay as they are while it is, and those after it.

    `files` is the whole text about the agent's files as of now, which blocks of that kind may tell in part;
    `dropped` are the newest steps that were left out, for the summary that may still be made of them.
    """

    archive: Archive | None = None
    files: str = ""
    dropped: deque[StepBlock] = field(default_factory=lambda: deque[StepBlock](maxlen=_MAX_DROPPED))
    before: list[Block] = field(default_factory=list[Block])
    after: list[Block] = field(default_factory=list[Block])

    @property
    def blocks(self) -> list[Block]:
        """All blocks in their order."""
        return [*self.before, *self.after]

    @property
    def size(self) -> int:
        """Characters of all blocks."""
        return _size(self.blocks)

    @property
    def size_before(self) -> int:
        """Characters of what stands before the page, those of tasks not counted."""
        return _bounded_size(self.before)

    @property
    def size_of_checkpoint(self) -> int:
        """Characters of the summary of earlier steps, 0 without one."""
        return _size([block for block in self.blocks if block.kind == "checkpoint"])

    @property
    def steps(self) -> list[StepBlock]:
        """The steps that are still told one by one, oldest first."""
        return [block for block in self.blocks if isinstance(block, StepBlock)]

    @property
    def turns(self) -> list[TurnBlock]:
        """The tasks that were given after the first one, as far as they are still told, oldest first."""
        return [block for block in self.blocks if isinstance(block, TurnBlock)]

    @property
    def left_out(self) -> int:
        """How many steps are left out by now, those of a checkpoint not counted."""
        return sum(block.last - block.first + 1 for block in self.blocks if block.kind == "left_out")

    def add_turn(self, turn: TurnBlock) -> None:
        """Add a task; the earlier ones are told in short where they have become too long."""
        self.after.append(turn)
        if _size(self.turns[:-1]) > 2 * MAX_TURNS:
            self._shorten_turns()

    def add_step(self, step: Step, number: int) -> None:
        """Add a finished step, by its number in the talk.

        The long texts of the step before it are no longer shown and go to the archive.
        """
        steps = self.steps
        for block in steps[-1:]:
            self._archive_carried(block)
        for block in steps[:-1]:
            block.carried = ""
        text = full_text(step, number)
        self.after.append(
            StepBlock(
                text=text,
                first=number,
                last=number,
                line=line_text(step, number),
                full=text,
                whole=whole_text(step),
                carried=_worth_keeping(step),
            )
        )

    def freeze(self, room: int, kept: int) -> None:
        """Make everything one stretch, since another page is shown; bring it down to `kept` when `room` is exceeded."""
        self.before = self._with_files_at_the_end(self.blocks)
        self.after = []
        if _bounded_size(self.before) > room:
            self.before = self._shortened(self.before, kept, keeps_first=True)

    def keep_pictures(self, count: int) -> None:
        """Let only the newest pictures stay."""
        shown = [block for block in self.blocks if block.picture is not None]
        gone = shown[: max(0, len(shown) - count)]
        self.before = [block for block in self.before if block not in gone]
        self.after = [block for block in self.after if block not in gone]

    def bound_after(self, room: int, kept: int) -> None:
        """Bring what stands after the page down to `kept` characters when it has more than `room`."""
        if _bounded_size(self.after) > room:
            is_first = not any(isinstance(block, StepBlock) for block in self.before)
            self.after = self._shortened(self.after, kept, keeps_first=is_first)

    def put_checkpoint(self, summary: str | None, room: int) -> None:
        """Replace all but the last two steps by a summary, None to leave them out.

        These two are told whole until something is shortened, each in up to half of `room` characters.
        """
        newest = self.steps[-2:]
        self.dropped.clear()
        self._shorten_turns()
        told = [block for block in self.blocks if block.kind in ("step", "checkpoint", "left_out")]
        older = [block for block in told if block not in newest]
        for block in older:
            if isinstance(block, StepBlock):
                self._keep_evidence(block)
        for block in newest:
            carried = f"\n{block.carried}" if block.carried and block is not newest[-1] else ""
            block.text = _wrap(block.first, cut(block.whole + carried, max(room // 2, len(block.full))))
        earlier = [block for block in older if block.kind == "checkpoint"]
        rest = [block for block in older if block.kind != "checkpoint"]
        if summary is not None:
            first, last = min(block.first for block in older), max(block.last for block in older)
            text = prompt.checkpoint_block(summary, first, last, self.archive.names if self.archive else "")
            head = [Block("checkpoint", text, first, last)]
        else:
            head = [*earlier, *([self._gap(rest[0].first, rest[-1].last)] if rest else [])]
        pictures = [block for block in self.blocks if block.picture is not None]
        in_order = sorted((*head, *newest, *self.turns), key=lambda block: (block.first, block.kind == "turn"))
        self.before, self.after = self._with_files_at_the_end([*in_order, *pictures]), []

    def keep_evidence(self, text: str) -> None:
        """Put something that leaves the prompt into the archive."""
        if self.archive is not None:
            self.archive.keep(text)

    def _shortened(self, blocks: list[Block], room: int, *, keeps_first: bool) -> list[Block]:
        """Return the blocks within `room`, as far as that goes with the first and the newest step kept."""
        self._shorten_turns()
        kept = self._with_files_at_the_end(_still_told(blocks))
        steps = [block for block in kept if isinstance(block, StepBlock)]
        for block in steps:
            block.text = block.full if block.text != block.line else block.line
        fixed = _size([*(block for block in kept if block.kind in ("checkpoint", "files")), *steps[-1:]])
        room = max(room, fixed + _LEAST_OLDER)
        for block in steps[:-1]:
            if _bounded_size(kept) <= room:
                return kept
            self._keep_evidence(block)
            block.text = block.line
        return self._left_out(kept, steps[1 if keeps_first else 0 : -1], room)

    def _left_out(self, kept: list[Block], candidates: list[StepBlock], room: int) -> list[Block]:
        """Leave out the oldest of the candidates; where steps are missing, now or before, one line says which."""
        gone: list[Block] = []
        size = _bounded_size(kept)
        for block in candidates:
            if size <= room:
                break
            gone.append(block)
            self.dropped.append(block)
            size -= len(block.text)
        told: list[Block] = []
        gap: int | None = None
        for block in kept:
            if block in gone or block.kind == "left_out":
                if gap is None:
                    gap = len(told)
                    told.append(block)
                told[gap] = self._gap(told[gap].first, block.last)
            else:
                told.append(block)
                gap = None if block.kind in ("step", "checkpoint", "turn") else gap
        return told

    def _with_files_at_the_end(self, blocks: Sequence[Block]) -> list[Block]:
        """Return the blocks with what was told of files in one, at the end where it is not told as a whole already."""
        told = [block for block in blocks if block.kind == "files"]
        if [block.text for block in told] == [self.files]:
            return list(blocks)
        rest = [block for block in blocks if block.kind != "files"]
        return [*rest, Block("files", self.files)] if self.files else rest

    def _gap(self, first: int, last: int) -> Block:
        names = self.archive.names if self.archive is not None else ""
        where = f"; read_file has them in full: {names}" if names else ""
        count = "Step" if first == last else "Steps"
        number = str(first) if first == last else f"{first}-{last}"
        return Block("left_out", f"({count} {number} left out here{where}.)\n", first, last)

    def _shorten_turns(self) -> None:
        """Tell of the tasks before the present one in short, and of those that are too many not any more."""
        room = MAX_TURNS
        for turn in reversed(self.turns[:-1]):
            if turn.text != turn.short:
                self.keep_evidence(f"# The task after step {turn.first}\n{turn.text}")
            room -= len(turn.short)
            turn.text = turn.short if room >= 0 else ""
        self.before, self.after = _still_told(self.before), _still_told(self.after)

    def _keep_evidence(self, block: StepBlock) -> None:
        if not block.is_archived:
            self.keep_evidence(f"# Step {block.first}\n{block.whole}")
            block.is_archived = True
        self._archive_carried(block)

    def _archive_carried(self, block: StepBlock) -> None:
        if block.carried and not block.is_carried_archived:
            self.keep_evidence(f"# What step {block.first} fetched\n{block.carried}")
            block.is_carried_archived = True


def full_text(step: Step, number: int | None = None) -> str:
    """Return a step as it is told while it is among the newest, under another number than its own if one is given."""
    lines: list[str] = []
    if step.plan is not None:
        named = (("saw", step.plan.see), ("plan", step.plan.plan), ("move", step.plan.move))
        lines += [f"{name}: {one_line(sentence, _MAX_SENTENCE)}" for name, sentence in named if sentence]
        room = max(_MIN_RECEIPT, _MAX_RECEIPTS // max(len(step.receipts), 1))
        lines += [_receipt_line(*pair, room) for pair in zip(step.plan.actions, step.receipts, strict=False)]
        if step.plan.left_out:
            lines.append(f"- {step.plan.left_out} more: not done, a step takes eight actions at most")
    if step.trouble:
        lines.append(f"trouble: {one_line(step.trouble, _MAX_SENTENCE)}")
    return _wrap(number or step.number, "\n".join(lines))


def line_text(step: Step, number: int) -> str:
    """Return a step in one line: what was seen, and how each action ended."""
    if step.plan is None:
        return _wrap(number, one_line(step.trouble or "nothing was done", _MAX_IN_LINE), "")
    done = ", ".join(
        f"{action.call.name} {receipt.status}"
        for action, receipt in zip(step.plan.actions, step.receipts, strict=False)
        if receipt.status is not ReceiptStatus.SKIPPED
    )
    said = f"{one_line(step.plan.see, _MAX_IN_LINE)} {one_line(step.plan.move, _MAX_IN_LINE)} ({done})"
    return _wrap(number, said, "")


def whole_text(step: Step) -> str:
    """Return a step as the archive has it: where it was, the reply and every receipt uncut."""
    lines: list[str] = []
    if step.observation is not None:
        lines.append(f"on {step.observation.url} ({one_line(step.observation.title, _MAX_SENTENCE)})")
    if step.plan is not None:
        lines += [f"saw: {step.plan.see}", f"plan: {step.plan.plan}", f"move: {step.plan.move}"]
        for action, receipt in zip(step.plan.actions, step.receipts, strict=False):
            said = receipt.text if receipt.lasting in (None, receipt.text) else f"{receipt.text} {receipt.lasting}"
            lines.append(f"- {action.call.name} {_arguments(action)}: {receipt.status}. {said}")
    if step.trouble:
        lines.append(f"trouble: {step.trouble}")
    # What has several lines is set in, so that none of them passes for a receipt.
    lines = ["\n  ".join(line.splitlines()) for line in lines]
    return cut("\n".join(lines), _MAX_WHOLE)


def _receipt_line(action: PlannedAction, receipt: Receipt, room: int) -> str:
    if receipt.status is ReceiptStatus.SKIPPED:
        return f"- {action.call.name}: skipped. {one_line(receipt.text, room)}"
    result = one_line(receipt.lasting or receipt.text, room)
    return f"- {action.call.name} {one_line(_arguments(action), _MAX_ARGUMENTS)}: {receipt.status}. {result}"


def _arguments(action: PlannedAction) -> str:
    return json.dumps(action.call.arguments, ensure_ascii=False, separators=(",", ":"))


def _worth_keeping(step: Step) -> str:
    """Return the long texts that are in no file yet."""
    if step.plan is None:
        return ""
    pairs = zip(step.plan.actions, step.receipts, strict=False)
    return "\n\n".join(
        receipt.carried for action, receipt in pairs if receipt.carried and action.call.name != "read_file"
    )


def _wrap(number: int, text: str, gap: str = "\n") -> str:
    return f"<step {number}>{gap}{fence(text)}{gap}</step>\n"


def _size(blocks: Sequence[Block]) -> int:
    return sum(len(block.text) for block in blocks)


def _still_told(blocks: Sequence[Block]) -> list[Block]:
    return [block for block in blocks if block.text or block.kind != "turn"]


def _bounded_size(blocks: Sequence[Block]) -> int:
    """Return the characters that may become fewer; tasks are bounded by themselves."""
    return _size([block for block in blocks if block.kind != "turn"])
