"""The calls on what a session's runs have left: their record, a moving picture, an export, and doing one again."""

import asyncio
from collections.abc import Mapping
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any
from uuid import UUID

import msgspec
from litestar import Response, get, post
from litestar.di import NamedDependency
from litestar.openapi.datastructures import ResponseSpec
from litestar.params import FromPath, JSONBody, QueryParameter
from litestar.response import File

from appliance.persistence.records import Payer, RunRecord
from appliance.runtime.folders import SessionFolders
from appliance.runtime.replays import Replays, ReplayWish
from appliance.runtime.sessions import Sessions
from appliance.settings import Settings
from web.api.v3.renderings import Renderer, format_amount
from web.api.v3.shapes.records import ActionView, ExportView, ReplayRequest, RunView, StepView
from web.api.v3.shapes.sessions import SessionView, SourceView
from web.films import send_film
from web.problems import PROBLEMS

if TYPE_CHECKING:
    from appliance.agent.recorded import RecordedRun

_RECORD = ResponseSpec(list[dict[str, Any]], description="The entries, oldest first", generate_examples=False)
_PICTURE = ResponseSpec(bytes, description="The moving picture", generate_examples=False, media_type="image/*")


class AnimationFormat(StrEnum):
    """What a moving picture can be."""

    GIF = "gif"
    WEBP = "webp"


class ExportScope(StrEnum):
    """How much of a session is exported: its answers, also its steps, or its whole record."""

    OUTPUT = "output"
    STEPS = "steps"
    FULL = "full"


@get(
    "/sessions/{session_id:uuid}/history",
    responses={**PROBLEMS, 200: _RECORD},
    tags=["sessions"],
    summary="Read the record",
)
async def get_history(
    sessions: NamedDependency[Sessions], own_settings: NamedDependency[Settings], session_id: FromPath[UUID]
) -> Response[bytes]:
    """Return the permanent record: what the model was sent, what it replied, what came of it; [] without any run."""
    await sessions.find(session_id)
    content = await asyncio.to_thread(_read_record, SessionFolders.of(own_settings, session_id).record)
    return Response(content, media_type="application/json", headers={"Cache-Control": "private, no-store"})


@get(
    "/sessions/{session_id:uuid}/animation",
    responses={**PROBLEMS, 200: _PICTURE},
    tags=["sessions"],
    summary="See a run as a moving picture",
)
async def get_animation(
    sessions: NamedDependency[Sessions],
    own_settings: NamedDependency[Settings],
    session_id: FromPath[UUID],
    kind: Annotated[AnimationFormat, QueryParameter(name="format")] = AnimationFormat.GIF,
    run: Annotated[int | None, QueryParameter(ge=1)] = None,
) -> File:
    """Return a run, by default the last one, as GIF or WebP, three seconds a step; 404 without pictures of it."""
    return await send_film(sessions, own_settings, session_id, kind.value, run)


@get("/sessions/{session_id:uuid}/export", responses=PROBLEMS, tags=["sessions"], summary="Export a session")
async def export_session(
    sessions: NamedDependency[Sessions],
    own_settings: NamedDependency[Settings],
    session_id: FromPath[UUID],
    extent: Annotated[ExportScope, QueryParameter(name="scope")] = ExportScope.OUTPUT,
) -> Response[ExportView]:
    """Return the session's runs with their answers, with their steps, or with their whole record."""
    session = await sessions.find(session_id)
    runs = await sessions.list_runs(session_id)
    sources = await sessions.list_provenance(session_id)
    recorded: Mapping[str, RecordedRun] = {}
    if extent is not ExportScope.OUTPUT:
        recorded = await asyncio.to_thread(_load, SessionFolders.of(own_settings, session_id).record)
    view = ExportView(
        session_id=session_id,
        title=session.title,
        scope=extent,
        runs=[_run(run, sources.get(run.id), recorded.get(str(run.id)), extent) for run in runs],
    )
    name = f'attachment; filename="session-{session_id}-{extent}.json"'
    return Response(view, headers={"Content-Disposition": name, "Cache-Control": "private, no-store"})


@post(
    "/sessions/{session_id:uuid}/replay",
    status_code=200,
    responses=PROBLEMS,
    tags=["sessions"],
    summary="Do a recorded run again",
)
async def replay_session(
    replays: NamedDependency[Replays],
    renderer: NamedDependency[Renderer],
    session_id: FromPath[UUID],
    payer: NamedDependency[Payer | None],
    data: JSONBody[ReplayRequest | None] = None,
) -> SessionView:
    """Make a session that does a recorded run again, without a model unless one is named, and return it at once.

    The answer of the recorded run is delivered only when every action went as it did then.
    """
    wish = data or ReplayRequest()
    made = await replays.create(
        ReplayWish(
            session_id,
            run=wish.run,
            model=wish.model,
            keep_alive=wish.keep_alive,
            max_steps=wish.max_steps,
            timeout=wish.timeout,
            payer=payer,
        )
    )
    return renderer.render_session(made)


def _read_record(path: Path) -> bytes:
    from appliance.agent.record import encode_entries, read_entries  # noqa: PLC0415 - an idle server does without

    try:
        content = path.read_bytes()
    except FileNotFoundError:
        return b"[]\n"
    return content if content.endswith(b"\n]\n") else encode_entries(read_entries(path))


def _load(path: Path) -> "dict[str, RecordedRun]":
    from appliance.agent.recorded import load  # noqa: PLC0415 - an idle server does without

    try:
        return {run.opened.run: run for run in load(path)}
    except FileNotFoundError:
        return {}


def _run(
    run: RunRecord, sources: dict[str, dict[str, Any]] | None, recorded: "RecordedRun | None", scope: ExportScope
) -> RunView:
    view = RunView(
        run=run.number,
        id=run.id,
        task=run.task,
        model=run.model,
        status=run.status,
        ending=run.ending,
        is_successful=run.is_successful,
        output=run.output,
        provenance=None if sources is None else msgspec.convert(sources, dict[str, SourceView]),
        failure_kind=run.failure,
        started_at=run.started_at,
        ended_at=run.ended_at,
        step_count=run.step_count,
        total_cost_usd=format_amount(run.cost_usd),
    )
    if scope is not ExportScope.OUTPUT:
        view.input_tokens = run.tokens.input + run.tokens.cache_read + run.tokens.cache_write
        view.output_tokens = run.tokens.output
        view.steps = _steps(recorded) if recorded is not None else []
        if recorded is not None:
            _tell_facts(view, recorded)
    if scope is ExportScope.FULL:
        view.record = [msgspec.to_builtins(entry) for entry in recorded.entries] if recorded is not None else []
    return view


def _tell_facts(view: RunView, recorded: "RecordedRun") -> None:
    """Fill in what the record as a whole says of the run."""
    view.urls = list(recorded.urls)
    view.errors = list(recorded.errors)
    view.seconds = round(recorded.seconds, 3)
    view.structured_output = recorded.structured_output
    view.partial_output = recorded.partial_result


def _steps(recorded: "RecordedRun") -> list[StepView]:
    return [
        StepView(
            step=step.asked.step,
            url=step.asked.url,
            title=step.asked.title,
            move=step.answered.move if step.answered is not None else "",
            summary=step.summary,
            trouble=step.closed.trouble if step.closed is not None else None,
            actions=[
                ActionView(
                    name=call.name,
                    arguments=call.arguments,
                    status=receipt.status if receipt is not None else None,
                    result=receipt.text if receipt is not None else None,
                    url=(receipt.url or None) if receipt is not None else None,
                )
                for call, receipt in step.actions
            ],
        )
        for step in recorded.steps
    ]
