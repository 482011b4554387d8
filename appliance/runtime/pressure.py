"""How much of the time work on this machine waits for a processor, as the kernel tells it."""

import os
import re
from pathlib import Path

_PSI = Path("/proc/pressure/cpu")
_SOME = re.compile(r"^some avg10=([\d.]+)", re.MULTILINE)


def read_stall(psi: Path = _PSI) -> float:
    """Return the share (0 to 1) of the last ten seconds in which some work waited for a processor.

    A kernel that does not tell it is judged by its load: what goes beyond one task per core.
    """
    try:
        found = _SOME.search(psi.read_text())
    except OSError:
        found = None
    if found is not None:
        return min(float(found[1]) / 100, 1.0)
    return min(max(os.getloadavg()[0] / (os.cpu_count() or 1) - 1, 0.0), 1.0)
