"""Where things are: the data directory, a session's files, a browser's files while it runs, the pools of displays."""

import os
from dataclasses import dataclass
from pathlib import Path
from uuid import UUID

from appliance.displays.layout import PoolLayout
from appliance.errors import SettingsInvalid
from appliance.settings import Settings

PRIVATE = 0o077
"""The umask of everything that is run: what it writes is for this user only, also in a folder that others may enter."""


@dataclass(frozen=True)
class SessionFolders:
    """The folders of one session inside the data directory."""

    root: Path

    @classmethod
    def of(cls, settings: Settings, session_id: UUID) -> "SessionFolders":
        """Return the folders of a session; nothing is made."""
        return cls(settings.data_dir.absolute() / "sessions" / str(session_id))

    @property
    def screenshots(self) -> Path:
        """One picture per step."""
        return self.root / "screenshots"

    @property
    def downloads(self) -> Path:
        """What the browser downloaded."""
        return self.root / "downloads"

    @property
    def scratchpad(self) -> Path:
        """The agent's own files."""
        return self.root / "scratchpad"

    @property
    def record(self) -> Path:
        """The permanent record of the session's runs."""
        return self.root / "history.json"

    def make(self) -> None:
        """Make the folders that are not there yet; raises OSError."""
        for folder in (self.screenshots, self.downloads, self.scratchpad):
            folder.mkdir(parents=True, exist_ok=True)


def browsers_dir(settings: Settings) -> Path:
    """Return the folder below which every browser of this instance has its user-data directory."""
    return settings.socket_dir.absolute() / "browsers"


def prepare_data_dir(settings: Settings) -> None:
    """Make the data directory, readable by this user only; raises SettingsInvalid when that cannot be."""
    try:
        settings.data_dir.mkdir(parents=True, exist_ok=True, mode=0o700)
        if not os.access(settings.data_dir, os.W_OK | os.X_OK):
            raise PermissionError(13, os.strerror(13))
    except OSError as error:
        raise SettingsInvalid(
            f"DATA_DIR {settings.data_dir} cannot be used ({error.strerror}); correct its owner or choose another."
        ) from error


def make_layout(settings: Settings) -> PoolLayout:
    """Return where this instance's displays, views and browsers are."""
    return PoolLayout(
        slots=settings.max_concurrent_sessions,
        run_dir=settings.socket_dir,
        log_dir=settings.data_dir / "logs",
        display_base=settings.display_base,
        bridge_port_base=settings.bridge_port_base,
        cdp_port_base=settings.cdp_port_base,
    )
