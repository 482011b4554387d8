"""Says sessions and events in the words of the v3 API."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any
from uuid import UUID

import msgspec

from appliance.events import (
    ActionCall,
    ActionFinished,
    GoalStated,
    Notice,
    Reviewed,
    RunFinished,
    RunQueued,
    RunStarted,
    StepPlanned,
    TaskGiven,
)
from appliance.models.catalog import FALLBACK_WIRE_MODEL, WIRE_MODELS
from appliance.persistence.records import EventRecord, SessionRecord
from appliance.runtime.links import Signer, live_url
from appliance.words import ReceiptStatus
from web.api.v3.shapes.messages import MessageView
from web.api.v3.shapes.sessions import SessionView, SourceView, WarningView
from web.notices import kind_of
from web.screenshots import screenshot_url

_SUMMARY_LENGTH = 200

_CLOUD_NAMES: Mapping[str, str] = {
    "navigate": "browser_navigate",
    "search": "web_search",
    "click": "browser_click",
    "input": "browser_type",
    "scroll": "browser_scroll",
    "wait": "browser_wait",
    "wait_for": "browser_wait",
    "screenshot": "browser_screenshot",
    "read_file": "read_file",
    "write_file": "write",
    "replace_file": "edit",
    "done": "done_autonomous",
}
_FILE_ACTIONS = frozenset(("read_file", "write_file", "replace_file"))
_CODE_ACTIONS = frozenset(("evaluate", "run_code_file"))
_PLAIN_NAMES = _CODE_ACTIONS | {"http_fetch", "extract", "remember", "recall", "checkpoint"}


@dataclass(frozen=True)
class Renderer:
    """Renders for callers that reach the server at `base_url`; links are absolute and signed."""

    base_url: str
    signer: Signer

    def render_session(self, session: SessionRecord, *, in_list: bool = False) -> SessionView:
        """Return the session's JSON; lists go without the links that cost something to make or expire soon."""
        llm_cost, cost = format_amount(session.cost_usd - session.services_usd), format_amount(session.cost_usd)
        return SessionView(
            id=session.id,
            status=session.status,
            model=session.wire_model if session.wire_model in WIRE_MODELS else FALLBACK_WIRE_MODEL,
            model_name=session.model,
            created_at=session.created_at,
            updated_at=session.updated_at,
            lifecycle=session.full_state,
            title=session.title or None,
            output=session.output,
            output_schema=session.output_schema,
            thinking_level=session.thinking_level,
            reasoning_effort=session.effort,
            step_count=session.step_count,
            last_step_summary=session.last_step_summary,
            is_task_successful=session.is_successful,
            failure_kind=session.failure,
            failure_status_code=session.failure_status_code,
            queue_position=session.queue_position,
            warnings=[WarningView(field=w.field, code=w.code, message=w.message) for w in session.warnings],
            live_url=live_url(self.base_url, self.signer, session.id),
            screenshot_url=None if in_list else self._screenshot(session.id, session.screenshot),
            browser_screen_width=session.screen_width,
            browser_screen_height=session.screen_height,
            max_steps=session.max_steps,
            timeout=session.timeout,
            allowed_domains=list(session.allowed_domains),
            keep_alive=session.keep_alive,
            workspace_id=session.workspace_id,
            profile_id=session.profile_id,
            max_cost_usd=None if session.max_cost_usd is None else format_amount(session.max_cost_usd),
            total_input_tokens=session.tokens.input + session.tokens.cache_read + session.tokens.cache_write,
            total_output_tokens=session.tokens.output,
            llm_cost_usd=llm_cost,
            total_cost_usd=cost,
        )

    def render_sources(self, session_id: UUID, sources: Mapping[str, Mapping[str, Any]]) -> dict[str, SourceView]:
        """Return where the values of an answer were read, each with a link to its picture."""
        views = {pointer: msgspec.convert(source, SourceView) for pointer, source in sources.items()}
        links = {name: self._screenshot(session_id, name) for name in {view.screenshot for view in views.values()}}
        for view in views.values():
            view.screenshot_url = links[view.screenshot]
        return views

    def render_event(self, record: EventRecord) -> MessageView:
        """Return the message that stands for the event; every event is exactly one."""
        said = _RENDERINGS[type(record.event)](record.event)
        return MessageView(
            id=record.id,
            session_id=record.session_id,
            role=said.role,
            data=json.dumps(said.data, ensure_ascii=False),
            type=said.type,
            summary=_shorten(said.summary),
            created_at=record.created_at,
            screenshot_url=self._screenshot(record.session_id, said.screenshot),
            hidden=said.hidden,
        )

    def _screenshot(self, session_id: UUID, name: str | None) -> str | None:
        return None if name is None else screenshot_url(self.base_url, self.signer, session_id, name)


def format_amount(amount: Decimal) -> str:
    """Return the amount in plain notation without needless zeros: "0", "0.00005", "12.5", never an exponent."""
    text = format(amount, "f")
    return text.rstrip("0").rstrip(".") if "." in text else text


@dataclass(frozen=True)
class _Said:
    """An event in the chat form: `data` is the message as chat APIs have it."""

    role: str
    type: str
    data: dict[str, Any]
    summary: str
    screenshot: str | None = None
    hidden: bool = False


def _say_task(event: TaskGiven) -> _Said:
    return _Said("user", "user_message", {"content": event.task}, event.task)


def _say_queued(event: RunQueued) -> _Said:
    text = f"Waiting for a free slot (position {event.position})."
    return _Said("assistant", "planning", {"content": text}, text, hidden=True)


def _say_started(event: RunStarted) -> _Said:
    text = f"Starting a browser on slot {event.slot}."
    return _Said("assistant", "planning", {"content": text}, text, hidden=True)


def _say_step(event: StepPlanned) -> _Said:
    thoughts = [part for part in (event.see, event.plan, event.move) if part]
    data: dict[str, Any] = {"content": "\n".join(thoughts)}
    if event.calls:
        data["tool_calls"] = [_say_call(call) for call in event.calls]
    return _Said("assistant", _type_of(event.calls), data, event.move or event.plan or event.see, event.screenshot)


def _say_call(call: ActionCall) -> dict[str, Any]:
    arguments = dict(call.arguments)
    if call.name in _FILE_ACTIONS and "file_name" in arguments:
        arguments = {"path": arguments.pop("file_name"), **arguments}
    function = {"name": _cloud_name(call.name), "arguments": json.dumps(arguments, ensure_ascii=False)}
    return {"id": call.call_id, "type": "function", "function": function}


def _cloud_name(name: str) -> str:
    return _CLOUD_NAMES.get(name) or (name if name in _PLAIN_NAMES else f"browser_{name}")


def _type_of(calls: tuple[ActionCall, ...]) -> str:
    if not calls:
        return "planning"
    name = calls[0].name
    if name == "done":
        return "completion"
    if name in _FILE_ACTIONS:
        return "file_operation"
    return "code_execution" if name in _CODE_ACTIONS else "browser_action"


def _say_receipt(event: ActionFinished) -> _Said:
    worked = event.status in (ReceiptStatus.OK, ReceiptStatus.NO_EFFECT)
    data = {"content": event.text, "tool_call_id": event.call_id, "name": _cloud_name(event.name)}
    return _Said("tool", "browser_action_result" if worked else "browser_action_error", data, event.text)


def _say_notice(event: Notice) -> _Said:
    kind = kind_of(event.code)
    named = {} if kind is None else {"category": kind.category, "action": kind.action}
    return _Said("assistant", "planning", {"content": event.text, **named}, event.text)


def _say_goal(event: GoalStated) -> _Said:
    return _Said(
        "assistant", "planning", {"content": f"GOAL: {event.goal}", "category": "goal", "action": "goal"}, event.goal
    )


def _say_reviewed(event: Reviewed) -> _Said:
    data: dict[str, Any] = {
        "content": event.text,
        "category": "judge",
        "action": "review",
        "verdict": event.verdict,
        "round": event.round,
    }
    if event.recorded is not None:
        data["recorded"] = event.recorded
    return _Said("assistant", "planning", data, event.text)


def _say_finished(event: RunFinished) -> _Said:
    output = event.output if isinstance(event.output, str) or event.output is None else json.dumps(event.output)
    return _Said("assistant", "completion", {"content": output or event.summary}, event.summary or output or "")


_RENDERINGS: Mapping[type, Callable[[Any], _Said]] = {
    TaskGiven: _say_task,
    RunQueued: _say_queued,
    RunStarted: _say_started,
    StepPlanned: _say_step,
    ActionFinished: _say_receipt,
    Notice: _say_notice,
    RunFinished: _say_finished,
    GoalStated: _say_goal,
    Reviewed: _say_reviewed,
}


def _shorten(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= _SUMMARY_LENGTH else f"{line[: _SUMMARY_LENGTH - 1]}…"
