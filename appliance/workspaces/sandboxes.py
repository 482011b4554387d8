"""Whether scripts can be run on this machine so that they reach nothing of ours, found out by trying, once."""

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import structlog

from appliance.errors import ActionFailed, MachineFault
from appliance.workspaces.sandbox import Functions, Sandbox, ScriptRun
from appliance.workspaces.sandbox_start import Starter, find_starter

_TRIAL = """
import io, json, os, socket
found = []
def attempt(what, do):
    try:
        do()
    except (OSError, ImportError):
        return
    found.append(what)
for path in PATHS:
    attempt(path, lambda: os.listdir(path) if os.path.isdir(path) else io.open(path).close())
attempt("the network", socket.socket)
attempt("other programs", lambda: os.execv("/bin/true", ["true"]))
attempt("the environment of the server", lambda: io.open(f"/proc/{os.getppid()}/environ").read())
import decimal, csv, html.parser
found
"""
"""A script that tries what no script may do, and loads from the library what scripts use."""


log = structlog.get_logger()


class Sandboxes:
    """Opens sandboxes, one for each run. `private` are files and folders that no script may be able to read."""

    def __init__(self, private: Sequence[Path], *, is_off: bool = False) -> None:
        self._private = tuple(str(path) for path in private)
        self._is_off = is_off
        self._checking = asyncio.Lock()
        self._starter: Starter | None = None
        self._why_not: str | None = None

    async def why_not(self) -> str | None:
        """Return a sentence on why scripts cannot be run here, None when they can; found out the first time only."""
        async with self._checking:
            if self._starter is None and self._why_not is None:
                found = "Scripts are switched off by SANDBOX." if self._is_off else find_starter()
                self._why_not = found if isinstance(found, str) else await _try(found, self._private)
                if self._why_not is None and not isinstance(found, str):
                    self._starter = found
                else:
                    log.info("scripts are not run here", reason=self._why_not)
        return self._why_not

    async def open(self) -> Sandbox | None:
        """Return a new sandbox, whose process begins with its first script; None where there can be none."""
        await self.why_not()
        return None if self._starter is None else Sandbox(self._starter)


async def _try(starter: Starter, private: tuple[str, ...]) -> str | None:
    sandbox = Sandbox(starter, cell_seconds=30.0)
    try:
        outcome = await sandbox.run("trial.py", f"PATHS = {list(private)!r}\n{_TRIAL}", Functions({}, _nothing))
    except MachineFault as error:
        return error.message
    except OSError as error:
        return f"The sandbox could not be tried ({error.strerror})."
    finally:
        await sandbox.close()
    return _judge(outcome)


def _judge(outcome: ScriptRun) -> str | None:
    problem = outcome.error or outcome.lost
    if problem:
        return f"A trial of the sandbox failed: {problem.strip().splitlines()[-1]}."
    if outcome.value != "[]":
        return f"Scripts would reach what they must not: {outcome.value}; let only this server's user enter it."
    return None


async def _nothing(name: str, arguments: dict[str, Any]) -> Any:
    raise ActionFailed(f"{name} is not there: {len(arguments)} arguments were given for nothing.")
