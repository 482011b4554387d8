"""The JSON of what a session's runs were and did."""

from datetime import datetime
from typing import Annotated, Any
from uuid import UUID

from msgspec import UNSET, Meta, Struct, UnsetType

from web.api.v3.shapes.sessions import Seconds, SourceView, Steps


class ReplayRequest(Struct, rename="camel", kw_only=True):
    """How a recorded run is done again; all may be left out. `run` counts the session's runs from 1."""

    run: Annotated[int, Meta(ge=1, description="default: the last one")] | None = None
    model: (
        Annotated[str, Meta(max_length=200, description="asked where the run asked one, and what keys do not find")]
        | None
    ) = None
    keep_alive: bool | None = None
    max_steps: Steps | None = None
    timeout: Seconds | None = None


class ActionView(Struct, rename="camel", kw_only=True):
    """One action and what came of it; `status` is null where nothing was written down."""

    name: str
    arguments: dict[str, Any]
    status: str | None = None
    result: str | None = None
    url: str | None = None


class StepView(Struct, rename="camel", kw_only=True):
    """One step of a run; `summary` is one line on what was to be done and what came of it."""

    step: int
    url: str
    title: str
    move: str
    summary: str
    actions: list[ActionView]
    trouble: str | None = None


class RunView(Struct, rename="camel", kw_only=True):
    """One run of a session; `steps`, what stands below them and `record` come with the wider scopes.

    `totalCostUsd` is what the ledger has for the run, without what has no known price; so are the tokens.

    `urls` are the addresses it was at, `errors` what went wrong, both in order; `seconds` is how long it took.
    `structuredOutput` is the answer where it fits the schema, `partialOutput` what a run without an answer left of one.

    `provenance` says by JSON pointer where each value of `output` was read; null where nothing is known of it.
    """

    run: int
    id: UUID
    task: str
    model: str
    status: str
    ending: str | None = None
    is_successful: bool | None = None
    output: Any = None
    provenance: dict[str, SourceView] | None = None
    failure_kind: str | None = None
    started_at: datetime | None = None
    ended_at: datetime | None = None
    step_count: int = 0
    total_cost_usd: str = "0"
    steps: list[StepView] | UnsetType = UNSET
    urls: list[str] | UnsetType = UNSET
    errors: list[str] | UnsetType = UNSET
    seconds: float | UnsetType = UNSET
    input_tokens: int | UnsetType = UNSET
    output_tokens: int | UnsetType = UNSET
    structured_output: Any | UnsetType = UNSET
    partial_output: Any | UnsetType = UNSET
    record: list[dict[str, Any]] | UnsetType = UNSET


class ExportView(Struct, rename="camel", kw_only=True):
    """A session to take away."""

    session_id: UUID
    title: str
    scope: str
    runs: list[RunView]
