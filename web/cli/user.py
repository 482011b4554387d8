"""`pilothouse user`: the people who may sign in."""

import asyncio
import sys
from typing import Annotated

import typer

from appliance.persistence.users import add_user
from appliance.settings import Settings, load_settings
from web.cli.access import write_here
from web.signin import hash_password


def register(app: typer.Typer) -> None:
    """Add the commands."""
    users = typer.Typer(help="People who may sign in.", no_args_is_help=True, callback=_describe)
    users.command()(add)
    app.add_typer(users, name="user")


def add(email: Annotated[str, typer.Argument(help="E-mail address, which is also the name to sign in with.")]) -> None:
    """Add a person. The password is asked for, or read from standard input when that is not a terminal."""
    password = typer.prompt("Password", hide_input=True, confirmation_prompt=True) if sys.stdin.isatty() else ""
    if not password:
        password = sys.stdin.readline().rstrip("\n")
    asyncio.run(_add(load_settings(), email, password))
    print(f"{email.strip().lower()} can sign in.")


async def _add(settings: Settings, email: str, password: str) -> None:
    password_hash = await hash_password(password)
    await write_here(settings, lambda transaction: add_user(transaction, email, password_hash))


def _describe() -> None:
    """People who may sign in."""
