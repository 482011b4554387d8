"""Brings a database up to the tables of this version, in process, from the migrations packaged here."""

import asyncio
from pathlib import Path

from sqlalchemy import inspect, text
from sqlalchemy.engine import Connection

from appliance.persistence.database import make_engine

FOLDER = Path(__file__).parent / "migrations"


async def migrate(url: str) -> bool:
    """Bring the database at a SQLAlchemy URL up to date, making it if need be; returns whether anything was done."""
    return await asyncio.to_thread(migrate_blocking, url)


def migrate_blocking(url: str) -> bool:
    """Do what `migrate` does, for callers without a loop."""
    engine = make_engine(url)
    try:
        with engine.connect() as connection:
            if _read_revision(connection) == newest_revision():
                return False
            _upgrade(connection)
            connection.commit()
            return True
    finally:
        engine.dispose()


def newest_revision() -> str:
    """Return the revision that this version's tables have: migrations are files named `<revision>_<what>.py`."""
    return max(path.name.split("_", 1)[0] for path in (FOLDER / "versions").glob("[0-9]*_*.py"))


def _read_revision(connection: Connection) -> str | None:
    if not inspect(connection).has_table("alembic_version"):
        return None
    return connection.execute(text("SELECT version_num FROM alembic_version")).scalar()


def _upgrade(connection: Connection) -> None:
    # Alembic costs 12 MB, which a server whose database is up to date does not pay.
    from alembic import command  # noqa: PLC0415
    from alembic.config import Config  # noqa: PLC0415

    config = Config()
    config.set_main_option("script_location", str(FOLDER).replace("%", "%%"))
    config.attributes["connection"] = connection
    command.upgrade(config, "head")
