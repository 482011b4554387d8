"""`pilothouse settings`: the table of settings, for people and for ops/docs/settings.md."""

from pathlib import Path
from typing import Annotated, Any, get_args, get_origin

import typer

from appliance.errors import PilothouseError
from appliance.settings import Settings

_HEAD = """# Settings

Set them as environment variables, in a `.env` file of the data or working folder, or as `NAME_FILE` with the path of a
file that holds the value. The environment wins over `NAME_FILE`, that over the data folder's `.env`, that over the
working folder's. This page is made by `pilothouse settings --markdown`.

| setting | default | what it does |
| --- | --- | --- |
"""


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command()(settings)


def settings(
    markdown: Annotated[bool, typer.Option("--markdown", help="Print the page of the documentation.")] = False,
    check: Annotated[Path | None, typer.Option(help="Fail if this file is not what --markdown prints.")] = None,
) -> None:
    """Print every setting with its default and meaning. Values are never shown."""
    if check is not None:
        _check(check)
    elif markdown:
        print(render_markdown(), end="")
    else:
        for name, default, meaning in describe_settings():
            print(f"{name:26} {default or '-':20} {meaning}")


def describe_settings() -> list[tuple[str, str, str]]:
    """Return name, default as text and meaning of every setting, in the order of their definition."""
    return [
        (name.upper(), _default_text(field.default, field.annotation), _meaning(field.description or "", field))
        for name, field in Settings.model_fields.items()
    ]


def render_markdown() -> str:
    """Return the documentation page."""
    rows = (
        f"| `{name}` | {f'`{default}`' if default else ''} | {meaning} |"
        for name, default, meaning in describe_settings()
    )
    return _HEAD + "\n".join(rows) + "\n"


def _check(path: Path) -> None:
    if not path.is_file() or path.read_text() != render_markdown():
        raise PilothouseError(f"{path} is out of date; run: pilothouse settings --markdown > {path}")


def _default_text(default: Any, annotation: Any) -> str:
    if default is None or default in ("", ()):
        return ""
    if annotation is bool:
        return "true" if default else "false"
    return str(default)


def _meaning(description: str, field: Any) -> str:
    if get_origin(field.annotation) is not None and all(isinstance(word, str) for word in get_args(field.annotation)):
        return f"{description} One of: {', '.join(get_args(field.annotation))}."
    return description
