"""`pilothouse supervise`: the whole appliance in the foreground, under supervisord."""

import os

import typer

from appliance.persistence.migration import migrate_blocking
from appliance.runtime.folders import PRIVATE, make_layout, prepare_data_dir
from appliance.runtime.secret import read_secret
from appliance.settings import load_settings
from web.cli.listening import require_free_port


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command()(supervise)


def supervise() -> None:
    """Run server and displays until told to stop. The database is brought up to date first."""
    settings = load_settings()
    os.umask(PRIVATE)
    require_free_port(settings)
    prepare_data_dir(settings)
    read_secret(settings)
    migrate_blocking(settings.sqlalchemy_url)
    layout = make_layout(settings)
    layout.make_folders()
    command = layout.command()
    os.execve(command[0], command, {**os.environ, **layout.environment()})
