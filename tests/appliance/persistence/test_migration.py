from pathlib import Path

from alembic.autogenerate import compare_metadata
from alembic.config import Config
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory

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


async def test_a_database_that_is_up_to_date_is_left_alone(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'pilothouse.db'}"
    await migrate(url)
    assert not await migrate(url)


def test_the_newest_revision_is_the_one_alembic_would_go_to() -> None:
    config = Config()
    config.set_main_option("script_location", str(FOLDER))
    assert ScriptDirectory.from_config(config).get_current_head() == newest_revision()
