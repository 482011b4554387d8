"""`pilothouse serve`: the web server with the appliance behind it, until a signal ends both."""

import asyncio
import os
import signal
import socket
from collections.abc import Generator
from contextlib import contextmanager
from typing import Any

import structlog
import typer
import uvicorn
import uvloop

from appliance.runtime.assembly import Appliance, open_appliance
from appliance.runtime.folders import PRIVATE
from appliance.settings import Settings, find_unknown_names, load_settings
from web.app import create_app
from web.cli.listening import listen
from web.cli.logs import set_up_logging

_SECONDS_FOR_ANSWERS = 2

log = structlog.get_logger()


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command()(serve)


def serve() -> None:
    """Run the web server alone. Displays need a supervisor, so `pilothouse supervise` is the usual way."""
    settings = load_settings()
    os.umask(PRIVATE)
    set_up_logging(settings)
    for name in find_unknown_names(os.environ):
        log.warning("a variable looks like a misspelt setting and is ignored", name=name)
    listener = listen(settings)
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(_serve(settings, listener))


async def _serve(settings: Settings, listener: socket.socket) -> None:
    async with open_appliance(settings) as appliance:
        log.info("serving", address=settings.base_url, slots=settings.max_concurrent_sessions)
        await make_server(appliance).serve(sockets=[listener])


def make_server(appliance: Appliance) -> uvicorn.Server:
    """Return the web server of an open appliance; it serves until it is told to end by a signal or `should_exit`."""
    settings = appliance.settings
    config = uvicorn.Config(
        create_app(appliance),
        http="httptools",
        ws="websockets-sansio",
        lifespan="on",
        log_config=None,
        access_log=False,
        server_header=False,
        proxy_headers=bool(settings.trusted_proxies),
        forwarded_allow_ips=list(settings.trusted_proxies),
        timeout_graceful_shutdown=_SECONDS_FOR_ANSWERS,
        ws_max_size=1 << 20,
    )
    return _Server(config, appliance)


class _Server(uvicorn.Server):
    """A server that ends on the first TERM or INT without passing the signal on, since the appliance ends after it."""

    def __init__(self, config: uvicorn.Config, appliance: Appliance) -> None:
        super().__init__(config)
        self._appliance = appliance

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Settle the runs while their viewers still see it, hang up on the viewers, then end as usual."""
        log.info("ending: runs are interrupted, what waits goes on after the next start")
        await self._appliance.dispatcher.close()
        for connection in list(self.server_state.connections):
            _hang_up(connection)
        await super().shutdown(sockets)

    @contextmanager
    def capture_signals(self) -> Generator[None]:
        loop = asyncio.get_running_loop()
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(number, self.handle_exit, number, None)
        try:
            yield
        finally:
            for number in (signal.SIGTERM, signal.SIGINT):
                loop.remove_signal_handler(number)
                signal.signal(number, signal.SIG_IGN)


def _hang_up(connection: Any) -> None:
    """Close a connection over which an answer is being streamed: a feed would otherwise stay open for ever."""
    cycle = getattr(connection, "cycle", None)
    if cycle is not None and cycle.response_started and not cycle.response_complete:
        connection.transport.close()
