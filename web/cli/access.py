"""How the command line gets in: the address of this machine's server and a key it accepts."""

import asyncio
from collections.abc import AsyncGenerator, Generator
from contextlib import asynccontextmanager, contextmanager
from uuid import UUID

from appliance.persistence import keys
from appliance.persistence.database import Database, Transaction
from appliance.persistence.migration import migrate
from appliance.runtime.folders import prepare_data_dir
from appliance.settings import Settings
from web.auth import new_key
from web.cli.client import ApiClient, open_client


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


@contextmanager
def _passing_key(settings: Settings) -> Generator[str]:
    key = new_key()
    key_id = asyncio.run(store_key(settings, "command line, for one call", key))
    try:
        yield key
    finally:
        asyncio.run(_revoke(settings, key_id))


async def store_key(settings: Settings, name: str, key: str) -> UUID:
    """Write a new key into the database of this machine and return its id."""

    async def write(transaction: Transaction) -> UUID:
        return (await keys.add_key(transaction, name, key)).id

    async with opened_database(settings) as database:
        return await database.writer.submit(write)


async def _revoke(settings: Settings, key_id: UUID) -> None:
    async def write(transaction: Transaction) -> None:
        await keys.revoke_key(transaction, key_id)

    async with opened_database(settings) as database:
        await database.writer.submit(write)
