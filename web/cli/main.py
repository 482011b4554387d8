"""The command `pilothouse`, one file a command. A failure is one sentence on stderr; the code is 1, or 2 for misuse."""

import sys
from importlib import import_module

import typer

from appliance.errors import PilothouseError, SettingsInvalid

# Only the command that is asked for is imported: the server must not carry what the others need.
_COMMANDS = (
    "serve",
    "supervise",
    "migrate",
    "run",
    "demo",
    "user",
    "key",
    "price",
    "cap",
    "team",
    "settings",
    "doctor",
)


def main() -> None:
    """Run the command line; the entry point of the package."""
    try:
        build_app(sys.argv[1:])()
    except SettingsInvalid as error:
        print(error.message, file=sys.stderr)
        sys.exit(2)
    except PilothouseError as error:
        print(error.message, file=sys.stderr)
        sys.exit(1)
    except BrokenPipeError:
        sys.stderr.close()
        sys.exit(1)


def build_app(arguments: list[str]) -> typer.Typer:
    """Return the application with the command that the arguments name, or with all of them."""
    app = typer.Typer(
        name="pilothouse",
        callback=_describe,
        no_args_is_help=True,
        add_completion=False,
        pretty_exceptions_enable=False,
        rich_markup_mode=None,
    )
    asked = next((word for word in arguments if not word.startswith("-")), "")
    for name in (asked,) if asked in _COMMANDS else _COMMANDS:
        import_module(f"web.cli.{name}").register(app)
    return app


def _describe() -> None:
    """AI agents at work in real browsers, on your own machine."""


if __name__ == "__main__":
    main()
