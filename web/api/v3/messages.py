"""The calls on a session's feed: pages of messages, and the same messages as a live stream."""

from collections.abc import AsyncGenerator
from typing import Annotated
from uuid import UUID

import msgspec
from litestar import Request, get
from litestar.datastructures import State
from litestar.di import NamedDependency
from litestar.params import FromPath, FromQuery, QueryParameter
from litestar.response import ServerSentEvent, ServerSentEventMessage

from appliance.errors import NotFound, RequestRefused
from appliance.feed.hub import Hub
from appliance.persistence.records import EventRecord
from appliance.runtime.sessions import Sessions
from appliance.words import SessionStatus
from web.api.v3.renderings import Renderer
from web.api.v3.shapes.messages import MessageListView
from web.problems import PROBLEMS

_STREAM_PAGE = 100
_HEARTBEAT_SECONDS = 15.0


@get("/sessions/{session_id:uuid}/messages", responses=PROBLEMS, tags=["sessions"], summary="List messages")
async def list_messages(
    sessions: NamedDependency[Sessions],
    renderer: NamedDependency[Renderer],
    session_id: FromPath[UUID],
    after: FromQuery[UUID | None] = None,
    before: FromQuery[UUID | None] = None,
    limit: Annotated[int, QueryParameter(ge=1, le=100)] = 10,
) -> MessageListView:
    """Return the messages that follow `after`, or those right before `before`, or the newest; oldest first."""
    page = await sessions.read_events(session_id, after=after, before=before, limit=limit)
    return MessageListView(messages=[renderer.render_event(record) for record in page.events], has_more=page.has_more)


@get("/sessions/{session_id:uuid}/events", responses=PROBLEMS, tags=["sessions"], summary="Follow messages")
async def stream_messages(
    request: Request[None, None, State],
    sessions: NamedDependency[Sessions],
    renderer: NamedDependency[Renderer],
    hub: NamedDependency[Hub],
    session_id: FromPath[UUID],
) -> ServerSentEvent:
    """Stream the messages as server-sent events named "message", from the first or after Last-Event-ID.

    When the session has nothing more to do, a last event named "session" carries it and the stream ends.
    """
    await sessions.find(session_id)
    last_id = _read_last_id(request.headers.get("last-event-id", ""))
    if last_id is not None:
        await sessions.read_events(session_id, after=last_id, limit=1)
    return ServerSentEvent(_follow(sessions, renderer, hub, session_id, last_id))


async def _follow(
    sessions: Sessions, renderer: Renderer, hub: Hub, session_id: UUID, last_id: UUID | None
) -> AsyncGenerator[ServerSentEventMessage, None]:
    async with hub.watch(session_id) as watch:
        while True:
            try:
                session = await sessions.find(session_id)
                records = await _read_all_after(sessions, session_id, last_id)
            except NotFound:
                return
            for record in records:
                last_id = record.id
                yield _message("message", renderer.render_event(record), str(record.id))
            if session.status is SessionStatus.IDLE or session.status.is_final:
                yield _message("session", renderer.render_session(session), None)
                return
            if not await watch.wait(_HEARTBEAT_SECONDS):
                yield ServerSentEventMessage(comment="still here")


async def _read_all_after(sessions: Sessions, session_id: UUID, last_id: UUID | None) -> list[EventRecord]:
    if last_id is not None:
        page = await sessions.read_events(session_id, after=last_id, limit=_STREAM_PAGE)
        found = list(page.events)
        while page.has_more:
            page = await sessions.read_events(session_id, after=found[-1].id, limit=_STREAM_PAGE)
            found += page.events
        return found
    page = await sessions.read_events(session_id, limit=_STREAM_PAGE)
    found = list(page.events)
    while page.has_more:
        page = await sessions.read_events(session_id, before=found[0].id, limit=_STREAM_PAGE)
        found = [*page.events, *found]
    return found


def _message(name: str, view: msgspec.Struct, event_id: str | None) -> ServerSentEventMessage:
    return ServerSentEventMessage(event=name, id=event_id, data=msgspec.json.encode(view).decode())


def _read_last_id(text: str) -> UUID | None:
    if not text:
        return None
    try:
        return UUID(text)
    except ValueError as error:
        raise RequestRefused("Last-Event-ID is no message id; leave it out to read from the start.") from error
