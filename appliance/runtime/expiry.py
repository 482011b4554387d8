"""Times out the sessions that are never given a task, each a quarter of an hour after it was made."""

import asyncio
from datetime import timedelta
from uuid import UUID

import structlog

from appliance.errors import DatabaseUnavailable
from appliance.feed.hub import Hub
from appliance.persistence.columns import utc_now
from appliance.persistence.database import Database, Transaction
from appliance.persistence.sessions import expire_shells, find_oldest_shell

LIFETIME = timedelta(minutes=15)
_LOOK_ANYWAY = 60.0
_TRY_AGAIN = 5.0

log = structlog.get_logger()


class Expiry:
    """Works from `start` to `close`.

    It sleeps until the oldest such session is due, a minute at most, since the clock may be set.
    """

    def __init__(self, database: Database, hub: Hub, lifetime: timedelta = LIFETIME) -> None:
        self._database = database
        self._hub = hub
        self._lifetime = lifetime
        self._task: asyncio.Task[None] | None = None

    def start(self) -> None:
        """Begin, with what is overdue already."""
        self._task = asyncio.create_task(self._run(), name="expiry")

    async def close(self) -> None:
        """Stop; twice does no harm."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.wait({self._task})

    async def _run(self) -> None:
        while True:
            try:
                await self._expire_and_sleep()
            except DatabaseUnavailable as error:
                log.error("sessions without a task could not be looked at", reason=error.message)
                await asyncio.sleep(_TRY_AGAIN)

    async def _expire_and_sleep(self) -> None:
        async with self._database.read() as transaction:
            oldest = await find_oldest_shell(transaction)
        # What is made from now on is not due before its lifetime is over.
        oldest = oldest or utc_now()
        left = (oldest + self._lifetime - utc_now()).total_seconds()
        if left <= 0:
            await self._expire()
        else:
            await asyncio.sleep(min(left, _LOOK_ANYWAY))

    async def _expire(self) -> None:
        before = utc_now() - self._lifetime

        async def write(transaction: Transaction) -> tuple[UUID, ...]:
            return await expire_shells(transaction, before)

        for session_id in await self._database.writer.submit(write):
            self._hub.signal(session_id)
