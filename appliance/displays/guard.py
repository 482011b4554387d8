"""Ends supervisord, with exit code 1, when the web server cannot be kept up: without it the pools are of no use.

Runs inside supervisord, which loads it by `[rpcinterface:guard]` of ops/supervisord.conf.
"""

import atexit
import os
import sys
from importlib import import_module
from typing import Any

# Untyped: read as values of any type, not as modules.
_events: Any = import_module("supervisor.events")
_states: Any = import_module("supervisor.states")


class Guard:
    """Offers no calls of its own; supervisord only needs something to put under the name."""


def make_guard(supervisord: Any, **_options: str) -> Guard:
    """Watch `supervisord`'s programs from now on; called by supervisord for each start of its RPC interface."""

    def shut_down(event: Any) -> None:
        if event.process.config.name != "web":
            return
        sys.stderr.write("The web server does not stay up; giving up. Its own words are above.\n")
        atexit.register(os._exit, 1)
        supervisord.options.mood = _states.SupervisorStates.SHUTDOWN

    _events.subscribe(_events.ProcessStateFatalEvent, shut_down)
    return Guard()
