"""A sandbox in which tests run scripts, with a server that only remembers what it was asked for."""

import asyncio
from typing import Any

from appliance.errors import ActionFailed
from appliance.workspaces.sandbox import Functions, Sandbox, ScriptRun


class Machine:
    """Runs scripts and remembers what they asked for."""

    def __init__(self, sandbox: Sandbox) -> None:
        self.sandbox = sandbox
        self.asked: list[tuple[str, dict[str, Any]]] = []
        self.was_asked = asyncio.Event()

    async def run(self, code: str) -> ScriptRun:
        return await self.sandbox.run("script.py", code, Functions({"add_item": ("item", "index")}, self._call))

    async def value(self, code: str) -> str | None:
        outcome = await self.run(code)
        assert (outcome.error, outcome.lost) == (None, "")
        return outcome.value

    async def error(self, code: str) -> str:
        outcome = await self.run(code)
        assert outcome.error is not None, outcome
        return outcome.error

    async def _call(self, name: str, arguments: dict[str, Any]) -> Any:
        self.asked.append((name, arguments))
        self.was_asked.set()
        if name == "browser.evaluate":
            raise ActionFailed("The page did not react.")
        return f"did {name}"
