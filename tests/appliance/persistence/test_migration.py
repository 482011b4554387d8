from datetime import UTC, datetime
from pathlib import Path

from alembic import command
from alembic.autogenerate import compare_metadata
from alembic.config import Config
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import MetaData, Table, insert, text

from appliance.persistence.database import make_engine
from appliance.persistence.migration import FOLDER, migrate, newest_revision
from appliance.persistence.tables import metadata


async def test_an_empty_database_gets_every_table_exactly_as_the_code_has_it(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'new folder' / 'pilothouse.db'}"
    assert await migrate(url)
    engine = make_engine(url)
    with engine.connect() as connection:
        context = MigrationContext.configure(connection, opts={"compare_type": True})
        differences = compare_metadata(context, metadata)
    engine.dispose()
    assert differences == []


async def test_a_database_of_the_first_version_keeps_its_rows_and_gets_what_is_new(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'pilothouse.db'}"
    engine = make_engine(url)
    config = Config()
    config.set_main_option("script_location", str(FOLDER))
    session = {
        "id": "s",
        "status": "idle",
        "model": "m",
        "wire_model": "m",
        "title": "Kept",
        **dict.fromkeys(("created_at", "updated_at"), datetime(2026, 1, 1, tzinfo=UTC)),
    }
    with engine.connect() as connection:
        config.attributes["connection"] = connection
        command.upgrade(config, "0001")
        table = Table("sessions", MetaData(), autoload_with=connection)
        filled = {column.name: 0 for column in table.columns if not column.nullable} | session
        connection.execute(insert(table).values(filled))
        connection.commit()

    assert await migrate(url)

    with engine.connect() as connection:
        assert compare_metadata(MigrationContext.configure(connection), metadata) == []
        row = connection.execute(text("SELECT title, allowed_domains, sensitive_data FROM sessions")).one()
    engine.dispose()
    assert tuple(row) == ("Kept", None, None)


async def test_a_database_that_is_up_to_date_is_left_alone(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'pilothouse.db'}"
    await migrate(url)
    assert not await migrate(url)


def test_the_newest_revision_is_the_one_alembic_would_go_to() -> None:
    config = Config()
    config.set_main_option("script_location", str(FOLDER))
    assert ScriptDirectory.from_config(config).get_current_head() == newest_revision()
