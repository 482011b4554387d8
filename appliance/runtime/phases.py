"""What a run and its browser hold of the machine: each is entered, and undoes itself when it is left.

Undoing is capped in time and never raises, so that one part that does not let go cannot keep the others.
"""

import asyncio
import shutil
import time
from collections.abc import AsyncGenerator, Awaitable
from contextlib import asynccontextmanager
from importlib import import_module
from pathlib import Path

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
from appliance.persistence.ids import new_id
from appliance.persistence.processes import forget_process, remember_process
from appliance.persistence.records import ProcessRecord
from appliance.runtime.equipment import Equipment
from appliance.runtime.folders import SessionFolders, browsers_dir
from appliance.runtime.processes import read_start_ticks
from appliance.workspaces.sandbox import Sandbox

_UNDO_CAP = 8.0

log = structlog.get_logger()


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
async def user_data_dir(equipment: Equipment) -> AsyncGenerator[Path]:
    """A fresh folder for a browser, deleted afterwards."""
    # Chromium opens a socket in there, whose path must be short: of an id, the random end is enough.
    folder = browsers_dir(equipment.settings) / new_id().hex[-12:]
    try:
        await asyncio.to_thread(folder.mkdir, parents=True, mode=0o700)
    except OSError as error:
        raise BrowserUnavailable(f"The browser's folder {folder} cannot be made ({error.strerror}).") from error
    try:
        yield folder
    finally:
        await _undo("browser folder", asyncio.to_thread(shutil.rmtree, folder, ignore_errors=True))


@asynccontextmanager
async def way_out(equipment: Equipment) -> AsyncGenerator[Relay]:
    """The relay that all connections of a browser go through, closed afterwards."""
    relay = await Relay.open(equipment.policy)
    try:
        yield relay
    finally:
        await _undo("way out", relay.close())


@asynccontextmanager
async def chromium_on(
    equipment: Equipment, slot: Slot, screen: tuple[int, int], folder: Path, relay: Relay
) -> AsyncGenerator[Chromium]:
    """Chromium on the slot's display, written down so that a restart could find it, ended afterwards."""
    settings, (width, height) = equipment.settings, screen
    options = ChromiumOptions(
        path=settings.chromium_path,
        display=slot.display,
        cdp_port=slot.cdp_port,
        user_data_dir=folder,
        width=width,
        height=height,
        flags=(*relay.flags, *settings.chromium_flags.split()),
        sandbox=settings.chromium_sandbox,
    )
    chromium = await Chromium.start(options)
    try:
        async with _remembered(equipment.database, chromium.pgid):
            yield chromium
    finally:
        await _undo("chromium", chromium.stop())


@asynccontextmanager
async def attached(slot: Slot, screen: tuple[int, int], chromium: Chromium, relay: Relay) -> AsyncGenerator[Browser]:
    """The connection to the browser, closed afterwards; it downloads nothing before it is told where to."""

    async def grab_display() -> Screenshot:
        return Screenshot(await grab(slot.display), "image/jpeg", *screen)

    browser = await Browser.attach(
        chromium.websocket_url, policy=relay.policy, chromium_exited=chromium.exited, grab=grab_display
    )
    browser.use_relay(relay)
    try:
        yield browser
    finally:
        await _undo("connection", browser.close())


@asynccontextmanager
async def _remembered(database: Database, pgid: int) -> AsyncGenerator[None]:
    """Write the group down beside what follows, since no browser need wait for the disk; strike it off at the end."""
    process = ProcessRecord(pgid, "chromium", read_start_ticks(pgid) or 0)

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


def load_agents() -> None:
    """Import what an idle server does not carry; for a thread."""
    import_module("appliance.runtime.agents")


def _load(equipment: Equipment, entry: ModelEntry) -> Model:
    load_agents()
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
