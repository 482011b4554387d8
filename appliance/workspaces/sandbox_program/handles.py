"""What scripts find in their namespace: the browser, fetch, files, the clipboard and the answer store."""

import io
import json
from collections.abc import Callable, Mapping
from typing import Any

from appliance.workspaces.sandbox_program.channel import Channel


class BrowserHandle:
    """The agent's browser. Every function is to be awaited; `frame` is a part of a frame's address."""

    def __init__(self, channel: Channel) -> None:
        self._ask = channel.ask

    async def evaluate(self, code: str) -> Any:
        """Return what JavaScript has for a value in the page."""
        return await self._ask("browser.evaluate", {"code": code})

    async def get_html(self) -> str:
        """Return the page as HTML, frames and shadow roots in their places."""
        return await self._ask("browser.get_html", {})

    async def url(self) -> str:
        """Return the address of the page."""
        return await self._ask("browser.url", {})

    async def frames(self) -> list[dict[str, Any]]:
        """Return the frames of the page: url and name of each."""
        return await self._ask("browser.frames", {})

    async def frame_text(self, frame: str) -> str:
        """Return the visible text of a frame."""
        return await self._ask("browser.frame_text", {"frame": frame})

    async def frame_jsonld(self, frame: str) -> list[dict[str, Any]]:
        """Return the JSON-LD objects of a frame."""
        return await self._ask("browser.frame_jsonld", {"frame": frame})

    async def frame_evaluate(self, frame: str, code: str) -> Any:
        """Return what JavaScript has for a value in a frame, of whatever site."""
        return await self._ask("browser.frame_evaluate", {"frame": frame, "code": code})

    async def wait_for_frame(self, frame: str, seconds: float = 10) -> str:
        """Wait until there is such a frame with text, and return its address."""
        return await self._ask("browser.wait_for_frame", {"frame": frame, "seconds": seconds})

    async def read_pages(self, urls: list[str] | None = None, frame_url_contains: str | None = None) -> Any:
        """Read many pages at once and return what each says."""
        given = {"urls": urls, "frame_url_contains": frame_url_contains}
        return await self._ask("browser.read_pages", {key: value for key, value in given.items() if value is not None})

    async def navigate(self, url: str) -> dict[str, Any]:
        """Open an address in the tab; returns url and status."""
        return await self._ask("browser.navigate", {"url": url})


class Fetched:
    """The answer to a request: status, headers, text, url, and the file that a big body was kept in."""

    def __init__(self, answer: dict[str, Any]) -> None:
        self.status: int = answer["status"]
        self.headers: dict[str, str] = answer["headers"]
        self.text: str = answer["text"]
        self.url: str = answer["url"]
        self.file: str | None = answer.get("file")

    @property
    def ok(self) -> bool:
        """Whether the status is below 400."""
        return self.status < 400

    def json(self) -> Any:
        """Return the body read as JSON."""
        return json.loads(self.text)

    def __repr__(self) -> str:
        return f"<answer {self.status}, {len(self.text)} characters>"


class _Written(io.StringIO):
    """A text file that is handed to the server when it is closed."""

    def __init__(self, channel: Channel, name: str, mode: str) -> None:
        super().__init__(newline="")
        self._channel, self._name, self._kind = channel, name, mode

    def close(self) -> None:
        """Save and close."""
        if not self.closed:
            given = {"name": self._name, "text": self.getvalue(), "append": self._kind == "a"}
            super().close()
            self._channel.ask_now("write_file", given)


def fill(namespace: dict[str, Any], channel: Channel) -> None:
    """Put what is always there into a script's namespace."""

    async def fetch(url: str, method: str = "GET", headers: dict[str, str] | None = None, body: Any = None) -> Fetched:
        """Request an address from the server's side, within the rules of the browser."""
        text = body if body is None or isinstance(body, str) else json.dumps(body, ensure_ascii=False)
        given = {"url": url, "method": method, "headers": headers, "body": text}
        return Fetched(await channel.ask("fetch", {key: value for key, value in given.items() if value is not None}))

    def open_file(name: str, mode: str = "r", *_: Any, **__: Any) -> io.StringIO:
        """Open a text file of the agent's own files."""
        kind = mode.replace("t", "")
        if kind not in ("r", "w", "a"):
            raise ValueError(f"files are opened with r, w or a, as text, not with {mode!r}")
        if kind != "r":
            return _Written(channel, str(name), kind)
        return io.StringIO(channel.ask_now("read_file", {"name": str(name)}))

    def read_json(name: str) -> Any:
        """Return what a JSON file of the agent's own files holds."""
        return json.loads(channel.ask_now("read_file", {"name": name}))

    def save_json(name: str, value: Any) -> str:
        """Write a value to a JSON file; returns the name it really has."""
        text = json.dumps(value, ensure_ascii=False, indent=1)
        return channel.ask_now("write_file", {"name": name, "text": text, "append": False})

    def list_files() -> list[str]:
        """Return the names of the agent's own files."""
        return channel.ask_now("list_files", {})

    namespace |= {
        "browser": BrowserHandle(channel),
        "fetch": fetch,
        "open": open_file,
        "read_json": read_json,
        "save_json": save_json,
        "list_files": list_files,
    }


def add_functions(namespace: dict[str, Any], channel: Channel, functions: Mapping[str, list[str]]) -> None:
    """Put further functions of the server in, by name and parameters, unless a script has a thing of that name."""
    for name, parameters in functions.items():
        namespace.setdefault(name, _function(channel, name, parameters))


def _function(channel: Channel, name: str, parameters: list[str]) -> Callable[..., Any]:
    def call(*values: Any, **named: Any) -> Any:
        if len(values) > len(parameters):
            raise TypeError(f"{name} takes {', '.join(parameters)}")
        return channel.ask_now(name, dict(zip(parameters, values, strict=False)) | named)

    call.__name__ = call.__qualname__ = name
    return call
