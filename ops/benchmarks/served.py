"""The server that `ops/bench api` asks: a whole appliance with eight sessions that are written to on demand.

Run as a process of its own. It says on standard output where it is, then obeys as `rows.py` says. What is charged is
held against three caps.
"""

import asyncio
import socket
import tempfile
from decimal import Decimal
from pathlib import Path
from uuid import UUID

import uvloop

from appliance.events import Charge, StepPlanned
from appliance.persistence.database import Transaction
from appliance.persistence.keys import add_key
from appliance.persistence.runs import change_run, find_latest_run
from appliance.persistence.sessions import change_session
from appliance.runtime.assembly import Appliance, open_appliance
from appliance.runtime.caps import CapWish
from appliance.runtime.links import LIVE_LIFETIME, live_path
from appliance.runtime.wishes import SessionWish
from appliance.settings import load_settings
from appliance.words import CapScope, Period, Purpose, RunStatus, SessionStatus
from ops.benchmarks.rows import SESSIONS, Producer, keep_answers_clean, obey, say
from web.auth import new_key
from web.cli.logs import set_up_logging
from web.cli.serve import make_server

_CAP = Decimal(1_000_000)
OUTPUT = {"wares": [{"name": f"Lamp {number}", "price": number + 0.5, "currency": "EUR"} for number in range(5)]}


async def _open_session(appliance: Appliance) -> tuple[UUID, Producer]:
    session = await appliance.sessions.create(
        SessionWish(task="Read every lamp at http://shop.example", model="autopilot")
    )

    async def begin(transaction: Transaction) -> UUID:
        run = await find_latest_run(transaction, session.id)
        assert run is not None
        await change_run(transaction, run.id, status=RunStatus.RUNNING)
        await change_session(
            transaction, session.id, status=SessionStatus.RUNNING, output=OUTPUT, screenshot="0001.jpg"
        )
        return run.id

    run_id = await appliance.database.writer.submit(begin)

    async def append(event: StepPlanned, is_charged: bool) -> int:
        charges = (Charge(Purpose.STEP, "autopilot", event.tokens, Decimal("0.01")),) if is_charged else ()
        return (await appliance.feed.append(session.id, run_id, event, charges=charges)).sequence

    return session.id, Producer(append)


async def _set_caps(appliance: Appliance) -> None:
    """Cap what is spent, far above what will be spent here."""
    for period in (Period.DAY, Period.WEEK, Period.MONTH):
        await appliance.caps.set(CapWish(CapScope.INSTANCE, period, hard_usd=_CAP))


async def _serve(folder: Path) -> None:
    listener = socket.create_server(("127.0.0.1", 0))
    port = listener.getsockname()[1]
    settings = load_settings(data_dir=folder / "data", run_dir=folder / "run", port=port, log_level="warning")
    set_up_logging(settings)
    key = new_key()
    async with open_appliance(settings) as appliance:
        # The only slot is taken, so that the runs wait for what is written here instead of a worker.
        appliance.pool.try_lease()
        await appliance.database.writer.submit(lambda transaction: add_key(transaction, "bench", key))
        opened = [await _open_session(appliance) for _ in range(SESSIONS)]
        await _set_caps(appliance)
        first = opened[0][0]
        path = live_path(first)
        link = appliance.signer.link("", path, LIVE_LIFETIME)
        server = make_server(appliance)
        serving = asyncio.create_task(server.serve(sockets=[listener]))
        while not server.started:  # noqa: ASYNC110 - the server has no event for it
            await asyncio.sleep(0.01)
        say({"port": port, "key": key, "session": str(first), "feed": link.replace(path, f"{path}/feed", 1)})
        await obey([producer for _, producer in opened])
        server.should_exit = True
        await serving


def main() -> None:
    """Serve until standard input ends."""
    keep_answers_clean()
    with (
        tempfile.TemporaryDirectory(prefix="ph-bench-") as folder,
        asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner,
    ):
        runner.run(_serve(Path(folder)))


if __name__ == "__main__":
    main()
