"""How the command line gets in: the address of this machine's server and a key it accepts."""

import asyncio
from collections.abc import AsyncGenerator, Generator
from contextlib import asynccontextmanager, contextmanager
from typing import TypeVar
from uuid import UUID

from appliance.errors import NotFound
from appliance.persistence import keys
from appliance.persistence.database import Database, Transaction
from appliance.persistence.migration import migrate
from appliance.persistence.records import TeamRecord
from appliance.persistence.teams import list_teams
from appliance.persistence.writer import Work
from appliance.runtime.folders import prepare_data_dir
from appliance.settings import Settings
from web.auth import new_key
from web.cli.client import ApiClient, open_client

T = TypeVar("T")


@contextmanager
def open_local_client(settings: Settings, url: str = "", api_key: str = "") -> Generator[ApiClient]:
    """Give a client for `url`, by default this machine's server, with `api_key`, by default API_KEY.

    Whoever can write the database may do anything here, so without a key one is made for the length of the block.
    """
    address = url or settings.local_url
    if not api_key and settings.api_key is not None:
        api_key = settings.api_key.get_secret_value()
    if api_key or url or settings.allow_insecure_no_auth:
        with open_client(address, api_key) as client:
            yield client
        return
    with _passing_key(settings) as key, open_client(address, key) as client:
        yield client


@asynccontextmanager
async def opened_database(settings: Settings) -> AsyncGenerator[Database]:
    """Give the database of this machine, brought up to date, beside a server that may be using it."""
    prepare_data_dir(settings)
    await migrate(settings.sqlalchemy_url)
    database = Database(settings.sqlalchemy_url)
    await database.open()
    try:
        yield database
    finally:
        await database.close()


async def write_here(settings: Settings, work: Work[T]) -> T:
    """Return what `work` returns, once it is committed in the database of this machine; raises what it raises."""
    async with opened_database(settings) as database:
        return await database.writer.submit(work)


@contextmanager
def _passing_key(settings: Settings) -> Generator[str]:
    key = new_key()
    key_id = asyncio.run(store_key(settings, "command line, for one call", key))
    try:
        yield key
    finally:
        asyncio.run(write_here(settings, lambda transaction: keys.revoke_key(transaction, key_id)))


async def store_key(settings: Settings, name: str, key: str, team: str = "") -> UUID:
    """Write a new key into the database of this machine and return its id; `team` is a name or an id."""

    async def write(transaction: Transaction) -> UUID:
        team_id = (await pick_team(transaction, team)).id if team else None
        return (await keys.add_key(transaction, name, key, team_id=team_id)).id

    return await write_here(settings, write)


async def pick_team(transaction: Transaction, wanted: str) -> TeamRecord:
    """Return the team of this name or id; raises NotFound when there is none, or more than one of the name."""
    found = [team for team in await list_teams(transaction) if wanted in (team.name, str(team.id))]
    if len(found) != 1:
        why = "There is no team" if not found else "There is more than one team"
        raise NotFound(f"{why} called {wanted[:100]!r}; see pilothouse team list.")
    return found[0]
