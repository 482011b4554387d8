"""The list of sessions and the page of one: seen, paused, stopped, given the next task, done again."""

from typing import Any
from uuid import UUID

from litestar import Request, Response, get, post
from litestar.params import FromPath
from litestar.response import File, Redirect, Template

from appliance.errors import RequestRefused
from appliance.runtime.assembly import Appliance
from appliance.runtime.replays import ReplayWish
from appliance.runtime.wishes import SessionWish
from web.feed_rows import arrange
from web.films import send_film
from web.pages.crew import count_crew
from web.pages.forms import read_fields
from web.pages.payer import find_payer
from web.session_view import load_session_view
from web.views import page

AnyRequest = Request[Any, Any, Any]
_PAGE_SIZE = 30
_STRETCH = 200


def session_pages(appliance: Appliance) -> list[Any]:
    """Return the handlers of /sessions."""
    return [
        _list(appliance),
        _show(appliance),
        _stop(appliance),
        _pause(appliance),
        _resume(appliance),
        _continue(appliance),
        _replay(appliance),
        _show_film(appliance),
    ]


def _list(appliance: Appliance) -> Any:
    @get("/sessions")
    async def list_sessions(request: AnyRequest) -> Template:
        """Show a page of the list, newest first."""
        asked = request.query_params.get("page", "1")
        number = max(1, int(asked)) if asked.isascii() and asked.isdigit() and len(asked) < 7 else 1
        newest = await appliance.sessions.list_page(number, _PAGE_SIZE)
        return page(
            request,
            "session_list",
            sessions=newest.sessions,
            page_number=number,
            has_more=newest.total > number * _PAGE_SIZE,
            crew=count_crew(appliance),
        )

    return list_sessions


def _show(appliance: Appliance) -> Any:
    @get("/sessions/{session_id:uuid}")
    async def show_session(request: AnyRequest, session_id: FromPath[UUID]) -> Template:
        """Show the session; `before` names the event in front of which an earlier stretch of the feed ends."""
        view = await load_session_view(appliance.database, session_id)
        before = _read_id(request.query_params.get("before", ""))
        stretch = await appliance.sessions.read_events(session_id, before=before, limit=_STRETCH)
        first = stretch.events[0].id if stretch.events and stretch.has_more else None
        return page(
            request,
            "session_show",
            view=view,
            rows=arrange(stretch.events),
            last=stretch.events[-1].sequence if stretch.events else 0,
            earlier=first,
            link="",
            oob=False,
            crew=count_crew(appliance),
        )

    return show_session


def _stop(appliance: Appliance) -> Any:
    @post("/sessions/{session_id:uuid}/stop", status_code=303)
    async def stop_session(session_id: FromPath[UUID]) -> Redirect:
        """Stop the session; it keeps what it has found."""
        await appliance.sessions.stop(session_id)
        return Redirect(f"/sessions/{session_id}", status_code=303)

    return stop_session


def _pause(appliance: Appliance) -> Any:
    @post("/sessions/{session_id:uuid}/pause", status_code=303)
    async def pause_session(request: AnyRequest, session_id: FromPath[UUID]) -> Redirect | Response[None]:
        """Let the session's run stand still."""
        await appliance.sessions.pause(session_id)
        return _back_to(request, session_id)

    return pause_session


def _resume(appliance: Appliance) -> Any:
    @post("/sessions/{session_id:uuid}/resume", status_code=303)
    async def resume_session(request: AnyRequest, session_id: FromPath[UUID]) -> Redirect | Response[None]:
        """Let the session's run go on."""
        await appliance.sessions.resume(session_id)
        return _back_to(request, session_id)

    return resume_session


def _back_to(request: AnyRequest, session_id: UUID) -> Redirect | Response[None]:
    """Return nothing to a page that is open and told of changes anyway, else the way to it."""
    if request.headers.get("hx-request"):
        return Response(None, status_code=204)
    return Redirect(f"/sessions/{session_id}", status_code=303)


def _continue(appliance: Appliance) -> Any:
    @post("/sessions/{session_id:uuid}/tasks", status_code=303)
    async def give_task(request: AnyRequest, session_id: FromPath[UUID]) -> Redirect:
        """Give an open session its next task; raises RequestRefused when it cannot take one."""
        (task,) = await read_fields(request, "task")
        if not task.strip():
            raise RequestRefused("The task is empty; say what is to be done.")
        payer = await find_payer(request, appliance.database)
        await appliance.sessions.create(SessionWish(task=task.strip(), session_id=session_id, payer=payer))
        return Redirect(f"/sessions/{session_id}", status_code=303)

    return give_task


def _replay(appliance: Appliance) -> Any:
    @post("/sessions/{session_id:uuid}/replays", status_code=303)
    async def replay_session(request: AnyRequest, session_id: FromPath[UUID]) -> Redirect:
        """Do the session's last run again, without a model, and show the session that does it."""
        payer = await find_payer(request, appliance.database)
        made = await appliance.replays.create(ReplayWish(session_id, payer=payer))
        return Redirect(f"/sessions/{made.id}", status_code=303)

    return replay_session


def _show_film(appliance: Appliance) -> Any:
    @get("/sessions/{session_id:uuid}/film")
    async def show_film(session_id: FromPath[UUID]) -> File:
        """Show the session's last run as a moving picture; raises NotFound when there are no pictures of it."""
        return await send_film(appliance.sessions, appliance.settings, session_id, "webp")

    return show_film


def _read_id(text: str) -> UUID | None:
    try:
        return UUID(text) if text else None
    except ValueError:
        return None
