"""`pilothouse team`: whose sessions, keys and caps belong together."""

import asyncio
from typing import Annotated

import typer

from appliance.errors import PilothouseError
from appliance.money.windows import read_zone
from appliance.persistence.records import TeamRecord
from appliance.persistence.teams import add_team, list_teams
from appliance.settings import Settings, load_settings
from web.cli.access import opened_database, write_here

_LONGEST_NAME = 100


def register(app: typer.Typer) -> None:
    """Add the commands."""
    teams = typer.Typer(help="Teams.", no_args_is_help=True, callback=_describe)
    teams.command(name="list")(list_all)
    teams.command()(create)
    app.add_typer(teams, name="team")


def list_all() -> None:
    """Print the teams, the first made first."""
    for team in asyncio.run(_read(load_settings())):
        print(f"{team.id}  {team.name}  ({team.time_zone})")


def create(
    name: Annotated[str, typer.Argument(help="What people will know the team by.")],
    zone: Annotated[str, typer.Option(help="Where its days begin, such as Europe/Berlin.")] = "UTC",
) -> None:
    """Make a team and print its id."""
    if not 0 < len(name.strip()) <= _LONGEST_NAME:
        raise PilothouseError(f"A team's name has 1 to {_LONGEST_NAME} characters.")
    read_zone(zone)
    team = asyncio.run(write_here(load_settings(), lambda transaction: add_team(transaction, name.strip(), zone)))
    print(team.id)


async def _read(settings: Settings) -> tuple[TeamRecord, ...]:
    async with opened_database(settings) as database, database.read() as transaction:
        return await list_teams(transaction)


def _describe() -> None:
    """Teams."""
