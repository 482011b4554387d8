"""`pilothouse migrate`: the database brought up to this version."""

import typer

from appliance.persistence.migration import migrate_blocking
from appliance.runtime.folders import prepare_data_dir
from appliance.settings import load_settings


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command()(migrate)


def migrate() -> None:
    """Bring the database up to this version; does nothing when it is."""
    settings = load_settings()
    prepare_data_dir(settings)
    changed = migrate_blocking(settings.sqlalchemy_url)
    print("The database is brought up to date." if changed else "The database is up to date.")
