"""A real server for the tests of the API, moved along by the tests in the place of workers."""

import asyncio
import socket
import threading
from collections.abc import Awaitable, Callable, Iterator, Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar
from uuid import UUID

import httpx
import uvicorn

from appliance.agent.outcome import Outcome
from appliance.events import Charge, FeedEvent, TokenCount
from appliance.persistence.database import Transaction
from appliance.persistence.runs import change_run, find_latest_run
from appliance.persistence.sessions import SessionChanges, change_session
from appliance.runtime.assembly import Appliance, open_appliance
from appliance.runtime.settling import settle
from appliance.settings import Settings, load_settings
from appliance.words import Ending, RunStatus, SessionStatus
from web.app import create_app

T = TypeVar("T")
KEY = "bu_test_key_0123456789"


@dataclass
class RunningServer:
    """A real server in a thread of its own. Its only slot is held by the test, so that runs wait until the test,
    in the place of a worker, moves them on with the runtime's own functions."""

    url: str
    settings: Settings
    appliance: Appliance
    loop: asyncio.AbstractEventLoop

    def do(self, work: Callable[[], Awaitable[T]]) -> T:
        """Run something of ours in the server's loop."""

        async def run() -> T:
            return await work()

        return asyncio.run_coroutine_threadsafe(run(), self.loop).result(timeout=20)

    def write(self, work: Callable[[Transaction], Awaitable[T]]) -> T:
        return self.do(lambda: self.appliance.database.writer.submit(work))

    def append(
        self,
        session_id: UUID,
        event: FeedEvent,
        changes: SessionChanges | None = None,
        charges: Sequence[Charge] = (),
    ) -> UUID:
        async def append() -> UUID:
            async with self.appliance.database.read() as transaction:
                run = await find_latest_run(transaction, session_id)
            record = await self.appliance.feed.append(session_id, run.id if run else None, event, changes, charges)
            return record.id

        return self.do(append)

    def begin(self, session_id: UUID) -> None:
        async def write(transaction: Transaction) -> None:
            run = await find_latest_run(transaction, session_id)
            assert run is not None
            await change_run(transaction, run.id, status=RunStatus.RUNNING)
            await change_session(transaction, session_id, status=SessionStatus.RUNNING)

        self.write(write)

    def finish(self, session_id: UUID, status: SessionStatus = SessionStatus.STOPPED, **outcome: Any) -> None:
        async def finish() -> None:
            async def write(transaction: Transaction) -> None:
                run = await find_latest_run(transaction, session_id)
                assert run is not None
                await settle(transaction, run, make_outcome(**outcome), status, ())

            await self.appliance.database.writer.submit(write)
            self.appliance.hub.signal(session_id)

        self.do(finish)

    def client(self, **values: Any) -> httpx.Client:
        headers = {"X-Browser-Use-API-Key": KEY}
        return httpx.Client(**{"base_url": self.url, "headers": headers, "trust_env": False, **values})


def make_outcome(**values: Any) -> Outcome:
    base: dict[str, Any] = {
        "ending": Ending.DONE,
        "output": None,
        "is_successful": True,
        "failure": None,
        "status_code": None,
        "summary": "Done.",
        "steps": 1,
        "tokens": TokenCount(),
        "cost_usd": None,
    }
    return Outcome(**{**base, **values})


def run_server(folder: Path, **values: Any) -> Iterator[RunningServer]:
    listener = socket.create_server(("127.0.0.1", 0))
    port = listener.getsockname()[1]
    settings = load_settings(data_dir=folder / "data", run_dir=folder / "run", port=port, api_key=KEY, **values)
    ready: Future[tuple[Appliance, uvicorn.Server, asyncio.AbstractEventLoop]] = Future()

    async def serve() -> None:
        async with open_appliance(settings) as appliance:
            appliance.pool.try_lease()
            config = uvicorn.Config(create_app(appliance), log_level="warning")
            running = uvicorn.Server(config)
            ready.set_result((appliance, running, asyncio.get_running_loop()))
            await running.serve(sockets=[listener])

    def run() -> None:
        try:
            asyncio.run(serve())
        except Exception as error:
            if ready.done():
                raise
            ready.set_exception(error)

    thread = threading.Thread(target=run, name="server under test")
    thread.start()
    try:
        appliance, running, loop = ready.result(timeout=30)
    except BaseException:
        thread.join(timeout=20)
        listener.close()
        raise
    try:
        yield RunningServer(f"http://127.0.0.1:{port}", settings, appliance, loop)
    finally:
        running.should_exit = True
        thread.join(timeout=20)
        listener.close()
