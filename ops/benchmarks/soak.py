"""Many short sessions in a row, while browsers, displays and the server are killed: nothing is lost and nothing left.

Three of four tasks are worked on by `autopilot`, some of them with an answer to fill in, some kept alive; every fourth
asks a scripted model that costs money. SOAK_SESSIONS says how many there are.
"""

import os
import random
import statistics
import time
from collections import Counter
from contextlib import suppress
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

import httpx
import psutil

from ops.benchmarks.insight import Footprint, Insight, find_money_faults, sum_ledger
from ops.benchmarks.measures import Figure
from tests.stand_in import StandIn
from tests.system.instance import Instance, eventually
from web.demo.task import DEMO_SCHEMA, describe_task

SLOTS = 4
KINDS = ("chromium", "display", "server")
MODEL = "gpt-5.4-mini"
_AT_ONCE = 3 * SLOTS
_PATIENCE = 600.0
_WARMING = 2 * SLOTS
_MARK = "SOAK"
_STEADY = 15.0
"""Seconds after which the supervisor holds a server for one that works; it gives up one that ends sooner twice."""


@dataclass
class Soak:
    """One soak and what came of it. `faults` are sentences, none when all is as it should be."""

    sessions: int = 200
    kills: int = 24
    seed: int = 1
    endings: Counter[str] = field(default_factory=Counter[str])
    killed: Counter[str] = field(default_factory=Counter[str])
    memory: list[tuple[int, int]] = field(default_factory=list[tuple[int, int]])
    faults: list[str] = field(default_factory=list[str])
    spent: int = 0
    seconds: float = 0.0

    def run(self) -> None:
        """Do it all; raises AssertionError when the appliance does not come back or a session never ends."""
        with StandIn() as stand_in:
            settings = {
                "OPENAI_API_KEY": "none",
                "OPENAI_BASE_URL": stand_in.openai_url,
                "KEEP_ALIVE_IDLE_TIMEOUT": "5",
            }
            instance = Instance(settings, slots=SLOTS)
            insight = Insight(instance)
            stand_in.add(_MARK, [{"navigate": {"url": _site(instance)}}, {"done": {"text": "Seen.", "success": True}}])
            with instance:
                self._soak(instance, insight)

    def memory_growth(self) -> float:
        """Return the last server's memory in the last quarter of its sessions, over that in the first quarter."""
        lives = Counter(pid for pid, _ in self.memory)
        if not lives:
            return 1.0
        longest = lives.most_common(1)[0][0]
        sizes = [size for pid, size in self.memory if pid == longest][_WARMING:]
        quarter = len(sizes) // 4
        if quarter == 0:
            return 1.0
        return statistics.median(sizes[-quarter:]) / statistics.median(sizes[:quarter])

    def _soak(self, instance: Instance, insight: Insight) -> None:
        begun = time.monotonic()
        self._work(instance, _WARMING, 0)
        before = insight.settle(_is_quiet, 60)
        self._work(instance, self.sessions, self.kills)
        self.seconds = time.monotonic() - begun
        after = insight.settle(lambda footprint: not footprint.beyond(before), 90)
        self._judge(instance, before, after)

    def _work(self, instance: Instance, count: int, kills: int) -> None:
        """Have so many sessions worked on, with so many kills in between; returns when all have ended."""
        chance = random.Random(self.seed)  # noqa: S311 - nothing secret
        moments = _choose_moments(chance, count, kills)
        open_ones: dict[str, float] = {}
        ended = begun = 0
        while ended < count:
            while begun < count and len(open_ones) < _AT_ONCE:
                if (session := _submit(instance, begun)) is not None:
                    open_ones[session] = time.monotonic()
                begun += 1
            if moments and ended >= moments[0][0] and self._kill(instance, moments[0][1], chance):
                moments.pop(0)
            self._collect(instance, open_ones)
            ended = begun - len(open_ones)
            time.sleep(0.2)

    def _collect(self, instance: Instance, open_ones: dict[str, float]) -> None:
        """Take out the sessions that have ended, and note the server's memory then."""
        for session_id, since in list(open_ones.items()):
            found = _ask(instance, f"/v3/sessions/{session_id}")
            if found is None:
                return
            if found["status"] in ("created", "running"):
                assert time.monotonic() - since < _PATIENCE, f"The session never ended: {found}"
                continue
            del open_ones[session_id]
            with suppress(StopIteration, psutil.NoSuchProcess):
                server = instance.server
                self.memory.append((server.pid, server.memory_info().rss))

    def _kill(self, instance: Instance, kind: str, chance: random.Random) -> bool:
        """Kill a browser, a display or the server; returns whether there was one of the kind to be killed."""
        victims = [process for process in instance.processes() if _is_of(kind, process)]
        if not victims:
            return False
        try:
            chance.choice(victims).kill()
        except psutil.NoSuchProcess:
            return False
        self.killed[kind] += 1
        if kind == "server":
            eventually(instance.is_ready, "the server is back", 120)
        return True

    def _judge(self, instance: Instance, before: Footprint, after: Footprint) -> None:
        for kind, names in after.beyond(before).items():
            self.faults.append(f"left of {kind}: {', '.join(names)}")
        sessions = _list_all(instance)
        for session in sessions:
            self.endings[_name_ending(session)] += 1
            if session["status"] in ("created", "running"):
                self.faults.append(f"without an end: {session['id']} ({session['status']})")
        database = instance.folder / "data" / "pilothouse.db"
        self.faults += [f"money differs in {fault}" for fault in find_money_faults(database)]
        self.spent = sum_ledger(database)
        told = sum(Decimal(session["totalCostUsd"]) for session in sessions)
        used = Decimal(instance.http.get("/v3/usage").json()["total"]["costUsd"])
        if not told == used == self.spent / Decimal(1_000_000):
            self.faults.append(f"sessions tell {told} $, usage {used} $, the ledger {self.spent} micro-dollars")
        # A few more pages of Python objects are no leak; one kept per session would soon be more than this.
        if self.memory_growth() > 1.1:
            self.faults.append(f"memory grew {self.memory_growth():.2f} times")


def measure_soak() -> list[Figure]:
    """Run the soak; raises RuntimeError naming what was lost or left."""
    count = int(os.environ.get("SOAK_SESSIONS", "200"))
    soak = Soak(count, kills=max(3, count // 8))
    soak.run()
    if soak.faults:
        raise RuntimeError("; ".join(soak.faults))
    return [
        Figure("sessions", sum(soak.endings.values()), "in all"),
        Figure("seconds a session", soak.seconds / count, "s"),
        *(Figure(f"ended: {name}", number, "sessions") for name, number in sorted(soak.endings.items())),
        *(Figure(f"killed: {kind}", number, "times") for kind, number in sorted(soak.killed.items())),
        Figure("spent, ledger = sessions = runs = usage", soak.spent / 1e6, "$"),
        Figure("server's memory, last quarter against first", soak.memory_growth(), "times", 1.1),
    ]


def _site(instance: Instance) -> str:
    return f"http://127.0.0.1:{instance.port}/demo/"


def _choose_moments(chance: random.Random, count: int, kills: int) -> list[tuple[int, str]]:
    """Return after how many endings each kill comes. The server's are early, so that the last one lives long."""
    kinds = [KINDS[number % len(KINDS)] for number in range(kills)]
    moments = [(chance.randrange(count // 3 if kind == "server" else count), kind) for kind in kinds]
    return sorted(moments)


def _submit(instance: Instance, number: int) -> str | None:
    """Submit the next task; returns the session's id, None when the server is away and nothing is known of it."""
    kind = number % 4
    if kind == 3:
        body: dict[str, Any] = {"task": f"{_MARK} RUN-soak{number} Look at {_site(instance)}", "model": MODEL}
    elif kind == 2:
        task = describe_task(f"http://127.0.0.1:{instance.port}")
        body = {"task": task, "model": "autopilot", "outputSchema": DEMO_SCHEMA}
    else:
        body = {"task": f"Read {_site(instance)}", "model": "autopilot", "keepAlive": kind == 1}
    with suppress(httpx.HTTPError):
        answer = instance.http.post("/v3/sessions", json=body)
        assert answer.status_code == 200, answer.text
        return answer.json()["id"]
    return None


def _ask(instance: Instance, path: str) -> dict[str, Any] | None:
    """Return the answer; None while the server is away."""
    with suppress(httpx.HTTPError):
        answer = instance.http.get(path)
        assert answer.status_code == 200, answer.text
        return answer.json()
    return None


def _list_all(instance: Instance) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    for page in range(1, 1_000):
        answer = instance.http.get("/v3/sessions", params={"page": page, "page_size": 100}).json()
        found += answer["sessions"]
        if len(found) >= answer["total"]:
            break
    return found


def _is_quiet(footprint: Footprint) -> bool:
    return not any("chrom" in name or "Xvfb" in name for name in footprint.processes)


def _is_of(kind: str, process: psutil.Process) -> bool:
    try:
        words, age = process.cmdline(), time.time() - process.create_time()
    except psutil.NoSuchProcess:
        return False
    if kind == "server":
        return words[-1:] == ["serve"] and age > _STEADY
    if kind == "display":
        return bool(words) and words[0].endswith("Xvfb")
    is_browser = any(word.startswith("--user-data-dir") for word in words)
    return is_browser and not any(word.startswith("--type=") for word in words)


def _name_ending(session: dict[str, Any]) -> str:
    return " ".join(str(word) for word in (session["status"], session["failureKind"]) if word)
