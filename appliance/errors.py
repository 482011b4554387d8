"""Every error the product raises on purpose, in one tree.

PilothouseError
├── SettingsInvalid            a setting cannot be used; the process does not start
├── RequestRefused             becomes an HTTP answer
│   ├── RequestInvalid (422)   ├── NotAuthenticated (401)  ├── NotAllowed (403)
│   ├── NotFound (404)         ├── Conflict (409)          ├── CapReached (402)
│   └── TooManyRequests (429)
├── SchemaUnusable             the document that says what an answer is like cannot be used
├── MachineFault               a process of ours did not do its part
│   ├── DisplayUnavailable     ├── BrowserUnavailable   └── DatabaseUnavailable
├── ActionFailed               goes back to the model as a receipt
│   ├── ElementGone            ├── ActionRefused (policy)  ├── ActionInvalid (parameters)
│   ├── CaptchaIncomplete      ├── SolverFailed           └── AnswerRefused (what an answer may hold)
├── BrowserLost                the browser or the tab's renderer went away
├── CaptureFailed              what a browser keeps of the sites could not be taken from it
├── ReplyMalformed             the model's reply cannot be used; it is asked again
├── ContextOverflow            the request is longer than the model's window; it is compacted and sent again
└── RunEnding                  ends the loop, carrying how and why
    ├── RunDone                ├── RunStopped              ├── RunTimedOut
    ├── StepsSpent             ├── MoneySpent              ├── RunFailed
    └── RunInterrupted

Each message is one sentence that says what happened and what to do.
"""

from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Any

from appliance.words import CapScope, Ending, FailureKind, Period


class PilothouseError(Exception):
    """Root of the tree; `message` is fit for a person and free of secrets."""

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.message = message


class SettingsInvalid(PilothouseError):
    """A setting has a value that cannot be used."""


class RequestRefused(PilothouseError):
    """A request that is answered with an error of the given HTTP status."""

    status_code = 400


class RequestInvalid(RequestRefused):
    """A field of the request is wrong; `location` is its path, for example ("body", "model")."""

    status_code = 422

    def __init__(self, message: str, *location: str) -> None:
        super().__init__(message)
        self.location = location


class NotAuthenticated(RequestRefused):
    """No key or cookie, or one that is not known."""

    status_code = 401


class NotAllowed(RequestRefused):
    """The caller is known but may not do this."""

    status_code = 403


class NotFound(RequestRefused):
    """There is no such thing, or it belongs to somebody else."""

    status_code = 404


class Conflict(RequestRefused):
    """The thing is in a state in which this cannot be done."""

    status_code = 409


@dataclass(frozen=True)
class SpentCap:
    """A spending cap that is used up: the US dollars it allows and those that are spent, None for who must not know.

    `remedy` is a sentence that says what to do; `resets_at` is None for a cap that never begins anew.
    """

    scope: CapScope
    period: Period
    cap: Decimal
    spent: Decimal | None
    resets_at: datetime | None
    remedy: str


class CapReached(RequestRefused):
    """A spending cap is used up, `reached`."""

    status_code = 402

    def __init__(self, message: str, reached: SpentCap) -> None:
        super().__init__(message)
        self.reached = reached


class StorageFull(RequestRefused):
    """There is no room for a file, in its workspace or on the disk."""

    status_code = 507


class TooManyRequests(RequestRefused):
    """The caller has to wait; `retry_after` in seconds."""

    status_code = 429

    def __init__(self, message: str, retry_after: int) -> None:
        super().__init__(message)
        self.retry_after = retry_after


class SchemaUnusable(PilothouseError):
    """A JSON Schema cannot be used for an answer; the message is the reason, half a sentence."""


class MachineFault(PilothouseError):
    """A process that a run needs did not start or did not stay."""


class DisplayUnavailable(MachineFault):
    """The X server or the view of a slot could not be had."""


class BrowserUnavailable(MachineFault):
    """Chromium could not be started or attached."""


class DatabaseUnavailable(MachineFault):
    """The database cannot be read or written now: its disk is full, its file is locked or gone."""


class ActionFailed(PilothouseError):
    """An action did not work; the message is shown to the model in this step.

    `lasting` is the shorter text kept in the run's history, the message itself when not given.
    """

    def __init__(self, message: str, *, lasting: str | None = None) -> None:
        super().__init__(message)
        self.lasting = lasting or message


class ElementGone(ActionFailed):
    """The numbered element is no longer on the page."""


class ActionRefused(ActionFailed):
    """Policy does not allow this action."""


class ActionInvalid(ActionFailed):
    """The action's name or parameters are wrong."""


class CaptchaIncomplete(ActionFailed):
    """A captcha does not tell what the solving service needs to know; nothing was spent."""


class SolverFailed(ActionFailed):
    """The solving service gave no result; `is_final`: it will give none in this run, its account forbids it."""

    def __init__(self, message: str, *, is_final: bool = False) -> None:
        super().__init__(message)
        self.is_final = is_final


class AnswerRefused(ActionFailed):
    """What was to be written into the answer may not stand there; nothing was changed.

    `links` are the addresses that no page has shown so far.
    """

    def __init__(self, message: str, *, links: tuple[str, ...] = ()) -> None:
        super().__init__(message)
        self.links = links


class BrowserLost(PilothouseError):
    """The browser process or its connection ended while it was needed."""


class CaptureFailed(PilothouseError):
    """What a browser keeps of the sites could not be taken from it; what was kept before stays."""


class ReplyMalformed(PilothouseError):
    """The model's reply cannot be used; the message names the defect for the model."""


class ContextOverflow(PilothouseError):
    """The provider refused a request since it is longer than the model's context window."""


class RunEnding(PilothouseError):
    """Ends a run. `ending` says how; `failure` and `status_code` why, where it failed."""

    ending = Ending.FAILED

    def __init__(self, message: str, *, failure: FailureKind | None = None, status_code: int | None = None) -> None:
        super().__init__(message)
        self.failure = failure
        self.status_code = status_code


@dataclass(frozen=True)
class AnswerShape:
    """How an answer stands to the schema that it was asked for in.

    `fits` is False for one in another shape, `lacking` a sentence on what it does not have. `sources` tell where its
    values were read, None where that is not known.
    """

    fits: bool = True
    lacking: str = ""
    sources: dict[str, dict[str, Any]] | None = None


class RunDone(RunEnding):
    """The agent handed in its answer: `answer` is text, or the JSON the output schema asks for.

    `note` is what the agent says to it, `shape` how it stands to the schema.
    """

    ending = Ending.DONE

    def __init__(
        self,
        message: str,
        *,
        answer: Any,
        success: bool = True,
        note: str = "",
        shape: AnswerShape | None = None,
    ) -> None:
        super().__init__(message)
        self.answer = answer
        self.success = success
        self.note = note
        self.shape = shape or AnswerShape()


class RunStopped(RunEnding):
    """A person or a caller stopped the run."""

    ending = Ending.STOPPED


class RunInterrupted(RunEnding):
    """The server ended while the run was going."""

    ending = Ending.INTERRUPTED


class RunTimedOut(RunEnding):
    """The run's own time is used up."""

    ending = Ending.TIMED_OUT

    def __init__(self, message: str) -> None:
        super().__init__(message, failure=FailureKind.SESSION_TIMEOUT)


class StepsSpent(RunEnding):
    """The run's steps are used up."""

    ending = Ending.STEPS_SPENT

    def __init__(self, message: str) -> None:
        super().__init__(message, failure=FailureKind.AGENT_FAILURE)


class MoneySpent(RunEnding):
    """The run's money is used up."""

    ending = Ending.BUDGET_SPENT

    def __init__(self, message: str) -> None:
        super().__init__(message, failure=FailureKind.BUDGET_EXCEEDED)


class RunFailed(RunEnding):
    """The run cannot go on: a provider fault, a lost browser, useless replies.

    `is_transient` says that the same request may well be answered if it is sent again, `retry_after` in how many
    seconds the provider asked for that; None when it did not say.
    """

    def __init__(
        self,
        message: str,
        *,
        failure: FailureKind | None = None,
        status_code: int | None = None,
        retry_after: float | None = None,
        is_transient: bool = False,
    ) -> None:
        super().__init__(message, failure=failure, status_code=status_code)
        self.retry_after = retry_after
        self.is_transient = is_transient
