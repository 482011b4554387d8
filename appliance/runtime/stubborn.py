"""Writes down what must not be lost, also when the database is out of order for a few seconds."""

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

import structlog

from appliance.errors import DatabaseUnavailable
from appliance.persistence.database import Database, Transaction

_PAUSES = (0.5, 1.0, 2.0, 4.0)

T = TypeVar("T")

log = structlog.get_logger()


async def submit_stubbornly(database: Database, write: Callable[[Transaction], Coroutine[Any, Any, T]], what: str) -> T:
    """Return what `write` returns, submitted again for 7.5 s, after which DatabaseUnavailable is raised.

    `what` says in the log what could not be written yet.
    """
    for pause in _PAUSES:
        try:
            return await database.writer.submit(write)
        except DatabaseUnavailable as error:
            log.error("something could not be written yet", what=what, reason=error.message)
            await asyncio.sleep(pause)
    return await database.writer.submit(write)
