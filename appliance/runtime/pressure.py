"""How much of the time work on this machine waits for a processor, as the kernel tells it, and what people are told.

Told in the feed of every run that works meanwhile: when the machine is hard pressed, how hard, and when it is over.
"""

import asyncio
import os
import re
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager, suppress
from enum import IntEnum
from pathlib import Path

import structlog

from appliance.errors import DatabaseUnavailable, NotFound
from appliance.events import Notice
from appliance.feed.writer import Feed
from appliance.persistence.records import RunRecord

PSI = Path("/proc/pressure/cpu")

LOOK_EVERY = 5.0
"""Seconds between two looks during a run; the kernel's figure is one of ten seconds."""

_SOME = re.compile(r"^some avg10=([\d.]+)", re.MULTILINE)
_STALL_PER_LOAD = 0.6
_LOAD_WITHOUT_STALL = 0.75
_STICKINESS = 0.8
"""A level is left for a lower one below this share of where it begins, so that a figure near it tells no tales."""

log = structlog.get_logger()


class Level(IntEnum):
    """How hard the machine is pressed."""

    CALM = 0
    ELEVATED = 1
    SATURATED = 2


_BEGINS = {Level.ELEVATED: 0.15, Level.SATURATED: 0.30}
_TOLD = {
    Level.CALM: "The machine is not hard pressed any more.",
    Level.ELEVATED: "The machine is hard pressed: for {percent} % of the time work waits for a processor, so pages and "
    "steps may take longer.",
    Level.SATURATED: "The machine has more work than it can do: for {percent} % of the time work waits for a "
    "processor. Pages may run out of time; let fewer sessions work at once or give it more processors.",
}


def read_stall(psi: Path = PSI) -> float:
    """Return the share (0 to 1) of the last ten seconds in which some work waited for a processor.

    A kernel that does not tell it is judged by its load: 0.15 at one task per core, 0.3 at one and a quarter.
    """
    try:
        found = _SOME.search(psi.read_text())
    except OSError:
        found = None
    if found is not None:
        return min(float(found[1]) / 100, 1.0)
    return stall_of_load(os.getloadavg()[0] / (os.cpu_count() or 1))


def stall_of_load(load: float) -> float:
    """Return the share of time that a load, in tasks per core, stands for."""
    return min(max(load - _LOAD_WITHOUT_STALL, 0.0) * _STALL_PER_LOAD, 1.0)


def level_of(stall: float, before: Level = Level.CALM) -> Level:
    """Return the level at such a stall, for a machine that was at another level before."""
    level = max((level for level, begins in _BEGINS.items() if stall >= begins), default=Level.CALM)
    sticks = [known for known in _BEGINS if known <= before and stall >= _BEGINS[known] * _STICKINESS]
    return max(level, *sticks, Level.CALM)


@asynccontextmanager
async def telling_pressure(
    feed: Feed, run: RunRecord, stall: Callable[[], float], every: float = LOOK_EVERY
) -> AsyncGenerator[None]:
    """Tell the run's feed how hard the machine is pressed, first of all and whenever the level changes meanwhile.

    `stall` is asked again after so many seconds.
    """
    is_over = asyncio.Event()
    telling = asyncio.create_task(_tell_changes(feed, run, stall, is_over, every), name=f"pressure of {run.id}")
    try:
        yield
    finally:
        is_over.set()
        await asyncio.wait({telling})


async def _tell_changes(
    feed: Feed, run: RunRecord, stall: Callable[[], float], is_over: asyncio.Event, every: float
) -> None:
    told = Level.CALM
    while not is_over.is_set():
        try:
            told = await _tell_change(feed, run, stall(), told)
        except NotFound:
            return
        except DatabaseUnavailable as error:
            log.warning("how hard the machine is pressed could not be told", run=str(run.id), reason=error.message)
        except Exception:
            # No reason to end a run.
            log.exception("how hard the machine is pressed could not be told", run=str(run.id))
        with suppress(TimeoutError):
            async with asyncio.timeout(every):
                await is_over.wait()


async def _tell_change(feed: Feed, run: RunRecord, stall: float, told: Level) -> Level:
    """Tell the feed if the level is not the one that was told last; returns the one it knows by now."""
    level = level_of(stall, told)
    if level is not told:
        text = _TOLD[level].format(percent=round(stall * 100))
        await feed.append(
            run.session_id, run.id, Notice(code="pressure", text=text, is_trouble=level is not Level.CALM)
        )
    return level
