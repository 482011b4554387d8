"""Downloads of the agent's browser: kept in one folder under unique names, followed in the background."""

import asyncio
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

import structlog

from appliance.browser.cdp import CdpConnection
from appliance.errors import ActionFailed
from appliance.filenames import free_name

_log = structlog.get_logger()


@dataclass(frozen=True)
class Download:
    """One download; `name` is its file name in the downloads folder once it is complete, sizes are in bytes."""

    guid: str
    name: str
    url: str
    state: Literal["running", "complete", "failed"] = "running"
    received: int = 0
    total: int = 0

    def describe(self) -> str:
        """Return a clause such as: download of report.csv is complete (120 bytes)."""
        if self.state == "complete":
            empty = "" if self.received else ", the file is empty"
            return f"download of {self.name} is complete ({self.received} bytes{empty})"
        if self.state == "failed":
            return f"download of {self.name} failed"
        whole = f" of {self.total}" if self.total else ""
        return f"download of {self.name} has started ({self.received}{whole} bytes so far)"


class Downloads:
    """The downloads of a browser since it was attached. Without a folder downloads are refused by the browser."""

    def __init__(self, cdp: CdpConnection, folder: Path | None) -> None:
        self.folder = folder
        self.carries_secret: Callable[[str], bool] = lambda _: False
        self._cdp = cdp
        self._all: dict[str, Download] = {}
        self._told: dict[str, str] = {}
        self._version = asyncio.Event()
        self._stop_listening = (
            cdp.on("Browser.downloadWillBegin", self._take_begin),
            cdp.on("Browser.downloadProgress", self._take_progress),
        )

    async def open(self) -> None:
        """Tell the browser where downloads go; files arrive under their guid and are renamed when complete."""
        params: dict[str, Any] = {"behavior": "deny", "eventsEnabled": True}
        if self.folder is not None:
            self.folder.mkdir(parents=True, exist_ok=True)
            params = {"behavior": "allowAndName", "downloadPath": str(self.folder.absolute()), "eventsEnabled": True}
        await self._cdp.send("Browser.setDownloadBehavior", params)

    async def move(self, folder: Path) -> None:
        """Let downloads go to another folder from now on."""
        self.folder = folder
        await self.open()

    @property
    def all(self) -> tuple[Download, ...]:
        """Every download, oldest first."""
        return tuple(self._all.values())

    @property
    def running(self) -> tuple[Download, ...]:
        """The downloads that have not ended."""
        return tuple(one for one in self.all if one.state == "running")

    def since(self, known: int) -> tuple[Download, ...]:
        """Return the downloads after the first `known` ones."""
        return self.all[known:]

    def tell(self, download: Download) -> str:
        """Return what is to be said of a download, which is no news from then on."""
        self._told[download.guid] = download.state
        return download.describe()

    def take_news(self) -> list[str]:
        """Return a sentence for each download whose beginning or end was not told yet."""
        news = [one for one in self.all if self._told.get(one.guid) != one.state]
        return [f"A {self.tell(one)}." for one in news]

    def refuse(self, guid: str) -> None:
        """Break a download off that nobody wants, and forget it."""
        self._all.pop(guid, None)
        self._cdp.post("Browser.cancelDownload", {"guid": guid})

    def has(self, name: str) -> bool:
        """Tell whether a complete download has this name, and is still there."""
        return any(one.name == name for one in self.all if one.state == "complete") and self._is_there(name)

    def path_of(self, name: str) -> Path:
        """Return the path of a complete download; raises ActionFailed, naming what there is, otherwise."""
        complete = [one.name for one in self.all if one.state == "complete" and self._is_there(one.name)]
        if self.folder is not None and name in complete:
            return self.folder / name
        if any(one.name == name for one in self.running):
            raise ActionFailed(f"The download of {name} is not complete yet; wait for it with wait_for and download.")
        names = ", ".join(dict.fromkeys(complete))
        raise ActionFailed(f"There is no download {name!r}" + (f"; there are: {names}." if names else "."))

    def _is_there(self, name: str) -> bool:
        return self.folder is not None and (self.folder / name).is_file()

    async def wait_begun(self, known: int, timeout: float) -> tuple[Download, ...]:
        """Return the downloads after the first `known` ones, waiting at most `timeout` seconds for one to begin."""
        try:
            async with asyncio.timeout(timeout):
                while len(self._all) <= known:
                    self._version.clear()
                    await self._version.wait()
        except TimeoutError:
            pass
        return self.since(known)

    async def wait_complete(self, timeout: float) -> Download | None:
        """Wait until no download runs, and return the newest one; None when none ended within `timeout` seconds."""
        before = {one.guid for one in self.all if one.state != "running"}
        deadline = time.monotonic() + timeout
        while True:
            ended = [one for one in self.all if one.state != "running"]
            fresh = [one for one in ended if one.guid not in before]
            running = len(ended) < len(self._all)
            if not running and (fresh or ended):
                return (fresh or ended)[-1]
            self._version.clear()
            try:
                async with asyncio.timeout_at(asyncio.get_running_loop().time() + deadline - time.monotonic()):
                    await self._version.wait()
            except TimeoutError:
                return fresh[-1] if fresh else None

    def close(self) -> None:
        """Listen no more, and remove files that never became complete."""
        for stop in self._stop_listening:
            stop()
        for one in self.all:
            if one.state == "running" and self.folder is not None:
                for name in (one.guid, f"{one.guid}.crdownload"):
                    (self.folder / name).unlink(missing_ok=True)

    def _take_begin(self, params: dict[str, Any], _: str) -> None:
        guid, wanted = str(params["guid"]), str(params.get("suggestedFilename") or "download")
        if self.carries_secret(wanted):
            # A name is listed, told and kept with the session.
            suffix = Path(wanted).suffix
            wanted = "download" if self.carries_secret(suffix) else f"download{suffix}"
        self._all[guid] = Download(guid, self._free_name(wanted), str(params.get("url", "")))
        self._version.set()

    def _take_progress(self, params: dict[str, Any], _: str) -> None:
        known = self._all.get(str(params["guid"]))
        if known is None or known.state != "running":
            return
        received, total = int(params.get("receivedBytes", 0)), int(params.get("totalBytes", 0))
        self._all[known.guid] = replace(known, received=received, total=total)
        if params.get("state") == "completed":
            self._finish(self._all[known.guid])
        elif params.get("state") == "canceled":
            self._all[known.guid] = replace(self._all[known.guid], state="failed")
        self._version.set()

    def _finish(self, download: Download) -> None:
        if self.folder is None:
            return
        name = self._free_name(download.name, but=download.guid)
        try:
            (self.folder / download.guid).rename(self.folder / name)
        except OSError as error:
            _log.warning("download could not be kept", name=name, reason=error.strerror)
            self._all[download.guid] = replace(download, state="failed")
            return
        size = (self.folder / name).stat().st_size
        self._all[download.guid] = replace(download, name=name, state="complete", received=size, total=size)

    def _free_name(self, wanted: str, but: str = "") -> str:
        """Return a name that no file and no other running download has."""
        try:
            name = free_name(self.folder, wanted) if self.folder is not None else wanted
        except ActionFailed:
            name = "download"
        taken = {one.name for one in self.all if one.guid != but and one.state == "running"}
        if name not in taken or self.folder is None:
            return name
        stem, suffix, number = Path(name).stem, Path(name).suffix, 1
        while f"{stem}({number}){suffix}" in taken or (self.folder / f"{stem}({number}){suffix}").exists():
            number += 1
        return f"{stem}({number}){suffix}"
