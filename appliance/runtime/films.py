"""The moving picture of a session's run, made when it is asked for and kept beside the record."""

from pathlib import Path
from typing import Literal

from appliance.persistence.records import RunRecord
from appliance.runtime.folders import SessionFolders


def film_of(folders: SessionFolders, kind: Literal["gif", "webp"], run: RunRecord | None = None) -> Path | None:
    """Return the file with the picture of the run, made anew when the record is newer; without a run, of the last one.

    None when there are no screenshots of it. Slow work, for a thread. Raises OSError when it cannot be written.
    """
    # An idle server does without a library for pictures.
    from appliance.agent.animation import animate, frames_of  # noqa: PLC0415
    from appliance.agent.recorded import load  # noqa: PLC0415

    target = folders.root / (f"animation.{kind}" if run is None else f"animation-{run.number}.{kind}")
    try:
        if target.is_file() and target.stat().st_mtime_ns > folders.record.stat().st_mtime_ns:
            return target
        runs = [one for one in load(folders.record) if run is None or one.opened.run == str(run.id)]
    except FileNotFoundError:
        return None
    if not runs:
        return None
    frames = frames_of(runs[-1], folders.screenshots)
    return target if animate(frames, target, kind, title=runs[-1].opened.task) else None
