"""`pilothouse run`: one task through the HTTP API, its feed and its output."""

import json
from pathlib import Path
from typing import Annotated, Any, cast

import typer

from appliance.errors import PilothouseError
from appliance.settings import load_settings
from web.cli.access import open_local_client
from web.cli.client import follow, print_result


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command()(run)


def run(
    task: Annotated[str, typer.Argument(help="What is to be done, in your words.")],
    model: Annotated[
        str | None, typer.Option(help="Model; by default DEFAULT_MODEL or the best that has a key.")
    ] = None,
    schema: Annotated[Path | None, typer.Option(help="File with a JSON Schema that the output must follow.")] = None,
    max_steps: Annotated[int | None, typer.Option(help="Steps after which the run ends.")] = None,
    url: Annotated[str, typer.Option(help="Address of the server; by default the one of the settings.")] = "",
    api_key: Annotated[str, typer.Option(envvar="PILOTHOUSE_API_KEY", help="API key; by default API_KEY.")] = "",
) -> None:
    """Give the server a task; print its feed and its output."""
    body: dict[str, Any] = {"task": task}
    if model:
        body["model"] = model
    if max_steps:
        body["maxSteps"] = max_steps
    if schema is not None:
        body["outputSchema"] = _read_schema(schema)
    with open_local_client(load_settings(), url, api_key) as client:
        session = client.call("POST", "sessions", body)
        print(f"Watch: {session['liveUrl']}", flush=True)
        print_result(follow(client, session["id"]))


def _read_schema(path: Path) -> dict[str, Any]:
    try:
        schema: Any = json.loads(path.read_text())
    except OSError as error:
        raise PilothouseError(f"{path} cannot be read ({error.strerror}); correct --schema.") from error
    except ValueError as error:
        raise PilothouseError(f"{path} is not JSON ({error}); correct the file.") from error
    if not isinstance(schema, dict):
        raise PilothouseError(f"{path} holds no JSON object; correct the file.")
    return cast("dict[str, Any]", schema)
