"""The slots: who holds which, its display made ready, its view shown while somebody looks, and everything handed back.

One lock for each slot orders what happens to its processes; `changed` tells a waiting dispatcher that a slot is free.
"""

import asyncio
import contextlib
from collections.abc import AsyncGenerator, Callable
from dataclasses import dataclass, field
from pathlib import Path

import structlog

from appliance.displays.layout import PoolLayout, write_private
from appliance.displays.probe import find_listener, is_port_free, is_port_served
from appliance.displays.slot import Slot
from appliance.displays.supervisor import ProcessState, Supervisor
from appliance.errors import DisplayUnavailable, MachineFault

_READY_CAP = 10.0
_FIRST_LOOK_AGAIN = 0.004
_LONGEST_LOOK_AGAIN = 0.05

log = structlog.get_logger()


@dataclass
class _Lease:
    slot: Slot
    is_resting: bool = False
    viewers: int = 0
    grace: asyncio.TimerHandle | None = None
    lock: asyncio.Lock = field(default_factory=asyncio.Lock)


class SlotPool:
    """The slots of one `PoolLayout`, driven through `supervisor`.

    `view_grace` is how many seconds the view outlives its last viewer. `changed` is set whenever a slot became free;
    whoever waits for it clears it first, then tries to lease.
    """

    def __init__(self, supervisor: Supervisor, layout: PoolLayout, *, view_grace: float = 10.0) -> None:
        self.layout = layout
        self.changed = asyncio.Event()
        self._supervisor = supervisor
        self._view_grace = view_grace
        self._leases: dict[int, _Lease] = {}
        self._stopping_views: set[asyncio.Task[None]] = set()

    @property
    def free(self) -> int:
        """How many slots nobody holds."""
        return self.layout.slots - len(self._leases)

    @property
    def leased(self) -> tuple[Slot, ...]:
        """The slots that are held, by number."""
        return tuple(self._leases[number].slot for number in sorted(self._leases))

    @property
    def at_work(self) -> int:
        """How many slots are held by somebody who does something there."""
        return sum(not lease.is_resting for lease in self._leases.values())

    def rest(self, slot: Slot, *, is_resting: bool = True) -> None:
        """Note that the slot stays held but nothing is done there for now, or that there is again."""
        lease = self._leases.get(slot.number)
        if lease is not None and lease.slot == slot:
            lease.is_resting = is_resting

    def try_lease(self) -> Slot | None:
        """Hold the first free slot; None when all are held."""
        for number in range(self.layout.slots):
            if number not in self._leases:
                slot = self.layout.slot(number)
                self._leases[number] = _Lease(slot)
                return slot
        return None

    async def prepare(self, slot: Slot, width: int = 1920, height: int = 1080) -> None:
        """Start a fresh display of `width` x `height` pixels for the slot and wait until it answers.

        Raises DisplayUnavailable when there is none after all; the slot stays held.
        """
        lease = self._find(slot)
        async with lease.lock, _as_unavailable():
            # What an earlier lease left running may still show that session's windows.
            await self._stop_all(slot)
            write_private(self.layout.screen_file(slot.number), f"{width}x{height}\n".encode())
            await self._supervisor.start(_name("display", slot))
            await self._wait_for_listener("display", slot, self.layout.display_socket(slot.number))

    async def is_display_up(self, slot: Slot) -> bool:
        """Whether the slot's own X server answers at this moment; False too when supervisord does not."""
        try:
            info = await self._supervisor.find(_name("display", slot))
        except MachineFault:
            return False
        return info.pid > 0 and find_listener(self.layout.display_socket(slot.number)) == info.pid

    async def show(self, slot: Slot) -> None:
        """Count one viewer in; on the first look start VNC server and bridge together and wait until both answer.

        Raises DisplayUnavailable, with the viewer not counted, when the view cannot be had or the lease is over.
        """
        lease = self._find(slot)
        lease.viewers += 1
        _cancel_grace(lease)
        try:
            async with lease.lock, _as_unavailable():
                self._find(slot)
                await self._start_view(slot)
        except BaseException:
            self.hide(slot)
            raise

    def hide(self, slot: Slot) -> None:
        """Count one viewer out; when it was the last, the view stops after the grace. Nothing happens after release."""
        lease = self._leases.get(slot.number)
        if lease is None or lease.slot != slot:
            return
        lease.viewers = max(0, lease.viewers - 1)
        if lease.viewers == 0 and lease.grace is None:
            lease.grace = asyncio.get_running_loop().call_later(self._view_grace, self._stop_view, lease)

    @contextlib.asynccontextmanager
    async def watching(self, slot: Slot) -> AsyncGenerator[Slot]:
        """Keep the view of the slot up inside the block; raises as `show` does."""
        await self.show(slot)
        try:
            yield slot
        finally:
            self.hide(slot)

    async def release(self, slot: Slot) -> None:
        """Stop the slot's processes and hand it back, which happens whatever goes wrong; twice does no harm."""
        lease = self._leases.get(slot.number)
        if lease is None or lease.slot != slot:
            return
        _cancel_grace(lease)
        try:
            async with lease.lock:
                await self._stop_all(slot)
        except MachineFault as error:
            log.warning("slot released with its display perhaps running", slot=slot.number, reason=error.message)
        finally:
            if self._leases.get(slot.number) is lease:
                del self._leases[slot.number]
                self.changed.set()

    async def sweep(self) -> None:
        """Stop whatever runs for slots that nobody holds: leftovers of a web process that was killed.

        Raises SupervisorUnreachable when there is no supervisord.
        """
        numbers = [number for number in range(self.layout.slots) if number not in self._leases]
        swept = {_name(pool, self.layout.slot(number)) for number in numbers for pool in ("bridge", "vnc", "display")}
        for info in await self._supervisor.list():
            if info.name in swept and info.state.is_alive:
                await self._supervisor.stop(info.name)
        for number in numbers:
            self._clear_up(self.layout.slot(number))

    async def close(self) -> None:
        """Release every slot."""
        await asyncio.gather(*(self.release(slot) for slot in self.leased))

    def _find(self, slot: Slot) -> _Lease:
        lease = self._leases.get(slot.number)
        if lease is None or lease.slot != slot:
            raise DisplayUnavailable("The browser of this session has been closed, so there is nothing to show.")
        return lease

    async def _start_view(self, slot: Slot) -> None:
        bridge = await self._supervisor.find(_name("bridge", slot))
        if not bridge.state.is_alive and not is_port_free(slot.bridge_port):
            raise DisplayUnavailable(
                f"Port {slot.bridge_port}, where the view of slot {slot.number} is served, is used by another program; "
                "end it or set BRIDGE_PORT_BASE."
            )
        write_private(
            self.layout.token_file(slot.number), f"{slot.bridge_token}: unix_socket:{slot.vnc_socket}\n".encode()
        )
        await asyncio.gather(*(self._supervisor.start(_name(pool, slot)) for pool in ("vnc", "bridge")))
        await self._wait_for_listener("vnc", slot, slot.vnc_socket)
        await self._wait_until("bridge", slot, lambda _: is_port_served(slot.bridge_port))

    def _stop_view(self, lease: _Lease) -> None:
        """Stop the view in the background; called by the grace's timer."""
        lease.grace = None
        task = asyncio.create_task(self._stop_unseen_view(lease), name=f"stop-view-{lease.slot.number}")
        self._stopping_views.add(task)
        task.add_done_callback(self._stopping_views.discard)

    async def _stop_unseen_view(self, lease: _Lease) -> None:
        async with lease.lock:
            if lease.viewers or self._leases.get(lease.slot.number) is not lease:
                return
            try:
                await self._stop(lease.slot, "bridge", "vnc")
            except MachineFault as error:
                log.warning("view not stopped", slot=lease.slot.number, reason=error.message)

    async def _stop_all(self, slot: Slot) -> None:
        await self._stop(slot, "bridge", "vnc", "display")
        self.layout.token_file(slot.number).unlink(missing_ok=True)
        self._clear_up(slot)

    def _clear_up(self, slot: Slot) -> None:
        """Take away what an X server leaves that was killed; one that ends by itself has taken it along."""
        if find_listener(self.layout.display_socket(slot.number)) is None:
            for path in (self.layout.display_socket(slot.number), self.layout.display_lock(slot.number)):
                with contextlib.suppress(OSError):
                    path.unlink()

    async def _stop(self, slot: Slot, *pools: str) -> None:
        for pool in pools:
            await self._supervisor.stop(_name(pool, slot))

    async def _wait_for_listener(self, pool: str, slot: Slot, path: Path) -> None:
        """Wait until the pool's own process listens on `path`; a stranger's socket there does not count."""
        await self._wait_until(pool, slot, lambda pid: find_listener(path) == pid)

    async def _wait_until(self, pool: str, slot: Slot, is_ready: Callable[[int], bool]) -> None:
        loop = asyncio.get_running_loop()
        deadline = loop.time() + _READY_CAP
        pause = _FIRST_LOOK_AGAIN
        while True:
            info = await self._supervisor.find(_name(pool, slot))
            if info.state is ProcessState.RUNNING and is_ready(info.pid):
                return
            if not info.state.is_alive:
                raise self._unavailable(pool, slot, "did not start")
            if loop.time() > deadline:
                raise self._unavailable(pool, slot, f"did not answer within {_READY_CAP:.0f} s")
            await asyncio.sleep(pause)
            pause = min(pause * 1.5, _LONGEST_LOOK_AGAIN)

    def _unavailable(self, pool: str, slot: Slot, what: str) -> DisplayUnavailable:
        path = self.layout.log_file(pool, slot.number)
        reason = _last_line(path)
        return DisplayUnavailable(
            f"The {_WORDS[pool]} of slot {slot.number} {what}{f': {reason}' if reason else ''}; see {path}."
        )


_WORDS = {"display": "display", "vnc": "VNC server", "bridge": "view's bridge"}


def _cancel_grace(lease: _Lease) -> None:
    if lease.grace is not None:
        lease.grace.cancel()
        lease.grace = None


def _name(pool: str, slot: Slot) -> str:
    """Return supervisord's name of the slot's process in `pool`."""
    return f"{pool}:{pool}-{slot.number:02d}"


def _last_line(path: Path) -> str:
    """Return what the process said last, without its final stop; empty when it said nothing."""
    try:
        lines = path.read_bytes()[-2000:].decode(errors="replace").split("\n")
    except OSError:
        return ""
    spoken = [line.strip().rstrip(".") for line in lines if line.strip()]
    return spoken[-1][:200] if spoken else ""


@contextlib.asynccontextmanager
async def _as_unavailable() -> AsyncGenerator[None]:
    """Turn supervisord's own faults, and files that cannot be written, into the one fault that callers know."""
    try:
        yield
    except DisplayUnavailable:
        raise
    except MachineFault as error:
        raise DisplayUnavailable(f"No display can be had: {error.message}") from error
    except OSError as error:
        raise DisplayUnavailable(
            f"No display can be had: {error.filename} cannot be written ({error.strerror})."
        ) from error
