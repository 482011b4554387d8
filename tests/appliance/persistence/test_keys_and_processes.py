import pytest

from appliance.errors import NotFound
from appliance.persistence.database import Database
from appliance.persistence.keys import add_key, find_key, hash_key, list_keys, revoke_key
from appliance.persistence.processes import forget_process, list_processes, remember_process
from appliance.persistence.records import ProcessRecord


async def test_a_key_is_found_by_its_hash_until_it_is_revoked(database: Database) -> None:
    key = await database.writer.submit(lambda tx: add_key(tx, "n8n", "bu_secret_0123456789"))
    assert "secret_0123456789" not in repr(key)
    async with database.read() as connection:
        assert await find_key(connection, hash_key("bu_secret_0123456789")) == key
        assert await find_key(connection, hash_key("bu_other")) is None
    await database.writer.submit(lambda tx: revoke_key(tx, key.id))
    async with database.read() as connection:
        assert await find_key(connection, key.hash) is None
        assert [one.name for one in await list_keys(connection)] == ["n8n"]
    with pytest.raises(NotFound):
        await database.writer.submit(lambda tx: revoke_key(tx, key.id))


async def test_a_reused_process_number_replaces_the_old_entry(database: Database) -> None:
    await database.writer.submit(lambda tx: remember_process(tx, ProcessRecord(7, "chromium", 100)))
    await database.writer.submit(lambda tx: remember_process(tx, ProcessRecord(7, "chromium", 200)))
    await database.writer.submit(lambda tx: remember_process(tx, ProcessRecord(8, "chromium", 300)))
    await database.writer.submit(lambda tx: forget_process(tx, 8))
    await database.writer.submit(lambda tx: forget_process(tx, 9))
    async with database.read() as connection:
        assert await list_processes(connection) == (ProcessRecord(7, "chromium", 200),)
