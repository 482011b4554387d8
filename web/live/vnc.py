"""The live picture: joins a viewer's socket with the bridge of the slot that the session holds.

It waits as long as the session waits, ends with the session's hold on the slot, and lets no input through.
"""

import asyncio
from collections.abc import AsyncGenerator, Coroutine
from contextlib import asynccontextmanager
from typing import Any
from uuid import UUID

import structlog
from litestar import WebSocket
from litestar.exceptions import WebSocketDisconnect
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed, InvalidHandshake

from appliance.displays.slot import Slot
from appliance.errors import DisplayUnavailable, PilothouseError
from appliance.runtime.assembly import Appliance
from web.live.rfb import ViewerFilter
from web.session_view import load_session_view

_ENDED = 1000
_BROKEN = 1011
_LOOK_ANYWAY = 10.0
_DISPLAY_STARTS = 0.1
_CONNECT_CAP = 5.0

log = structlog.get_logger()
Socket = WebSocket[Any, Any, Any]


async def show_display(socket: Socket, appliance: Appliance, session_id: UUID) -> None:
    """Serve one accepted viewer until the viewer leaves, the view breaks or the session lets go of its slot."""
    viewer = ViewerFilter()
    bridged: asyncio.Future[ClientConnection] = asyncio.get_running_loop().create_future()
    try:
        code = await _first_of(_listen(socket, viewer, bridged), _show(socket, appliance, session_id, bridged))
    except PilothouseError as error:
        log.warning("a live view ended", session=str(session_id), reason=error.message)
        code = _BROKEN
    if code is not None:
        await _close(socket, code)


async def _listen(socket: Socket, viewer: ViewerFilter, bridged: asyncio.Future[ClientConnection]) -> int | None:
    """Pass on what the viewer may send; returns None when the viewer has left."""
    try:
        while True:
            if passed := viewer.feed(await socket.receive_bytes()):
                await (await bridged).send(passed)
    except WebSocketDisconnect:
        return None
    except ConnectionClosed:
        return _BROKEN


async def _show(
    socket: Socket, appliance: Appliance, session_id: UUID, bridged: asyncio.Future[ClientConnection]
) -> int | None:
    """Wait for the slot and send its picture; returns the code to close the viewer's socket with."""
    slot = await _wait_for_slot(appliance, session_id)
    if slot is None:
        return _ENDED
    try:
        async with appliance.pool.watching(slot), _open_bridge(slot) as bridge:
            bridged.set_result(bridge)
            async for data in bridge:
                await socket.send_bytes(data if isinstance(data, bytes) else data.encode())
    except WebSocketDisconnect:
        return None
    except (DisplayUnavailable, OSError, ConnectionClosed, InvalidHandshake, TimeoutError) as error:
        # When a run ends, its display goes away under the viewer: no fault.
        if appliance.dispatcher.find_slot(session_id) is not None:
            said = error.message if isinstance(error, DisplayUnavailable) else type(error).__name__
            raise DisplayUnavailable(f"The picture of slot {slot.number} could not be had: {said}") from error
    return _ENDED if appliance.dispatcher.find_slot(session_id) is None else _BROKEN


async def _wait_for_slot(appliance: Appliance, session_id: UUID) -> Slot | None:
    """Return the session's slot once its display is up, None when the session works no more."""
    async with appliance.hub.watch(session_id) as watch:
        while True:
            slot = appliance.dispatcher.find_slot(session_id)
            if slot is not None and await appliance.pool.is_display_up(slot):
                return slot
            if slot is None and (await load_session_view(appliance.database, session_id)).phase in ("ended", "resting"):
                return None
            # A display that starts rings no bell, but is up within a moment.
            await watch.wait(_LOOK_ANYWAY if slot is None else _DISPLAY_STARTS)


@asynccontextmanager
async def _open_bridge(slot: Slot) -> AsyncGenerator[ClientConnection]:
    async with connect(
        slot.bridge_url, compression=None, max_size=None, ping_interval=None, proxy=None, open_timeout=_CONNECT_CAP
    ) as bridge:
        yield bridge


async def _first_of(*parts: Coroutine[Any, Any, int | None]) -> int | None:
    """Run the parts together, return or raise what the first one to end does, and end the others."""
    tasks = [asyncio.ensure_future(part) for part in parts]
    try:
        done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        return next(iter(done)).result()
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


async def _close(socket: Socket, code: int) -> None:
    try:
        await socket.close(code=code)
    except (WebSocketDisconnect, RuntimeError):
        # The viewer was quicker.
        return
