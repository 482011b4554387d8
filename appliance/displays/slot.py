"""A slot: the numbered place where one browser works."""

from dataclasses import dataclass, field
from pathlib import Path


@dataclass(frozen=True)
class Slot:
    """One lease of a slot; a later lease of the same number is another value, with another token.

    `display` is the X display number (10 means `:10`); the ports are TCP ports on 127.0.0.1.
    """

    number: int
    display: int
    vnc_socket: Path
    bridge_port: int
    cdp_port: int
    bridge_token: str = field(repr=False)

    @property
    def bridge_url(self) -> str:
        """Address at which the bridge hands out the view; it contains the token, so keep it on the server."""
        return f"ws://127.0.0.1:{self.bridge_port}/?token={self.bridge_token}"
