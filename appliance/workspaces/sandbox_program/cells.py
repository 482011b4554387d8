"""Runs pieces of scripts, one after the other in one namespace, and tells what each printed, its value, its error."""

import ast
import asyncio
import inspect
import io
import json
import linecache
import threading
import time
import traceback
from types import CodeType
from typing import Any

from appliance.workspaces.sandbox_program.channel import Channel
from appliance.workspaces.sandbox_program.handles import add_functions, fill

MOST_PRINTED = 1_000_000
"""Characters that one piece may print; what goes beyond is left out."""
PORTION = 65_536
"""Characters from which on what is printed goes out at once."""
DELAY = 0.05
"""Seconds that it is gathered otherwise."""
MOST_SHOWN = 200_000
"""Characters of a value."""
_AWAITS = ast.PyCF_ALLOW_TOP_LEVEL_AWAIT


class Printed(io.TextIOBase):
    """Standard output and standard error of scripts.

    What is printed goes out in portions: by a thread soon after, so that little is lost with a process that hangs.
    """

    def __init__(self, channel: Channel) -> None:
        self._channel = channel
        self.room = MOST_PRINTED
        self._parts: list[str] = []
        self._size = 0
        self._turn = threading.Lock()
        self._has_more = threading.Event()
        self._flusher: threading.Thread | None = None

    def writable(self) -> bool:
        """Whether it can be written to, which is always so."""
        return True

    def write(self, text: str) -> int:
        """Take the text, as far as there is room for it."""
        with self._turn:
            kept, self.room = text[: self.room], max(0, self.room - len(text))
            self._parts.append(kept)
            self._size += len(kept)
        if self._size >= PORTION:
            self.flush()
        elif kept:
            self._has_more.set()
            self._begin()
        return len(text)

    def flush(self) -> None:
        """Hand over what was printed."""
        with self._turn:
            text, self._parts, self._size = "".join(self._parts), [], 0
            if text:
                self._channel.send(kind="printed", text=text)

    def _begin(self) -> None:
        if self._flusher is None:
            self._flusher = threading.Thread(target=self._flush_soon, name="printing", daemon=True)
            try:
                self._flusher.start()
            except RuntimeError:
                # A script has started all the threads there may be.
                self._flusher = None
                self.flush()

    def _flush_soon(self) -> None:
        while self._has_more.wait():
            self._has_more.clear()
            time.sleep(DELAY)
            self.flush()


class Cells:
    """The one namespace that scripts share while the process lives."""

    def __init__(self, channel: Channel, printed: Printed) -> None:
        self._channel = channel
        self._printed = printed
        self._namespace: dict[str, Any] = {"__name__": "__main__", "__builtins__": __builtins__}
        fill(self._namespace, channel)

    async def run(self, cell: dict[str, Any]) -> None:
        """Run one piece and say how it ended."""
        add_functions(self._namespace, self._channel, cell["functions"])
        self._printed.room = MOST_PRINTED
        name, code = cell["name"], "\n" * cell["lines_before"] + cell["code"]
        linecache.cache[name] = (len(code), None, code.splitlines(keepends=True), name)
        before = asyncio.all_tasks()
        value, error = None, None
        try:
            value = _shown(await self._evaluate(code, name))
        except SystemExit as ending:
            error = f"The script ended itself with code {ending.code!r}." if ending.code else None
        except BaseException as fault:  # noqa: BLE001  (whatever a script raises is its result)
            error = _told(fault, name)
        for task in asyncio.all_tasks() - before:
            task.cancel()
        self._printed.flush()
        self._channel.send(kind="finished", cell=cell["cell"], value=value, error=error)

    async def _evaluate(self, code: str, name: str) -> Any:
        tree = ast.parse(code, name)
        last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
        await self._execute(compile(tree, name, "exec", flags=_AWAITS, dont_inherit=True))
        if not isinstance(last, ast.Expr):
            return None
        ending = ast.Expression(last.value)
        value = await self._execute(compile(ending, name, "eval", flags=_AWAITS, dont_inherit=True))
        return await value if inspect.iscoroutine(value) or asyncio.isfuture(value) else value

    async def _execute(self, code: CodeType) -> Any:
        value = eval(code, self._namespace)  # noqa: S307  (running scripts is what this program is for)
        return await value if code.co_flags & inspect.CO_COROUTINE else value


def _shown(value: Any) -> str | None:
    if value is None or isinstance(value, str):
        return value if value is None else value[:MOST_SHOWN]
    try:
        text = json.dumps(value, ensure_ascii=False, indent=None)
    except (TypeError, ValueError, RecursionError):
        text = repr(value)
    return str(text)[:MOST_SHOWN]


def _told(fault: BaseException, name: str) -> str:
    """Return the error with the lines of the script it went through; frames of this program are left out."""
    if isinstance(fault, MemoryError):
        return "MemoryError: the script needed more memory than it may have."
    frames = [frame for frame in traceback.extract_tb(fault.__traceback__) if frame.filename == name]
    lines = [line for frame in traceback.format_list(frames[-5:]) for line in (frame,)]
    return "".join([*lines, *traceback.format_exception_only(fault)])[:MOST_SHOWN].strip()
