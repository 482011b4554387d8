"""The calls on sessions: make or continue, list, get, pause, resume, stop, delete."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated
from uuid import UUID

from litestar import delete, get, post
from litestar.di import NamedDependency
from litestar.params import FromPath, JSONBody, QueryParameter

from appliance.persistence.records import Payer
from appliance.runtime.sessions import Sessions
from web.api.v3.renderings import Renderer
from web.api.v3.shapes.sessions import RunTaskRequest, SessionListView, SessionView, StopRequest
from web.api.v3.wishes import read_strategy, read_wish
from web.problems import PROBLEMS

_LAST_PAGE = 1_000_000_000


class SessionExtra(StrEnum):
    """What a session is told with on request."""

    PROVENANCE = "provenance"


@dataclass(frozen=True)
class Shelf:
    """What a session is found and told with. Handed over as one, since Litestar starts a task for each of several."""

    sessions: Sessions
    renderer: Renderer


@post("/sessions", status_code=200, responses=PROBLEMS, tags=["sessions"], summary="Start or continue a session")
async def create_session(
    sessions: NamedDependency[Sessions],
    renderer: NamedDependency[Renderer],
    payer: NamedDependency[Payer | None],
    data: JSONBody[RunTaskRequest | None] = None,
) -> SessionView:
    """Make a session, with a task or without, or give an idle one (sessionId) its next task.

    The answer comes at once; read the session until its status is idle, stopped, timed_out or error.
    """
    return renderer.render_session(await sessions.create(read_wish(data or RunTaskRequest(), payer)))


@get("/sessions", responses=PROBLEMS, tags=["sessions"], summary="List sessions")
async def list_sessions(
    sessions: NamedDependency[Sessions],
    renderer: NamedDependency[Renderer],
    payer: NamedDependency[Payer | None],
    page: Annotated[int, QueryParameter(ge=1, le=_LAST_PAGE)] = 1,
    page_size: Annotated[int, QueryParameter(ge=1, le=100)] = 20,
) -> SessionListView:
    """Return one page of the sessions, newest first; a page past the end is empty."""
    found = await sessions.list_page(page, page_size, payer and payer.team_id)
    views = [renderer.render_session(session, in_list=True) for session in found.sessions]
    return SessionListView(sessions=views, total=found.total, page=page, page_size=page_size)


@get("/sessions/{session_id:uuid}", responses=PROBLEMS, tags=["sessions"], summary="Get a session")
async def get_session(
    shelf: NamedDependency[Shelf],
    session_id: FromPath[UUID],
    include: Annotated[SessionExtra | None, QueryParameter(description="adds where the answer was read")] = None,
) -> SessionView:
    """Return the session as it is now."""
    view = shelf.renderer.render_session(await shelf.sessions.find(session_id))
    if include is SessionExtra.PROVENANCE:
        sources = await shelf.sessions.find_provenance(session_id)
        view.provenance = None if sources is None else shelf.renderer.render_sources(session_id, sources)
    return view


@post(
    "/sessions/{session_id:uuid}/stop",
    status_code=200,
    responses=PROBLEMS,
    tags=["sessions"],
    summary="Stop a session or its task",
)
async def stop_session(
    sessions: NamedDependency[Sessions],
    renderer: NamedDependency[Renderer],
    session_id: FromPath[UUID],
    data: JSONBody[StopRequest | None] = None,
) -> SessionView:
    """Stop the whole session, or with strategy "task" only what it works on; what has ended stays as it is."""
    return renderer.render_session(await sessions.stop(session_id, read_strategy(data)))


@post(
    "/sessions/{session_id:uuid}/pause",
    status_code=200,
    responses=PROBLEMS,
    tags=["sessions"],
    summary="Let a session's run stand still",
)
async def pause_session(
    sessions: NamedDependency[Sessions], renderer: NamedDependency[Renderer], session_id: FromPath[UUID]
) -> SessionView:
    """Let nothing more begin and no time of the run pass until it is resumed (lifecycle "paused"); stopping works."""
    return renderer.render_session(await sessions.pause(session_id))


@post(
    "/sessions/{session_id:uuid}/resume",
    status_code=200,
    responses=PROBLEMS,
    tags=["sessions"],
    summary="Let a paused session's run go on",
)
async def resume_session(
    sessions: NamedDependency[Sessions], renderer: NamedDependency[Renderer], session_id: FromPath[UUID]
) -> SessionView:
    """Let a paused run go on where it was."""
    return renderer.render_session(await sessions.resume(session_id))


@delete(
    "/sessions/{session_id:uuid}", status_code=204, responses=PROBLEMS, tags=["sessions"], summary="Delete a session"
)
async def delete_session(sessions: NamedDependency[Sessions], session_id: FromPath[UUID]) -> None:
    """Stop the session if it works, and show it no more."""
    await sessions.delete(session_id)
