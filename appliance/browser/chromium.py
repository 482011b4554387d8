"""One Chromium process: found, started on a display, known to be ready, and ended with everything it started."""

import asyncio
import os
import shutil
import signal
import socket
import tempfile
from collections import deque
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Literal

import structlog

from appliance.errors import BrowserUnavailable

START_SECONDS = 20.0
STOP_SECONDS = 3.0
BINARIES = ("/usr/lib/chromium/chromium", "chromium", "chromium-browser", "google-chrome-stable", "google-chrome")
DEBIAN_WRAPPER, DEBIAN_BINARY = Path("/usr/bin/chromium"), Path("/usr/lib/chromium/chromium")
READY = "DevTools listening on "
LONGEST_SOCKET_PATH = 107
SINGLETON_SOCKET = "org.chromium.Chromium.XXXXXX/SingletonSocket"

FLAGS = (
    "--no-first-run",
    "--no-default-browser-check",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-default-apps",
    "--metrics-recording-only",
    "--password-store=basic",
    "--disable-quic",
    "--hide-crash-restore-bubble",
    "--disable-backgrounding-occluded-windows",
    "--disable-renderer-backgrounding",
    "--disable-background-timer-throttling",
    "--window-position=0,0",
)
DISABLED_FEATURES = ("Translate", "MediaRouter", "OptimizationHints")
KEPT_VARIABLES = (
    "PATH",
    "HOME",
    "XAUTHORITY",
    "LANG",
    "LANGUAGE",
    "TZ",
    "XDG_RUNTIME_DIR",
    "FONTCONFIG_PATH",
)

_log = structlog.get_logger()


@dataclass(frozen=True)
class ChromiumOptions:
    """How to start Chromium; `cdp_port` 0 lets it choose one, width and height are pixels of the window.

    All that Chromium writes goes into `user_data_dir`, its temporary files too; who made the folder deletes it.
    """

    path: str
    display: int
    cdp_port: int
    user_data_dir: Path
    width: int = 1920
    height: int = 1080
    flags: tuple[str, ...] = ()
    sandbox: Literal["auto", "on", "off"] = "auto"


class _Crashed(BrowserUnavailable):
    """A signal ended Chromium before it was ready."""


class Chromium:
    """A running Chromium in a process group of its own; `exited` is set when it has ended, however it did."""

    def __init__(self, process: asyncio.subprocess.Process, temporary: Path, *, sandboxed: bool) -> None:
        """Take over a started process and the folder of its temporary files; use `start`."""
        self.pid = process.pid
        self.pgid = process.pid
        self.sandboxed = sandboxed
        self.websocket_url = ""
        self.exited = asyncio.Event()
        self._process = process
        self._temporary = temporary
        self._last_words: deque[str] = deque(maxlen=12)
        self._ready: asyncio.Future[str] = asyncio.get_running_loop().create_future()
        self._tasks = (asyncio.create_task(self._listen()), asyncio.create_task(self._wait()))

    @classmethod
    async def start(cls, options: ChromiumOptions) -> "Chromium":
        """Start Chromium and return when its DevTools socket is open; raises BrowserUnavailable, saying why not.

        One that a signal ended before it was ready is started once more: on a crowded machine its helpers lose races.
        """
        try:
            return await cls._launch(options)
        except _Crashed as crash:
            _log.warning("chromium crashed at its start and is started once more", reason=crash.message)
            return await cls._launch(options)

    @classmethod
    async def _launch(cls, options: ChromiumOptions) -> "Chromium":
        binary = find_chromium(options.path)
        _check_display(options.display)
        _check_port(options.cdp_port)
        sandboxed = _is_sandboxed(options.sandbox)
        options.user_data_dir.mkdir(parents=True, exist_ok=True)
        _clear_stale_lock(options.user_data_dir)
        temporary = _make_temporary(options.user_data_dir)
        try:
            process = await asyncio.create_subprocess_exec(
                binary,
                *_arguments(options, sandboxed=sandboxed),
                stdin=asyncio.subprocess.DEVNULL,
                stdout=asyncio.subprocess.DEVNULL,
                stderr=asyncio.subprocess.PIPE,
                env=_environment(options.display, temporary),
                start_new_session=True,
            )
        except OSError as error:
            shutil.rmtree(temporary, ignore_errors=True)
            raise BrowserUnavailable(f"Chromium at {binary} cannot be run ({error.strerror}).") from error
        chromium = cls(process, temporary, sandboxed=sandboxed)
        try:
            async with asyncio.timeout(START_SECONDS):
                chromium.websocket_url = await chromium._ready
        except TimeoutError as error:
            await chromium.stop()
            raise BrowserUnavailable(
                f"Chromium was not ready within {START_SECONDS:g} s; see whether the machine is overloaded."
            ) from error
        except BaseException:
            await chromium.stop()
            raise
        _log.info("chromium started", pid=chromium.pid, sandboxed=sandboxed, display=options.display)
        return chromium

    async def stop(self) -> None:
        """End the process group, asked first, killed after 3 s, and delete its temporary files. Safe to call again."""
        self._signal(signal.SIGTERM)
        with suppress(TimeoutError):
            async with asyncio.timeout(STOP_SECONDS):
                await self.exited.wait()
        self._signal(signal.SIGKILL)
        await self.exited.wait()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await asyncio.to_thread(shutil.rmtree, self._temporary, ignore_errors=True)

    def _signal(self, number: signal.Signals) -> None:
        with suppress(ProcessLookupError):
            os.killpg(self.pgid, number)

    async def _wait(self) -> None:
        code = await self._process.wait()
        self.exited.set()
        if not self._ready.done():
            # The reason arrives on stderr, whose last lines may come after the exit.
            await asyncio.wait((self._tasks[0],), timeout=1.0)
        if not self._ready.done():
            kind = _Crashed if code < 0 else BrowserUnavailable
            self._ready.set_exception(kind(self._explain(code)))

    async def _listen(self) -> None:
        assert self._process.stderr is not None
        async for raw in self._process.stderr:
            line = raw.decode(errors="replace").strip()
            if line and "dbus" not in line:
                self._last_words.append(line)
            if self._ready.done():
                continue
            if READY in line:
                self._ready.set_result(line.partition(READY)[2].strip())
            elif "Cannot start http server for devtools" in line:
                self._ready.set_exception(
                    BrowserUnavailable("Chromium could not open its DevTools port: it is in use.")
                )

    def _explain(self, code: int) -> str:
        words = " ".join(self._last_words)
        if "Missing X server" in words or "cannot open display" in words.lower():
            return "Chromium found no X display to draw on; see whether the display of this slot runs."
        if "sandbox" in words.lower() or "Failed to move to new namespace" in words:
            return (
                "Chromium's sandbox does not work on this machine; set CHROMIUM_SANDBOX=off or allow user namespaces."
            )
        last = self._last_words[-1][-300:] if self._last_words else "it said nothing"
        return f"Chromium ended at its start with code {code}: {last}"


def find_chromium(path: str = "") -> str:
    """Return the program to run for a configured path, or the machine's own; raises BrowserUnavailable."""
    if path and Path(path) != DEBIAN_WRAPPER:
        found = shutil.which(path)
        if found is None:
            raise BrowserUnavailable(f"There is no Chromium at {path}; correct CHROMIUM_PATH.")
        return found
    # Debian's /usr/bin/chromium is a script that adds flags of its own; the program behind it is wanted.
    for name in BINARIES:
        if found := shutil.which(name):
            return found
    raise BrowserUnavailable("Chromium is not installed; install it or name its program in CHROMIUM_PATH.")


@cache
def can_sandbox() -> bool:
    """Return whether this machine lets Chromium make the namespaces its sandbox needs (never for root)."""
    unshare = shutil.which("unshare")
    if os.geteuid() == 0 or unshare is None:
        return False
    child = os.posix_spawn(unshare, [unshare, "-U", "true"], {}, file_actions=[(os.POSIX_SPAWN_CLOSE, 2)])
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


def _is_sandboxed(wish: Literal["auto", "on", "off"]) -> bool:
    return can_sandbox() if wish == "auto" else wish == "on"


def _arguments(options: ChromiumOptions, *, sandboxed: bool) -> list[str]:
    disabled = list(DISABLED_FEATURES)
    extra: list[str] = []
    for flag in options.flags:
        # Chromium takes only the last such list, so there must be one.
        if flag.startswith("--disable-features="):
            disabled += flag.partition("=")[2].split(",")
        else:
            extra.append(flag)
    arguments = [
        f"--remote-debugging-port={options.cdp_port}",
        f"--user-data-dir={options.user_data_dir}",
        *FLAGS,
        f"--window-size={options.width},{options.height}",
        f"--disable-features={','.join(disabled)}",
    ]
    if not sandboxed:
        # test-type only takes away the yellow bar that would cover a part of every screenshot.
        arguments += ["--no-sandbox", "--test-type"]
    if _shared_memory_bytes() < 1 << 30:
        arguments.append("--disable-dev-shm-usage")
    return [*arguments, *extra, "about:blank"]


def _shared_memory_bytes() -> int:
    try:
        return shutil.disk_usage("/dev/shm").total
    except OSError:
        return 0


def _make_temporary(user_data_dir: Path) -> Path:
    """Make the folder of Chromium's temporary files: beside its data, unless its socket's path would be too long."""
    folder = user_data_dir / "tmp"
    if len(os.fsencode(folder / SINGLETON_SOCKET)) > LONGEST_SOCKET_PATH:
        return Path(tempfile.mkdtemp(prefix="chromium-"))
    folder.mkdir(exist_ok=True)
    return folder


def _environment(display: int, temporary: Path) -> dict[str, str]:
    # Only what Chromium needs: keys and passwords of ours must not be readable through it.
    kept = {name: value for name, value in os.environ.items() if name in KEPT_VARIABLES or name.startswith("LC_")}
    return {**kept, "TMPDIR": str(temporary), "DISPLAY": f":{display}", "DBUS_SESSION_BUS_ADDRESS": "disabled:"}


def _check_display(display: int) -> None:
    # Chromium would find out too, but only a second later and in its own words.
    with socket.socket(socket.AF_UNIX) as probe:
        for name in (f"/tmp/.X11-unix/X{display}", f"\0/tmp/.X11-unix/X{display}"):
            with suppress(OSError):
                probe.connect(name)
                return
    raise BrowserUnavailable(f"There is no X display :{display} to start Chromium on; see whether its X server runs.")


def _check_port(port: int) -> None:
    if port == 0:
        return
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OSError as error:
            raise BrowserUnavailable(
                f"Port {port}, meant for Chromium's DevTools, is in use by another program."
            ) from error


def _clear_stale_lock(user_data_dir: Path) -> None:
    """Take away the lock of a Chromium that no longer lives here; raises BrowserUnavailable if it does."""
    lock = user_data_dir / "SingletonLock"
    if not lock.is_symlink():
        return
    host, _, pid = str(lock.readlink()).rpartition("-")
    if host == socket.gethostname() and pid.isdigit() and Path(f"/proc/{pid}").exists():
        raise BrowserUnavailable(f"The profile {user_data_dir} is in use by another Chromium (process {pid}).")
    for name in ("SingletonLock", "SingletonSocket", "SingletonCookie"):
        (user_data_dir / name).unlink(missing_ok=True)
