"""Writes a run's events as a worker does, one by one, for pages that are being looked at."""

from dataclasses import dataclass, field
from decimal import Decimal
from io import BytesIO
from typing import Any
from uuid import UUID

from PIL import Image

from appliance.agent.record import Record, RunOpened, StepAsked
from appliance.events import ActionCall, ActionFinished, Charge, Notice, RunStarted, StepPlanned, TokenCount
from appliance.feed.writer import write_event
from appliance.persistence.database import Transaction
from appliance.persistence.runs import find_latest_run
from appliance.runtime.folders import SessionFolders
from appliance.runtime.wishes import SessionWish
from appliance.words import Ending, FailureKind, Purpose, ReceiptStatus, SessionStatus
from tests.web.api.running import RunningServer

_buffer = BytesIO()
Image.new("RGB", (64, 40), "#c97a0a").save(_buffer, "JPEG")
PICTURE = _buffer.getvalue()


@dataclass
class FedSession:
    """A session whose run is moved on by the test."""

    server: RunningServer
    id: UUID
    steps: int = 0
    calls: list[ActionCall] = field(default_factory=list)

    @property
    def path(self) -> str:
        return f"/sessions/{self.id}"

    def start(self) -> None:
        self.server.begin(self.id)
        self.server.append(self.id, RunStarted(slot=0), {"status": SessionStatus.RUNNING})

    def plan(self, move: str = "Click “Next page”.", *names: str, **fields: Any) -> None:
        self.steps += 1
        self.calls = [
            ActionCall(f"c-{self.id.hex[-8:]}-{self.steps}-{number}", name, {"index": 7})
            for number, name in enumerate(names or ("click",))
        ]
        folders = SessionFolders.of(self.server.settings, self.id)
        folders.make()
        picture = f"{self.steps:04d}.jpg"
        (folders.screenshots / picture).write_bytes(PICTURE)
        planned: dict[str, Any] = {
            "step": self.steps,
            "see": "A list of lamps.",
            "plan": "Read every page of it.",
            "move": move,
            "calls": tuple(self.calls),
            "url": "http://shop.example/lamps",
            "title": "All lamps",
            "tokens": TokenCount(10, 0, 0, 5),
            "screenshot": picture,
            "observe_ms": 40,
            "think_ms": 1200,
            **fields,
        }
        self.server.append(self.id, StepPlanned(**planned))

    def receive(self, text: str, status: ReceiptStatus = ReceiptStatus.OK) -> None:
        call = self.calls.pop(0)
        finished = ActionFinished(
            step=self.steps, call_id=call.call_id, name=call.name, status=status, text=text, duration_ms=420
        )
        self.server.append(self.id, finished)

    def notice(self, text: str) -> None:
        self.server.append(self.id, Notice(code="test", text=text, is_trouble=True))

    def notices(self, count: int) -> None:
        """Write many at once."""

        async def write(transaction: Transaction) -> None:
            for number in range(count):
                await write_event(transaction, self.id, None, Notice(code="test", text=f"note {number}."))

        self.server.write(write)

    def keep_record(self) -> None:
        """Leave a record of the run, as the agent does."""

        async def latest() -> str:
            async with self.server.appliance.database.read() as transaction:
                run = await find_latest_run(transaction, self.id)
            assert run is not None
            return str(run.id)

        folders = SessionFolders.of(self.server.settings, self.id)
        record = Record(folders.record)
        record.append(RunOpened(task="A task", model="m", max_steps=9, timeout=9.0, run=self.server.do(latest)))
        for step in range(1, self.steps + 1):
            picture = f"{step:04d}.jpg"
            url = "http://shop.example/lamps"
            record.append(StepAsked(step=step, request="", url=url, title="", fingerprint="", screenshot=picture))

    def spend(self, amount: str) -> None:
        charges = (Charge(Purpose.STEP, "house-model", cost_usd=Decimal(amount)),)
        self.server.append(self.id, Notice(code="spent", text="It cost something."), charges=charges)

    def deliver(self, output: Any, summary: str = "All lamps are recorded.", **outcome: Any) -> None:
        self._finish(SessionStatus.STOPPED, output=output, summary=summary, **outcome)

    def fail(self, failure: FailureKind | None, summary: str, **outcome: Any) -> None:
        values = {"ending": Ending.FAILED, "is_successful": False, "failure": failure, "summary": summary, **outcome}
        self._finish(SessionStatus.ERROR, **values)

    def rest(self, output: Any) -> None:
        self._finish(SessionStatus.IDLE, output=output)

    def _finish(self, status: SessionStatus, **outcome: Any) -> None:
        self.server.finish(self.id, status, **outcome)


def feed_session(server: RunningServer, task: str, *, started: bool = True, **wish: Any) -> FedSession:
    """Make a session with a task whose run, unless told otherwise, has begun."""
    values: dict[str, Any] = {"model": "autopilot", **wish}
    session = server.do(lambda: server.appliance.sessions.create(SessionWish(task=task, **values)))
    fed = FedSession(server, session.id)
    if started:
        fed.start()
    return fed
