"""The server's port: taken, or found to be taken by somebody else."""

import socket

from appliance.errors import PilothouseError
from appliance.settings import Settings

_BACKLOG = 2048


def listen(settings: Settings) -> socket.socket:
    """Return the listening socket; raises PilothouseError naming port and remedy."""
    family = socket.AF_INET6 if ":" in settings.host else socket.AF_INET
    listener = socket.socket(family, socket.SOCK_STREAM)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((settings.host, settings.port))
        listener.listen(_BACKLOG)
    except OSError as error:
        listener.close()
        raise PilothouseError(
            f"Cannot listen on {settings.host} port {settings.port} ({error.strerror}); "
            "end the program that uses it or set PORT or HOST."
        ) from error
    return listener


def require_free_port(settings: Settings) -> None:
    """Raise PilothouseError when the server could not listen."""
    listen(settings).close()
