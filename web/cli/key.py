"""`pilothouse key`: API keys, shown once when they are made."""

import asyncio
from typing import Annotated

import typer

from appliance.settings import load_settings
from web.auth import new_key
from web.cli.access import store_key


def register(app: typer.Typer) -> None:
    """Add the commands."""
    keys = typer.Typer(help="API keys.", no_args_is_help=True, callback=_describe)
    keys.command()(create)
    app.add_typer(keys, name="key")


def create(
    name: Annotated[str, typer.Argument(help="What people will know the key by.")],
    team: Annotated[str, typer.Option(help="The team that pays: its name or id; by default the first.")] = "",
) -> None:
    """Make an API key and print it, this once."""
    key = new_key()
    asyncio.run(store_key(load_settings(), name, key, team))
    print(key)


def _describe() -> None:
    """API keys."""
