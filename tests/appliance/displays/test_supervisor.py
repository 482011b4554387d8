import asyncio
from pathlib import Path

import pytest

from appliance.displays.supervisor import Fault, ProcessState, Supervisor, SupervisorFault, SupervisorUnreachable
from tests.appliance.displays.conftest import Machine


async def test_programs_start_and_stop_as_often_as_asked(machine: Machine) -> None:
    supervisor = machine.supervisor
    await supervisor.start("display:display-01")
    await supervisor.start("display:display-01")
    started = await supervisor.find("display:display-01")
    await supervisor.stop("display:display-01")
    await supervisor.stop("display:display-01")
    stopped = await supervisor.find("display:display-01")

    assert (started.state, started.pid > 0) == (ProcessState.RUNNING, True)
    assert (stopped.state.is_alive, stopped.pid) == (False, 0)


async def test_each_pool_has_a_program_for_each_slot(machine: Machine) -> None:
    names = {info.name for info in await machine.supervisor.list()}

    assert names == {"web:web"} | {f"{pool}:{pool}-0{n}" for pool in ("display", "vnc", "bridge") for n in (0, 1)}


async def test_a_fault_carries_its_kind(machine: Machine) -> None:
    with pytest.raises(SupervisorFault, match="startProcess\\(display:display-77\\)") as failure:
        await machine.supervisor.start("display:display-77")

    assert failure.value.fault is Fault.NO_SUCH_PROGRAM


async def test_a_supervisor_that_is_not_there_is_unreachable(tmp_path: Path) -> None:
    with pytest.raises(SupervisorUnreachable, match="pilothouse supervise"):
        await Supervisor(tmp_path / "nobody.sock").list()


async def test_a_supervisor_that_says_nothing_is_given_up(tmp_path: Path) -> None:
    async def keep_silent(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read()
        writer.close()
        closed.set()

    closed = asyncio.Event()

    server = await asyncio.start_unix_server(keep_silent, tmp_path / "s.sock")
    async with server:
        with pytest.raises(SupervisorUnreachable, match="did not answer"):
            await Supervisor(tmp_path / "s.sock", timeout=0.1).list()
        await closed.wait()


async def test_a_supervisor_that_breaks_off_is_unreachable(tmp_path: Path) -> None:
    async def break_off(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read(10)
        writer.close()

    server = await asyncio.start_unix_server(break_off, tmp_path / "s.sock")
    async with server:
        with pytest.raises(SupervisorUnreachable):
            await Supervisor(tmp_path / "s.sock").list()


async def test_calls_at_the_same_time_do_not_wait_for_each_other(machine: Machine) -> None:
    supervisor = machine.supervisor
    await asyncio.gather(*(supervisor.start(f"display:display-0{n}") for n in (0, 1)))
    infos = await asyncio.gather(*(supervisor.find(f"display:display-0{n}") for n in (0, 1) for _ in range(10)))

    assert all(info.state is ProcessState.RUNNING for info in infos)
