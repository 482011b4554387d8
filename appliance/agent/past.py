"""What a prompt window has said so far, as the window of a later run of the same talk takes it over."""

from dataclasses import dataclass
from datetime import date

from appliance.agent import prompt
from appliance.agent.archive import Archive
from appliance.agent.assignment import EarlierTurn
from appliance.agent.history import History
from appliance.agent.page_text import PageText, cut
from appliance.agent.turns import tell_earlier
from appliance.fences import fence

_MAX_TODO = 1_400
_MAX_LISTING = 600
_TOLD_STEPS = 6


@dataclass
class Shown:
    """The page as it stands in full in the prompt, beside files of a size, and what has changed since at last."""

    text: PageText
    block: str
    step: int
    files: int
    changes: str = ""


@dataclass(frozen=True)
class Files:
    """The agent's files as they were told."""

    lines: tuple[str, ...] = ()
    todo: str = ""

    def block(self, lines: tuple[str, ...], *, with_todo: bool) -> str:
        """Return the block that tells these lines."""
        listing = cut("\n".join(lines) or "(none)", _MAX_LISTING)
        todo = f"\ntodo.md:\n{cut(self.todo, _MAX_TODO)}" if self.todo and with_todo else ""
        return f"<files>\n{fence(listing + todo)}\n</files>\n"


@dataclass(frozen=True)
class Past:
    """What a window has said by the end of a run: task and goal of the first, the history since, the page shown last.

    `steps` is how many there were by then, `turn` the task that has ended with what came of it, `day` its date.
    `is_moved` says that its browser is gone and there is another one.
    """

    head: str
    history: History
    page: Shown | None
    latest: PageText | None
    files: Files
    steps: int
    turn: EarlierTurn
    day: date
    is_moved: bool = False

    @property
    def archive(self) -> Archive | None:
        """Where that goes which leaves the prompt."""
        return self.history.archive

    @property
    def told(self) -> tuple[str, ...]:
        """The newest steps and what came of them, for whoever is to judge what follows from them."""
        steps = [step.full for step in self.history.steps[-_TOLD_STEPS:]]
        return (*steps, prompt.earlier_block(tell_earlier((self.turn,))))
