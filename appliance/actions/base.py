"""What an action is: a name, its parameters, a function that does it, and the receipt it returns."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from pydantic import BaseModel, ConfigDict

from appliance.actions.gate import Gate
from appliance.actions.guard import OutputGuard
from appliance.actions.pressure import Pressure
from appliance.browser.connection import Browser
from appliance.browser.effects import Watch
from appliance.browser.matching import ElementKeys
from appliance.browser.observation import Screenshot
from appliance.captcha.purse import OpenPurse, Purse
from appliance.events import Charge, TokenCount
from appliance.models.base import Model
from appliance.pause import Pause
from appliance.sensitive import SensitiveData
from appliance.store.answers import AnswerStore
from appliance.store.evidence import Evidence
from appliance.store.links import Links
from appliance.words import Effort, ReceiptStatus
from appliance.workspaces.clipboard import Clipboard
from appliance.workspaces.files import Files
from appliance.workspaces.sandbox import Sandbox
from appliance.workspaces.scratchpad import Scratchpad
from appliance.workspaces.workspace import Workspace

if TYPE_CHECKING:
    from appliance.captcha.solving import Captchas


class Parameters(BaseModel):
    """Base of all parameter sets: unknown names are refused, values are immutable."""

    model_config = ConfigDict(extra="forbid", frozen=True, coerce_numbers_to_str=True)


P = TypeVar("P", bound=Parameters)


@dataclass(frozen=True)
class Receipt:
    """What really happened, measured.

    `text` is one line for the model and the feed. `lasting` is what history keeps of it (the text when None).
    `carried` is long text shown to the model in the next step only. `ends_chain` says that the rest of a chain
    must not run, since the page is no longer the one that was observed. `is_page_touched` says that an action which
    otherwise is desk work has done something to the browser. `charges` are for the calls to the model or to another
    service that the action made: the run, which counts them, fills them in. `targets` are the keys of the elements it
    was done to, taken right before.
    """

    status: ReceiptStatus
    text: str
    lasting: str | None = None
    carried: str | None = None
    ends_chain: bool = False
    is_page_touched: bool = False
    url: str = ""
    duration_ms: int = 0
    charges: tuple[Charge, ...] = ()
    targets: tuple[ElementKeys, ...] = ()


@dataclass(frozen=True)
class Checkpoint:
    """A result so far: the file it was saved to, and its value as JSON."""

    file_name: str
    value: Any


async def tell_nobody(code: str, text: str) -> None:
    """Say something to a feed that is not there."""


def afford_all(tokens: TokenCount) -> bool:  # noqa: ARG001
    """Say that there is time and money for another call to the model, where nobody counts them."""
    return True


async def keep_nothing(screenshot: Screenshot) -> str | None:
    """Keep a picture in a session that has no place for it."""


@dataclass
class ActionContext:
    """What actions work with during one run.

    `watch` is that of an action which a dialog interrupted: its effect is measured once the dialog is answered.
    `partial` is what is handed over should the run end without an answer. `captchas` has captchas solved, None without
    a service for it; `purse` is the run's money. `sensitive` are the secrets that input may
    fill in. `store` is the answer as far as it is filled in, None without a schema to fill. `mirrored` is
    how many of its writes its file shows. `gate` sees to it that it is complete, but for the turn in which only the
    answer is accepted (`is_delivery`). `evidence` is what was read so far, `links` what waits to be read, `pressure`
    what other sessions ask of the machine. `tell` puts a notice (code, sentence) into the feed; `affords` says whether
    a call to the model of about so many tokens leaves enough of the run's time and money for its answer;
    `keep_picture` stores one beside the screenshots of the steps and returns its name, None when it was not kept.
    `step` is the number of the present step, `screenshot` the name of its picture. `sandbox` is where
    scripts run, None on a machine that cannot have one. `pause` makes the run stand still, and its time. `files` are
    those that are read and written by name: in the `scratchpad`, and in the `workspace` of a session that has one.
    """

    browser: Browser
    scratchpad: Scratchpad
    model: Model
    task: str
    output_schema: dict[str, Any] | None = None
    effort: Effort | None = None
    watch: Watch | None = None
    partial: Checkpoint | None = None
    sensitive: SensitiveData = field(default_factory=SensitiveData)
    evidence: Evidence = field(default_factory=Evidence)
    links: Links = field(default_factory=Links)
    pressure: Pressure = field(default_factory=Pressure)
    store: AnswerStore | None = None
    mirrored: int = 0
    gate: Gate = field(default_factory=Gate)
    is_delivery: bool = False
    guard: OutputGuard = field(default_factory=OutputGuard)
    sandbox: Sandbox | None = None
    captchas: "Captchas | None" = None
    purse: Purse = field(default_factory=OpenPurse)
    tell: Callable[[str, str], Awaitable[None]] = tell_nobody
    affords: Callable[[TokenCount], bool] = afford_all
    keep_picture: Callable[[Screenshot], Awaitable[str | None]] = keep_nothing
    step: int = 0
    screenshot: str | None = None
    pause: Pause = field(default_factory=Pause)
    workspace: Workspace | None = None
    files: Files = field(init=False)
    clipboard: Clipboard = field(init=False)

    def __post_init__(self) -> None:
        """Open the session's files, its clipboard, which is one of them, and the answer that is to be filled in."""
        self.scratchpad.clean = self._clean
        self.files = Files(self.scratchpad, self.workspace)
        self.clipboard = Clipboard(self.scratchpad)
        if self.output_schema is not None and self.store is None:
            self.evidence.hear(self.task)
            self.store = AnswerStore.open(self.output_schema, self.evidence, self.links)

    def _clean(self, text: str) -> str:
        """Return a text as it may be written down, of whatever it was read."""
        return self.sensitive.redact(text)


@dataclass(frozen=True)
class Action(Generic[P]):
    """One thing the model may do; `description` is the sentence the model reads.

    `deadline` is in seconds. `touches_page` is False for actions that can be done while a dialog holds the page.
    `is_desk_work` is True for those that neither read nor change the browser (files, notes): after a step of nothing
    else the page need not be looked at again. `needs` says whether a run has what the action works with; without it
    the model is not told of the action.
    """

    name: str
    description: str
    parameters: type[P]
    run: Callable[[ActionContext, P], Awaitable[Receipt]]
    deadline: float = 30.0
    touches_page: bool = True
    is_desk_work: bool = False
    needs: Callable[[ActionContext], bool] | None = None
