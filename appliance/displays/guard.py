"""Ends supervisord, with exit code 1, when the web server cannot be kept up, and clears the run folder at every end.

Without the web server the pools are of no use. Runs inside supervisord, which loads it by `[rpcinterface:guard]` of
ops/supervisord.conf.
"""

import atexit
import os
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

from appliance.displays.layout import remove_run_dir

# Untyped: read as values of any type, not as modules.
_events: Any = import_module("supervisor.events")
_states: Any = import_module("supervisor.states")


def _clear() -> None:
    remove_run_dir(Path(os.environ["PILOTHOUSE_RUN_DIR"]))


class Guard:
    """Offers no calls of its own; supervisord only needs something to put under the name."""


def make_guard(supervisord: Any, **_options: str) -> Guard:
    """Watch `supervisord`'s programs from now on; called by supervisord for each start of its RPC interface."""

    def shut_down(event: Any) -> None:
        if event.process.config.name != "web":
            return
        sys.stderr.write("The web server does not stay up; giving up. Its own words are above.\n")
        atexit.unregister(_clear)
        atexit.register(os._exit, 1)
        atexit.register(_clear)  # The last one registered is called first.
        supervisord.options.mood = _states.SupervisorStates.SHUTDOWN

    atexit.unregister(_clear)
    atexit.register(_clear)
    _events.subscribe(_events.ProcessStateFatalEvent, shut_down)
    return Guard()
