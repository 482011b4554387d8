"""The runtime at work: a supervisor with displays, a dispatcher, and a scripted model server, all of a test's own."""

import asyncio
import os
import shutil
import subprocess
import tempfile
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any
from uuid import UUID

import psutil

from appliance.events import Notice
from appliance.persistence.database import Database
from appliance.persistence.records import SessionRecord
from appliance.runtime.assembly import make_equipment
from appliance.runtime.choices import ModelRules
from appliance.runtime.dispatcher import Dispatcher
from appliance.runtime.equipment import Equipment
from appliance.runtime.folders import browsers_dir, prepare_data_dir
from appliance.runtime.held import HeldBrowser
from appliance.runtime.sessions import Sessions
from appliance.runtime.wishes import SessionWish
from appliance.settings import Settings
from appliance.words import RunStatus
from tests.appliance.displays.machine import (
    connect,
    find_free_base,
    free_shared_memory,
    start_supervisord,
    stop_supervisord,
    write_script,
)
from tests.ports import find_free_ports
from tests.stand_in import StandIn

PATIENCE = 90.0
"""Seconds that a test waits for something that a slow machine takes its time for."""


@dataclass
class Rig:
    """What a test works with; the dispatcher is started."""

    equipment: Equipment
    dispatcher: Dispatcher
    sessions: Sessions
    stand_in: StandIn
    supervisord: subprocess.Popen[bytes]

    async def create(self, task: str, steps: list[Any] | None = None, **wish: Any) -> SessionRecord:
        """Give a task whose steps the stand-in answers so; the first word of the task is its marker."""
        if steps is not None:
            self.stand_in.add(task.split(maxsplit=1)[0], steps)
        return await self.sessions.create(SessionWish(task=task, model="house-model", **wish))

    async def run(self, task: str, steps: list[Any] | None = None, **wish: Any) -> SessionRecord:
        """Give a task and return its session once the run has ended."""
        return await self.ended(await self.create(task, steps, **wish))

    async def ended(self, session: SessionRecord) -> SessionRecord:
        async def is_over() -> bool:
            return all(run.status is RunStatus.ENDED for run in await self.sessions.list_runs(session.id))

        await self.until(session.id, is_over)
        return await self.sessions.find(session.id)

    async def until(self, session_id: UUID, condition: Callable[[], Any]) -> None:
        """Wait until the condition, which may be a coroutine function, is true."""
        async with asyncio.timeout(PATIENCE), self.equipment.hub.watch(session_id) as watch:
            while not await _value(condition):
                await watch.wait(0.1)

    async def eventually(self, condition: Callable[[], Any]) -> None:
        """Wait for something that rings no bell."""
        async with asyncio.timeout(PATIENCE):
            while not await _value(condition):  # noqa: ASYNC110
                await asyncio.sleep(0.05)

    async def notices(self, session: SessionRecord) -> list[str]:
        page = await self.sessions.read_events(session.id)
        return [record.event.code for record in page.events if isinstance(record.event, Notice)]

    def lease(self) -> HeldBrowser:
        """Return a browser of nobody's, not open yet, on a free slot; whoever asks closes it."""
        slot = self.equipment.pool.try_lease()
        assert slot is not None
        return HeldBrowser(self.equipment, slot)

    def asked(self, marker: str) -> int:
        """Return how many steps of a task the model was asked for."""
        return sum(step.marker == marker for step in self.stand_in.steps)

    def chromiums(self) -> list[psutil.Process]:
        """Return the browsers of this rig, without the processes that they start themselves."""
        mark = f"--user-data-dir={browsers_dir(self.equipment.settings)}"
        return [process for process in psutil.Process().children() if _is_browser(process, mark)]

    def displays(self) -> list[psutil.Process]:
        found = psutil.Process(self.supervisord.pid).children(recursive=True)
        return [process for process in found if any("Xvfb" in word for word in _words(process))]


async def _value(condition: Callable[[], Any]) -> Any:
    value = condition()
    return await value if asyncio.iscoroutine(value) else value


def _words(process: psutil.Process) -> list[str]:
    try:
        return process.cmdline()
    except psutil.NoSuchProcess:
        return []


def _is_browser(process: psutil.Process, mark: str) -> bool:
    return any(word.startswith(mark) for word in _words(process))


@asynccontextmanager
async def open_rig(folder: Path, database: Database, **settings: Any) -> AsyncIterator[Rig]:
    """Start everything, and end it so that nothing is left."""
    # pytest's own folders have paths too long for sockets.
    run_dir = Path(tempfile.mkdtemp(prefix="ph-rig-"))
    with StandIn() as stand_in:
        slots = settings.get("max_concurrent_sessions", 1)
        chosen = Settings(
            data_dir=folder / "data",
            run_dir=run_dir,
            bridge_port_base=find_free_ports(slots),
            cdp_port_base=find_free_ports(slots),
            display_base=find_free_base(slots) + 30_000,
            compatible_base_url=stand_in.compatible_url,
            compatible_models=("house-model",),
            browse_private=("loopback",),
            reviewer=False,
            **settings,
        )
        prepare_data_dir(chosen)
        equipment = make_equipment(chosen, database, b"a secret of the tests, long enough")
        bin_dir = folder / "bin"
        bin_dir.mkdir()
        for name in ("supervisord", "python"):
            write_script(bin_dir / name, f'exec {equipment.pool.layout.bin_dir / name} "$@"')
        write_script(bin_dir / "pilothouse", "exec sleep infinity")
        layout = replace(equipment.pool.layout, bin_dir=bin_dir)
        supervisord = start_supervisord(layout)
        before, os.environ["XAUTHORITY"] = os.environ.get("XAUTHORITY"), str(layout.xauthority)
        dispatcher = Dispatcher(equipment)
        sessions = Sessions(database, equipment.hub, dispatcher, ModelRules(equipment.keys), equipment.seal)
        try:
            await connect(layout, supervisord)
            dispatcher.start()
            yield Rig(equipment, dispatcher, sessions, stand_in, supervisord)
        finally:
            await dispatcher.close()
            await equipment.pool.close()
            await asyncio.to_thread(stop_supervisord, supervisord)
            os.environ.pop("XAUTHORITY") if before is None else os.environ.update(XAUTHORITY=before)
            free_shared_memory(run_dir)
            shutil.rmtree(run_dir, ignore_errors=True)
