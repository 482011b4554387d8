"""The feeds of the pages: fragments over server-sent events, made of rows when the hub rings; nobody polls."""

import asyncio
from collections.abc import AsyncGenerator, Sequence
from uuid import UUID

from litestar.response import ServerSentEventMessage

from appliance.errors import NotFound
from appliance.events import RunFinished, TaskGiven
from appliance.persistence.database import Database
from appliance.persistence.events import read_events_from
from appliance.persistence.ledger import costs_of_turns
from appliance.persistence.records import EventPage, EventRecord
from appliance.persistence.runs import find_latest_run
from appliance.persistence.sessions import find_session
from appliance.runtime.assembly import Appliance
from web.feed_rows import make_row
from web.session_view import SessionView, read_sources
from web.views import Views

HEARTBEAT = 20.0
LIST_LENGTH = 30
_STRETCH = 200
_LIST_PAUSE = 0.25


def stream_session(
    appliance: Appliance, views: Views, session_id: UUID, after: int, link: str
) -> AsyncGenerator[ServerSentEventMessage]:
    """Send the rows behind number `after` and then each as it comes, and the session's facts with every change.

    The number of a row is its event id. Ends with an event "ended" when the session works no more.
    """
    return _Reader(appliance, views, session_id, link).follow(after)


class _Reader:
    def __init__(self, appliance: Appliance, views: Views, session_id: UUID, link: str) -> None:
        self._appliance = appliance
        self._views = views
        self._session_id = session_id
        self._link = link

    async def follow(self, after: int) -> AsyncGenerator[ServerSentEventMessage]:
        rings = True
        async with self._appliance.hub.watch(self._session_id) as watch:
            while True:
                try:
                    page, view = await _read(self._appliance.database, self._session_id, after)
                except NotFound:
                    break
                for record in page.events:
                    after = record.sequence
                    yield self._arrival(record, view)
                if page.has_more:
                    continue
                yield self._update(page.events, view) if rings else ServerSentEventMessage(data=None, comment="alive")
                if view.phase == "ended":
                    break
                rings = await watch.wait(HEARTBEAT)
        yield ServerSentEventMessage(data="", event="ended")

    def _arrival(self, record: EventRecord, view: SessionView) -> ServerSentEventMessage:
        html = self._views.render("partials/_arrival.html", row=make_row(record), view=view, link=self._link, oob=False)
        return ServerSentEventMessage(data=html, id=record.sequence)

    def _update(self, events: Sequence[EventRecord], view: SessionView) -> ServerSentEventMessage:
        changes_result = any(isinstance(record.event, RunFinished | TaskGiven) for record in events)
        html = self._views.render(
            "partials/_update.html", view=view, link=self._link, oob=True, with_result=changes_result
        )
        return ServerSentEventMessage(data=html)


async def stream_list(appliance: Appliance, views: Views) -> AsyncGenerator[ServerSentEventMessage]:
    """Send the newest sessions whenever one of them changes, some times a second at most."""
    async with appliance.hub.watch() as watch:
        sent = ""
        while True:
            newest = await appliance.sessions.list_page(1, LIST_LENGTH)
            html = views.render("partials/_sessions.html", sessions=newest.sessions)
            if html != sent:
                yield ServerSentEventMessage(data=html)
                sent = html
            else:
                yield ServerSentEventMessage(data=None, comment="alive")
            await watch.wait(HEARTBEAT)
            # Runs that work side by side ring often; what rings meanwhile is seen by the next look.
            await asyncio.sleep(_LIST_PAUSE)


async def _read(database: Database, session_id: UUID, after: int) -> tuple[EventPage, SessionView]:
    async with database.read() as transaction:
        session = await find_session(transaction, session_id)
        run = await find_latest_run(transaction, session_id)
        page = await read_events_from(transaction, session_id, after + 1, limit=_STRETCH)
        has_ended = any(isinstance(record.event, RunFinished) for record in page.events)
        sources = await read_sources(transaction, run) if has_ended else None
        return page, SessionView(session, run, sources, await costs_of_turns(transaction, session_id))
