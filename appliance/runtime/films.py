"""The moving picture of a session's last run, made when it is asked for and kept beside the record."""

from pathlib import Path
from typing import Literal

from appliance.runtime.folders import SessionFolders


def film_of(folders: SessionFolders, kind: Literal["gif", "webp"]) -> Path | None:
    """Return the file with the picture, made anew when the record is newer; None when there are no screenshots.

    Slow work: to be called in a thread. Raises OSError when it cannot be written.
    """
    # An idle server does without a library for pictures.
    from appliance.agent.animation import animate, frames_of  # noqa: PLC0415
    from appliance.agent.recorded import load  # noqa: PLC0415

    target = folders.root / f"animation.{kind}"
    try:
        if target.is_file() and target.stat().st_mtime_ns > folders.record.stat().st_mtime_ns:
            return target
        runs = load(folders.record)
    except FileNotFoundError:
        return None
    if not runs:
        return None
    frames = frames_of(runs[-1], folders.screenshots)
    return target if animate(frames, target, kind, title=runs[-1].opened.task) else None
