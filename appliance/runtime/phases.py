"""The phases of a run that hold something of the machine: each is entered, and undoes itself when it is left.

Undoing is capped in time and never raises, so that one part that does not let go cannot keep the others.
"""

import asyncio
import shutil
import time
from collections.abc import AsyncGenerator, Awaitable
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from importlib import import_module
from pathlib import Path
from uuid import UUID

import structlog

from appliance.browser.chromium import Chromium, ChromiumOptions
from appliance.browser.connection import Browser
from appliance.browser.observation import Screenshot
from appliance.browser.relay import Relay
from appliance.displays.screen import grab
from appliance.displays.slot import Slot
from appliance.errors import BrowserUnavailable, MachineFault, PilothouseError
from appliance.models.base import Model
from appliance.models.catalog import ModelEntry
from appliance.models.providers import open_model
from appliance.persistence.database import Database, Transaction
from appliance.persistence.processes import forget_process, remember_process
from appliance.persistence.records import ProcessRecord, SessionRecord
from appliance.runtime.equipment import Equipment
from appliance.runtime.folders import SessionFolders, browsers_dir
from appliance.runtime.processes import read_start_ticks
from appliance.workspaces.sandbox import Sandbox

_UNDO_CAP = 8.0
_SCREEN = (1920, 1080)

log = structlog.get_logger()


@dataclass(frozen=True)
class Place:
    """Where a run works: its session, its slot and its folders."""

    session: SessionRecord
    run_id: UUID
    slot: Slot
    folders: SessionFolders

    @property
    def screen(self) -> tuple[int, int]:
        """Width and height of the display in pixels."""
        wished = (self.session.screen_width, self.session.screen_height)
        return (wished[0] or _SCREEN[0], wished[1] or _SCREEN[1])


class Laps:
    """How long each phase took, in milliseconds, for the log."""

    def __init__(self) -> None:
        self.times: dict[str, int] = {}
        self._last = time.monotonic()

    def mark(self, phase: str) -> None:
        """Note that a phase has ended just now."""
        now = time.monotonic()
        self.times[phase] = round((now - self._last) * 1000)
        self._last = now


async def make_folders(folders: SessionFolders) -> None:
    """Make the session's folders, which stay; raises MachineFault when the disk refuses."""
    try:
        await asyncio.to_thread(folders.make)
    except OSError as error:
        raise MachineFault(
            f"The session's folder {folders.root} cannot be made ({error.strerror}); make room or correct DATA_DIR."
        ) from error


@asynccontextmanager
async def loading_model(equipment: Equipment, entry: ModelEntry) -> AsyncGenerator[asyncio.Task[Model]]:
    """Load the agent's parts and open the model in the background, beside the phases that follow."""
    opening = asyncio.create_task(asyncio.to_thread(_load, equipment, entry), name=f"opening {entry.name}")
    try:
        yield opening
    finally:
        await _undo("model", _close_model(opening))


@asynccontextmanager
async def room_for_scripts(equipment: Equipment) -> AsyncGenerator[asyncio.Task[Sandbox | None]]:
    """Find out, beside the phases that follow, whether scripts can be run; their process is ended afterwards."""
    opening = asyncio.create_task(equipment.sandboxes.open(), name="opening a sandbox")
    try:
        yield opening
    finally:
        await _undo("sandbox", _close_sandbox(opening))


@asynccontextmanager
async def user_data_dir(equipment: Equipment, run_id: UUID) -> AsyncGenerator[Path]:
    """A fresh folder for a browser, deleted afterwards."""
    # Chromium opens a socket in there, whose path must be short: of the id, the random end is enough.
    folder = browsers_dir(equipment.settings) / run_id.hex[-12:]
    try:
        await asyncio.to_thread(folder.mkdir, parents=True, mode=0o700)
    except OSError as error:
        raise BrowserUnavailable(f"The browser's folder {folder} cannot be made ({error.strerror}).") from error
    try:
        yield folder
    finally:
        await _undo("browser folder", asyncio.to_thread(shutil.rmtree, folder, ignore_errors=True))


@asynccontextmanager
async def way_out(equipment: Equipment, place: Place) -> AsyncGenerator[Relay]:
    """The relay that all connections of the browser go through, closed afterwards."""
    relay = await Relay.open(replace(equipment.policy, allowed_domains=place.session.allowed_domains))
    try:
        yield relay
    finally:
        await _undo("way out", relay.close())


@asynccontextmanager
async def chromium_on(equipment: Equipment, place: Place, folder: Path, relay: Relay) -> AsyncGenerator[Chromium]:
    """Chromium on the slot's display, written down so that a restart could find it, ended afterwards."""
    settings, (width, height) = equipment.settings, place.screen
    options = ChromiumOptions(
        path=settings.chromium_path,
        display=place.slot.display,
        cdp_port=place.slot.cdp_port,
        user_data_dir=folder,
        width=width,
        height=height,
        flags=(*relay.flags, *settings.chromium_flags.split()),
        sandbox=settings.chromium_sandbox,
    )
    chromium = await Chromium.start(options)
    try:
        async with _remembered(equipment.database, chromium.pgid, place.session.id):
            yield chromium
    finally:
        await _undo("chromium", chromium.stop())


@asynccontextmanager
async def attached(place: Place, chromium: Chromium, relay: Relay) -> AsyncGenerator[Browser]:
    """The connection to the browser, closed afterwards."""

    async def grab_display() -> Screenshot:
        return Screenshot(await grab(place.slot.display), "image/jpeg", *place.screen)

    browser = await Browser.attach(
        chromium.websocket_url,
        policy=relay.policy,
        downloads_dir=place.folders.downloads,
        chromium_exited=chromium.exited,
        grab=grab_display,
    )
    browser.use_relay(relay)
    try:
        yield browser
    finally:
        await _undo("connection", browser.close())


@asynccontextmanager
async def _remembered(database: Database, pgid: int, session_id: UUID) -> AsyncGenerator[None]:
    """Write the group down beside what follows, since no browser need wait for the disk; strike it off at the end."""
    process = ProcessRecord(pgid, "chromium", read_start_ticks(pgid) or 0, session_id)

    async def write(transaction: Transaction) -> None:
        await remember_process(transaction, process)

    async def strike_off(transaction: Transaction) -> None:
        await forget_process(transaction, pgid)

    writing = asyncio.create_task(database.writer.submit(write))
    try:
        yield
    finally:
        await asyncio.wait({writing})
        await _undo("process record", database.writer.submit(strike_off))


def _load(equipment: Equipment, entry: ModelEntry) -> Model:
    """Import what an idle server does not carry and open the model; runs in a thread."""
    import_module("appliance.runtime.agents")
    return open_model(entry, equipment.keys)


async def _close_model(opening: asyncio.Task[Model]) -> None:
    await asyncio.wait({opening})
    if not opening.cancelled() and opening.exception() is None:
        await opening.result().close()


async def _close_sandbox(opening: asyncio.Task[Sandbox | None]) -> None:
    await asyncio.wait({opening})
    if not opening.cancelled() and opening.exception() is None and (sandbox := opening.result()) is not None:
        await sandbox.close()


async def _undo(what: str, undoing: Awaitable[None]) -> None:
    try:
        async with asyncio.timeout(_UNDO_CAP):
            await undoing
    except (PilothouseError, OSError, RuntimeError) as error:
        log.warning("a part of a run did not let go", part=what, reason=str(error) or type(error).__name__)
