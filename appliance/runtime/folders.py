"""Where a session keeps its files, and where browsers keep theirs while they run."""

from dataclasses import dataclass
from pathlib import Path
from uuid import UUID

from appliance.settings import Settings


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
