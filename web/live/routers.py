"""The addresses under /live: the embeddable page of a session, its feed, its pictures and its answer."""

import asyncio
from functools import partial
from typing import Any
from uuid import UUID

from litestar import Request, Response, Router, WebSocket, get, websocket
from litestar.exceptions import NotFoundException
from litestar.params import FromPath, FromQuery
from litestar.response import File, ServerSentEvent, Template

from appliance.errors import NotAllowed, NotAuthenticated, NotFound
from appliance.runtime.assembly import Appliance
from web.answer_files import as_csv, as_json
from web.headers import secure_embeddable_page
from web.live.admission import Admission
from web.live.embed import show_embed
from web.live.feed import stream_list, stream_session
from web.live.source import find_sources
from web.live.vnc import show_display
from web.screenshots import find_picture, read_picture
from web.session_view import load_session_view
from web.signin import RecognizeViewer, require_viewer
from web.views import Views

_LAST_ROW = 10**15
_REFUSED = 4403
_MISSING = 4404


def live_router(appliance: Appliance, views: Views, recognize: RecognizeViewer) -> Router:
    """Return the router of /live."""
    admission = Admission(appliance.settings, appliance.signer)
    return Router(
        "/live",
        route_handlers=[
            _page(appliance, admission),
            _feed(appliance, admission, views),
            _list_feed(appliance, views),
            _picture(appliance, admission),
            _source(appliance, admission),
            _answer(appliance, admission),
            _socket(appliance, admission),
        ],
        middleware=[recognize],
        include_in_schema=False,
    )


def _page(appliance: Appliance, admission: Admission) -> Any:
    @get(
        "/{session_id:uuid}",
        after_request=secure_embeddable_page,
        exception_handlers={NotAuthenticated: _say_trouble, NotFound: _say_trouble},
    )
    async def show_live(request: Request[Any, Any, Any], session_id: FromPath[UUID]) -> Template:
        """Show the page."""
        link = admission.admit(request, session_id)
        return await show_embed(request, appliance, session_id, link)

    return show_live


def _feed(appliance: Appliance, admission: Admission, views: Views) -> Any:
    @get("/{session_id:uuid}/feed")
    async def follow_session(
        request: Request[Any, Any, Any], session_id: FromPath[UUID], after: FromQuery[int] = 0
    ) -> ServerSentEvent:
        """Stream the session's rows behind `after`, or behind the last one that the browser has had."""
        link = admission.admit(request, session_id)
        await appliance.sessions.find(session_id)
        last = request.headers.get("last-event-id", "")
        start = int(last) if last.isascii() and last.isdigit() and len(last) < 16 else min(max(0, after), _LAST_ROW)
        return ServerSentEvent(stream_session(appliance, views, session_id, start, link))

    return follow_session


def _list_feed(appliance: Appliance, views: Views) -> Any:
    @get("/sessions", guards=[require_viewer])
    async def follow_list() -> ServerSentEvent:
        """Stream the list of the newest sessions."""
        return ServerSentEvent(stream_list(appliance, views))

    return follow_list


def _picture(appliance: Appliance, admission: Admission) -> Any:
    @get("/{session_id:uuid}/screenshots/{name:str}", sync_to_thread=True)
    def show_picture(request: Request[Any, Any, Any], session_id: FromPath[UUID], name: FromPath[str]) -> File:
        """Return the picture of a step."""
        admission.admit(request, session_id)
        picture = read_picture(appliance.settings, session_id, name, keep_seconds=86_400)
        if picture is None:
            raise NotFoundException("There is no such picture.")
        return picture

    return show_picture


def _source(appliance: Appliance, admission: Admission) -> Any:
    @get(
        "/{session_id:uuid}/source",
        after_request=secure_embeddable_page,
        exception_handlers={NotAuthenticated: _say_trouble, NotFound: _say_trouble},
    )
    async def show_source(request: Request[Any, Any, Any], session_id: FromPath[UUID]) -> Template:
        """Tell where the value that `at` points to was read: as a fragment to a page of ours, else as a page."""
        link = admission.admit(request, session_id)
        view = await load_session_view(appliance.database, session_id)
        pointer = request.query_params.get("at", "")
        told = await asyncio.to_thread(find_sources, view, pointer, partial(_has_picture, appliance, session_id))
        is_fragment = request.headers.get("hx-request") == "true"
        back = f"/live/{session_id}{link}" if link else f"/sessions/{session_id}"
        context = {"sources": told, "session_id": session_id, "link": link, "back": back}
        return Template("partials/_source.html" if is_fragment else "pages/source_show.html", context=context)

    return show_source


def _has_picture(appliance: Appliance, session_id: UUID, name: str) -> bool:
    return find_picture(appliance.settings, session_id, name) is not None


def _answer(appliance: Appliance, admission: Admission) -> Any:
    @get("/{session_id:uuid}/answer/{kind:str}")
    async def save_answer(
        request: Request[Any, Any, Any], session_id: FromPath[UUID], kind: FromPath[str]
    ) -> Response[str]:
        """Return the answer as a file of its kind, json or csv."""
        admission.admit(request, session_id)
        session = await appliance.sessions.find(session_id)
        make = {"json": as_json, "csv": as_csv}.get(kind)
        if make is None or session.output is None:
            raise NotFoundException("There is no such file of an answer.")
        return Response(
            make(session.output),
            media_type="application/json" if kind == "json" else "text/csv; charset=utf-8",
            headers={
                "Content-Disposition": f'attachment; filename="answer-{session_id}.{kind}"',
                "Cache-Control": "private, no-store",
                "X-Content-Type-Options": "nosniff",
            },
        )

    return save_answer


def _socket(appliance: Appliance, admission: Admission) -> Any:
    @websocket("/{session_id:uuid}/websocket")
    async def open_display(socket: WebSocket[Any, Any, Any], session_id: FromPath[UUID]) -> None:
        """Join the viewer with the session's display."""
        try:
            link = admission.admit(socket, session_id)
            admission.check_origin(socket, by_link=bool(link))
            await appliance.sessions.find(session_id)
        except (NotAuthenticated, NotAllowed):
            await socket.close(code=_REFUSED)
            return
        except NotFound:
            await socket.close(code=_MISSING)
            return
        offered = socket.headers.get("sec-websocket-protocol", "")
        binary = "binary" in [name.strip() for name in offered.split(",")]
        await socket.accept(subprotocols="binary" if binary else None)
        await show_display(socket, appliance, session_id)

    return open_display


def _say_trouble(_: Request[Any, Any, Any], error: Exception) -> Response[Any]:
    missing = isinstance(error, NotFound)
    message = "It may have been deleted." if missing else getattr(error, "message", "")
    context = {"headline": "There is no such session" if missing else "This view is closed", "message": message}
    response: Response[Any] = Template("pages/trouble.html", context=context, status_code=404 if missing else 401)
    return secure_embeddable_page(response)
