"""Where the pools live: names, paths and numbers, and the environment that ops/supervisord.conf reads them from.

The only place that knows the PILOTHOUSE_ variables of supervisord, the pool's scripts and the folders they share.
"""

import os
import secrets
import stat
import struct
import sys
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from appliance.displays.slot import Slot
from appliance.errors import SettingsInvalid

OPS_DIR = Path(__file__).resolve().parents[2] / "ops"

_LONGEST_SOCKET_PATH = 107
_FAMILY_WILD = 0xFFFF
_COOKIE_NAME = b"MIT-MAGIC-COOKIE-1"


@dataclass(frozen=True)
class PoolLayout:
    """Sizes, folders and first numbers of the three pools; slot n has display, bridge and CDP port base + n.

    Raises SettingsInvalid for a run folder whose path is too long for a socket or has a colon in it.
    """

    slots: int
    run_dir: Path
    log_dir: Path
    display_base: int = 10
    bridge_port_base: int = 6080
    cdp_port_base: int = 9222
    bin_dir: Path = field(default_factory=lambda: Path(sys.prefix) / "bin")

    def __post_init__(self) -> None:
        object.__setattr__(self, "run_dir", self.run_dir.absolute())
        object.__setattr__(self, "log_dir", self.log_dir.absolute())
        # Supervisord binds under a longer temporary name first: leave room for ".<pid>".
        longest = len(os.fsencode(self.supervisor_socket)) + len(".4194304")
        if longest > _LONGEST_SOCKET_PATH or ":" in str(self.run_dir):
            raise SettingsInvalid(f"RUN_DIR {self.run_dir} is too long or has a colon in it; choose a shorter path.")

    @property
    def supervisor_socket(self) -> Path:
        """Socket on which supervisord answers XML-RPC; whoever reaches it can start programs."""
        return self.run_dir / "supervisor.sock"

    @property
    def xauthority(self) -> Path:
        """File with the secret that every client of our displays has to show."""
        return self.run_dir / "xauthority"

    def slot(self, number: int) -> Slot:
        """Return a fresh lease value of slot `number`, with a bridge token nobody has seen yet."""
        return Slot(
            number=number,
            display=self.display_base + number,
            vnc_socket=self.run_dir / f"vnc-{number:02d}.sock",
            bridge_port=self.bridge_port_base + number,
            cdp_port=self.cdp_port_base + number,
            bridge_token=secrets.token_urlsafe(24),
        )

    def display_socket(self, number: int) -> Path:
        """Return the socket of slot `number`'s X server."""
        return Path(f"/tmp/.X11-unix/X{self.display_base + number}")

    def display_lock(self, number: int) -> Path:
        """Return the file by which slot `number`'s X server holds its number."""
        return Path(f"/tmp/.X{self.display_base + number}-lock")

    def screen_file(self, number: int) -> Path:
        """Return the file that tells the display script the size of the screen, as WIDTHxHEIGHT."""
        return self.run_dir / f"screen-{number:02d}"

    def token_file(self, number: int) -> Path:
        """Return the file in which the bridge looks tokens up."""
        return self.run_dir / f"token-{number:02d}"

    def log_file(self, pool: str, number: int) -> Path:
        """Return the log of one process; `pool` is display, vnc or bridge."""
        return self.log_dir / f"{pool}-{number:02d}.log"

    def environment(self) -> dict[str, str]:
        """Return the variables that supervisord must be started with, to be laid over its own environment."""
        return {
            "PILOTHOUSE_SLOTS": str(self.slots),
            "PILOTHOUSE_RUN_DIR": str(self.run_dir),
            "PILOTHOUSE_LOG_DIR": str(self.log_dir),
            "PILOTHOUSE_POOL_DIR": str(OPS_DIR / "pool"),
            "PILOTHOUSE_BIN_DIR": str(self.bin_dir),
            "PILOTHOUSE_DISPLAY_BASE": str(self.display_base),
            "PILOTHOUSE_BRIDGE_PORT_BASE": str(self.bridge_port_base),
            "XAUTHORITY": str(self.xauthority),
        }

    def command(self) -> list[str]:
        """Return the command line of supervisord in the foreground, for `exec` with `environment()`."""
        command = [str(self.bin_dir / "supervisord"), "-n", "-c", str(OPS_DIR / "supervisord.conf")]
        return [*command, "-u", "root"] if os.getuid() == 0 else command

    def make_folders(self) -> None:
        """Make the folders and the X secret anew; called before supervisord starts.

        Raises SettingsInvalid when the run folder belongs to somebody else or cannot be made.
        """
        try:
            self.log_dir.mkdir(parents=True, exist_ok=True)
            self.run_dir.mkdir(parents=True, exist_ok=True, mode=0o700)
            found = self.run_dir.lstat()
            if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.getuid():
                raise SettingsInvalid(f"RUN_DIR {self.run_dir} is not a folder of this user; remove it or set RUN_DIR.")
            self.run_dir.chmod(0o700)
            write_private(self.xauthority, _xauthority_record(secrets.token_bytes(16)))
        except OSError as error:
            raise SettingsInvalid(
                f"Cannot prepare {error.filename} ({error.strerror}); correct its permissions, DATA_DIR or RUN_DIR."
            ) from error


def remove_run_dir(run_dir: Path) -> None:
    """Remove what the appliance keeps in its run folder, and the folder itself unless somebody else uses it too."""
    for pattern in ("xauthority", "screen-*", "token-*", "vnc-*.pid", "vnc-*.sock"):
        for path in run_dir.glob(pattern):
            path.unlink(missing_ok=True)
    for folder in (run_dir / "browsers", run_dir):
        with suppress(OSError):  # A browser that is still noted there is ended by the next start.
            folder.rmdir()


def write_private(path: Path, content: bytes) -> None:
    """Replace the file at `path` in one move by one that only this user can read."""
    draft = path.with_name(f"{path.name}.new")
    draft.unlink(missing_ok=True)
    with os.fdopen(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
        file.write(content)
    draft.rename(path)


def _xauthority_record(cookie: bytes) -> bytes:
    """Return one record for any host and any display: family, address, number, name, data."""
    fields = (b"", b"", _COOKIE_NAME, cookie)
    return struct.pack(">H", _FAMILY_WILD) + b"".join(struct.pack(">H", len(item)) + item for item in fields)
