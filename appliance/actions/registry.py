"""Every action by name: described to the model, read from its reply, and run so that a receipt always comes."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches
from typing import Any, cast

import structlog
from pydantic import ValidationError

from appliance.actions.answers import STORE_ACTIONS
from appliance.actions.base import Action, ActionContext, Parameters, Receipt
from appliance.actions.bulk import READ_PAGES
from appliance.actions.captcha import SOLVE_CAPTCHA
from appliance.actions.capture import SAVE_AS_PDF, SCREENSHOT
from appliance.actions.checkpoints import CHECKPOINT
from appliance.actions.choices import DROPDOWN_OPTIONS, SELECT_DROPDOWN
from appliance.actions.clipboard import RECALL, REMEMBER
from appliance.actions.code import EVALUATE
from appliance.actions.evidence import note_look
from appliance.actions.extraction import EXTRACT
from appliance.actions.files import READ_FILE, REPLACE_FILE, WRITE_FILE
from appliance.actions.finish import DONE
from appliance.actions.forms import ANSWER_DIALOG, INPUT, SEND_KEYS, UPLOAD_FILE
from appliance.actions.gathering import FIND_LINKS
from appliance.actions.http import HTTP_FETCH
from appliance.actions.looking import LOOK
from appliance.actions.measured import said
from appliance.actions.mirror import mirror
from appliance.actions.navigation import GO_BACK, NAVIGATE, SEARCH
from appliance.actions.pointer import CLICK, DRAG, HOVER
from appliance.actions.reading import FIND_ELEMENTS, SEARCH_PAGE
from appliance.actions.schema import reply_schema, signature
from appliance.actions.scripts import RUN_CODE_FILE
from appliance.actions.scrolling import FIND_TEXT, SCROLL
from appliance.actions.secrets import refuse_elsewhere
from appliance.actions.tabs import CLOSE, SWITCH
from appliance.actions.targets import take_targets, target_fields
from appliance.actions.waiting import WAIT, WAIT_FOR
from appliance.browser.dialogs import describe
from appliance.browser.likeness import alike
from appliance.errors import ActionFailed, ActionInvalid, ActionRefused, BrowserLost, ElementGone, RunEnding
from appliance.words import ReceiptStatus

log = structlog.get_logger()

ACTIONS: tuple[Action[Any], ...] = (
    NAVIGATE,
    SEARCH,
    GO_BACK,
    WAIT,
    WAIT_FOR,
    CLICK,
    HOVER,
    DRAG,
    SCROLL,
    FIND_TEXT,
    INPUT,
    SEND_KEYS,
    DROPDOWN_OPTIONS,
    SELECT_DROPDOWN,
    UPLOAD_FILE,
    ANSWER_DIALOG,
    SWITCH,
    CLOSE,
    LOOK,
    SEARCH_PAGE,
    FIND_ELEMENTS,
    EXTRACT,
    FIND_LINKS,
    READ_PAGES,
    SCREENSHOT,
    SAVE_AS_PDF,
    EVALUATE,
    RUN_CODE_FILE,
    HTTP_FETCH,
    WRITE_FILE,
    REPLACE_FILE,
    READ_FILE,
    CHECKPOINT,
    REMEMBER,
    RECALL,
    *STORE_ACTIONS,
    SOLVE_CAPTCHA,
    DONE,
)


@dataclass(frozen=True)
class ParsedCall:
    """An action the model asked for, checked."""

    name: str
    parameters: Parameters


class Registry:
    """The actions of a run, in the order they are described."""

    def __init__(self, actions: Sequence[Action[Any]] = ACTIONS) -> None:
        self._actions = {action.name: action for action in actions}
        self._schema = reply_schema(actions)

    @classmethod
    def for_context(cls, context: ActionContext) -> "Registry":
        """Return the actions that a run has what they need for."""
        return cls([action for action in ACTIONS if action.needs is None or action.needs(context)])

    def reply_schema(self) -> dict[str, Any]:
        """Return the JSON Schema of a whole reply; the same object each time, not to be changed."""
        return self._schema

    def describe(self) -> str:
        """Return one line per action: name, parameters, what it does."""
        return "\n".join(
            f"{action.name} {signature(action)}: {action.description}" for action in self._actions.values()
        )

    def parse(self, call: dict[str, Any]) -> ParsedCall:
        """Return the checked call for an object such as {"click": {"index": 3}}.

        Obvious slips are read as meant: numbers written as text, null for an optional field, a bare value where an
        action needs one thing only. Raises ActionInvalid naming the defect for anything else.
        """
        name, arguments = _split(call)
        action = self._actions.get(name)
        if action is None:
            raise ActionInvalid(_unknown(name, self._actions))
        try:
            return ParsedCall(name, action.parameters.model_validate(_arguments(action, arguments)))
        except ValidationError as error:
            raise ActionInvalid(_defects(action, error)) from error

    def deadline(self, name: str) -> float:
        """Return the seconds after which an action is given up; raises KeyError for an unknown one."""
        return self._actions[name].deadline

    def knows(self, name: str) -> bool:
        """Whether there is an action of this name."""
        return name in self._actions

    def is_desk_work(self, name: str) -> bool:
        """Whether an action, also an unknown one, neither reads nor changes the browser."""
        return name in self._actions and self._actions[name].is_desk_work

    def touches_page(self, name: str) -> bool:
        """Whether the action of this name works on the page."""
        return self._actions[name].touches_page

    async def run(self, context: ActionContext, parsed: ParsedCall) -> Receipt:
        """Do the action and return its receipt; raises only BrowserLost and RunEnding."""
        action = self._actions[parsed.name]
        started = context.pause.time()
        if action.touches_page:
            await context.browser.code_tab.leave()
        targets = await take_targets(context.browser, parsed.parameters) if action.touches_page else ()
        unmirrored = ""
        try:
            receipt = await _run_safely(action, context, parsed.parameters)
        finally:
            unmirrored = mirror(context)
        note_look(context, parsed.name, receipt)
        duration_ms = round((context.pause.time() - started) * 1000)
        url = receipt.url or context.browser.tab.url
        text = receipt.text + unmirrored
        receipt = replace(receipt, text=text, duration_ms=duration_ms, url=url, targets=targets)
        receipt = context.sensitive.redact_all(receipt)
        return context.guard.pass_on(context.scratchpad, context.step, parsed.name, parsed.parameters, receipt)


async def _run_safely(action: Action[Any], context: ActionContext, parameters: Parameters) -> Receipt:
    dialog = context.browser.dialog
    if dialog is not None and action.touches_page:
        text = f"{action.name} was not done: {describe(dialog)}. Answer it with answer_dialog first."
        return Receipt(ReceiptStatus.NEEDS_DECISION, text, ends_chain=True)
    try:
        refuse_elsewhere(action.name, parameters)
        async with context.pause.timeout(action.deadline):
            return await action.run(context, parameters)
    except (BrowserLost, RunEnding):
        raise
    except ActionFailed as error:
        status = ReceiptStatus.BLOCKED if isinstance(error, ActionRefused) else ReceiptStatus.FAILED
        instead = await _instead(context, parameters) if isinstance(error, ElementGone) else ""
        return Receipt(status, error.message + instead, lasting=error.lasting, ends_chain=True)
    except TimeoutError:
        text = f"{action.name} was given up after {action.deadline:g} s; the page may be busy, look at it again."
        return Receipt(ReceiptStatus.FAILED, text, ends_chain=True)
    except Exception as error:
        log.exception("action crashed", action=action.name)
        text = f"{action.name} could not be done because of a fault in our own program ({type(error).__name__})."
        return Receipt(ReceiptStatus.FAILED, text, ends_chain=True)


async def _instead(context: ActionContext, parameters: Parameters) -> str:
    """Return a sentence on what may be meant instead of an element that is gone."""
    fields = target_fields(parameters)
    found = await alike(context.browser, getattr(parameters, fields[0])) if len(fields) == 1 else []
    return f" Like it there is {', '.join(said(view) for view in found)}." if found else ""


def _split(call: object) -> tuple[str, object]:
    if not isinstance(call, dict) or not call:
        raise ActionInvalid('An action is an object with one key, its name, for example {"click": {"index": 3}}.')
    fields = cast("dict[str, object]", call)
    given = {name: value for name, value in fields.items() if value is not None} if len(fields) > 1 else fields
    if len(given) != 1:
        raise ActionInvalid(
            f"One action object must have exactly one key, the action's name; this one has {sorted(given)}. "
            "Write each action as its own object in the list."
        )
    return next(iter(given.items()))


def _arguments(action: Action[Any], arguments: object) -> object:
    if arguments is None:
        return {}
    if isinstance(arguments, dict):
        fields = cast("dict[str, object]", arguments)
        return {name: value for name, value in fields.items() if value is not None}
    required = [name for name, field in action.parameters.model_fields.items() if field.is_required()]
    return {required[0]: arguments} if len(required) == 1 else arguments


def _unknown(name: str, actions: dict[str, Action[Any]]) -> str:
    near = get_close_matches(name, actions, n=1)
    hint = f"did you mean {near[0]}?" if near else f"there are: {', '.join(actions)}."
    return f"There is no action {name!r}; {hint}"


def _defects(action: Action[Any], error: ValidationError) -> str:
    defects = [
        f"{'.'.join(str(part) for part in item['loc']) or 'its value'}: {item['msg']}"
        for item in error.errors(include_url=False, include_context=False)
    ]
    return f"{action.name} takes {signature(action)}; {'; '.join(dict.fromkeys(defects))}."
