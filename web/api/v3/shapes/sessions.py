"""The JSON of sessions as the v3 API has it, with our additions; unknown keys of a request are ignored."""

from datetime import datetime
from typing import Annotated, Any
from uuid import UUID

from msgspec import UNSET, Meta, Struct, UnsetType, field

Steps = Annotated[int, Meta(ge=1, le=10_000)]
Seconds = Annotated[float, Meta(ge=1, le=86_400)]
_Text = Annotated[str, Meta(max_length=200)]


class RunTaskRequest(Struct, rename="camel", kw_only=True):
    """What a caller may ask for when it makes or continues a session; a null is as good as nothing said,

    but for thinkingLevel (null: back to the model's default) and proxyCountryCode (null: no proxy).
    """

    task: str | None = None
    session_id: UUID | None = None
    model: _Text | None = None
    thinking_level: Annotated[str | UnsetType | None, Meta(description="disabled, low, medium or high")] = UNSET
    reasoning_effort: Annotated[str | None, Meta(description="none, minimal, low, medium, high, xhigh or max")] = None
    keep_alive: bool | None = None
    max_cost_usd: Annotated[str | float | None, Meta(description="US dollars for the whole session, above 0")] = None
    output_schema: dict[str, Any] | None = None
    max_steps: Steps | None = None
    timeout: Seconds | None = None
    system_prompt_extension: Annotated[str, Meta(max_length=50_000)] | None = None
    browser_screen_width: Annotated[int, Meta(ge=320, le=6144)] | None = None
    browser_screen_height: Annotated[int, Meta(ge=320, le=3456)] | None = None
    profile_id: UUID | None = None
    workspace_id: UUID | None = None
    proxy_country_code: _Text | None = None
    allowed_domains: Annotated[
        list[str] | None,
        Meta(description="example.com, *.example.com, example.com:8080 or https://example.com; an empty list: all"),
    ] = None
    sensitive_data: Annotated[
        dict[str, str | dict[str, str]] | None,
        Meta(description="secrets by name, or by domain and name, typed for <secret>name</secret>; never returned"),
    ] = None
    callback_url: str | None = None
    enable_scheduled_tasks: bool | None = None
    enable_recording: bool | None = None
    skills: bool | None = None
    agentmail: bool | None = None
    code_mode: bool | None = None
    cache_script: bool | None = None


class StopRequest(Struct, rename="camel", kw_only=True):
    """What is to be stopped: "session" (the default) or only the "task"."""

    strategy: str | None = None


class WarningView(Struct, rename="camel", kw_only=True):
    """A field of the request that was accepted and does nothing here."""

    field: str
    code: str
    message: str


class SourceView(Struct, rename="camel", kw_only=True, omit_defaults=True):
    """Where a value of an answer was read: `status` is read, absent (`reason` says why) or unseen on any page.

    `screenshot` names the picture of the page among the session's; `screenshotUrl` shows it for some minutes.
    """

    status: str
    url: str | None = None
    quote: str | None = None
    at: datetime | None = None
    step: int | None = None
    screenshot: str | None = None
    screenshot_url: str | None = None
    reason: str | None = None


class SessionView(Struct, rename="camel", kw_only=True):
    """A session. Amounts are text in plain decimal notation, times have an offset, links are absolute.

    `modelName` is the model's real name; `model` is the nearest one that the cloud's own clients know.
    """

    id: UUID
    status: str
    model: str
    model_name: str
    created_at: datetime
    updated_at: datetime
    lifecycle: str
    title: str | None = None
    output: Any = None
    output_schema: dict[str, Any] | None = None
    thinking_level: str | None = None
    reasoning_effort: str | None = None
    step_count: int = 0
    last_step_summary: str | None = None
    is_task_successful: bool | None = None
    failure_kind: str | None = None
    failure_status_code: int | None = None
    queue_position: int | None = None
    warnings: list[WarningView] = field(default_factory=list[WarningView])
    live_url: str | None = None
    screenshot_url: str | None = None
    recording_urls: list[str] = field(default_factory=list[str])
    profile_id: UUID | None = None
    workspace_id: UUID | None = None
    proxy_country_code: str | None = None
    browser_screen_width: int | None = None
    browser_screen_height: int | None = None
    max_steps: int | None = None
    timeout: float | None = None
    allowed_domains: list[str] = field(default_factory=list[str])
    keep_alive: bool = False
    max_cost_usd: str | None = None
    total_input_tokens: int = 0
    total_output_tokens: int = 0
    llm_cost_usd: str = "0"
    proxy_cost_usd: str = "0"
    browser_cost_usd: str = "0"
    total_cost_usd: str = "0"
    proxy_used_mb: str = "0"
    agentmail_email: str | None = None
    integrations_used: list[str] = field(default_factory=list[str])
    provenance: Annotated[
        dict[str, SourceView] | UnsetType | None,
        Meta(description="on request: by JSON pointer, where each value of output was read"),
    ] = UNSET


class SessionListView(Struct, rename="camel", kw_only=True):
    """One page of sessions, newest first; `total` counts all pages."""

    sessions: list[SessionView]
    total: int
    page: int
    page_size: int
