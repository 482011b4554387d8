"""The start page: a task is written, checked and started; the last ones stand below for use once more."""

from dataclasses import replace
from typing import Any, cast
from uuid import UUID

from litestar import Request, Response, get, post
from litestar.response import Redirect, Template

from appliance.errors import NotFound, RequestInvalid, RequestRefused
from appliance.models.providers import choose_default
from appliance.runtime.assembly import Appliance
from appliance.runtime.choices import check_schema
from appliance.runtime.wishes import SessionWish
from appliance.words import Effort
from web.demo.task import DEMO_SCHEMA, describe_task
from web.pages.crew import count_crew
from web.pages.examples import python_example
from web.pages.forms import TaskForm, name_errors, read_fields, read_schema, read_task_form
from web.pages.model_menu import list_models
from web.pages.payer import find_payer
from web.pages.reuse import form_of_session
from web.views import page

AnyRequest = Request[Any, Any, Any]
_RECENT = 5


def task_pages(appliance: Appliance) -> list[Any]:
    """Return the handlers of /, /demonstration and /schema-check."""
    return [*_new_task(appliance), _demonstration(appliance), _schema_check()]


def _new_task(appliance: Appliance) -> list[Any]:
    @get("/")
    async def show_new_task(request: AnyRequest) -> Template:
        """Show the form; `again` fills it with an earlier session's task."""
        form = await _read_again(appliance, request.query_params.get("again", ""))
        return await _show(request, appliance, form, {})

    @post("/", status_code=303)
    async def start_task(request: AnyRequest) -> Response[Any]:
        """Start the task and go to its session, or show what has to be corrected."""
        form = await read_task_form(request)
        try:
            session = await appliance.sessions.create(
                replace(form.to_wish(), payer=await find_payer(request, appliance.database))
            )
        except RequestRefused as error:
            return await _show(request, appliance, form, name_errors(error), error.status_code)
        return Redirect(f"/sessions/{session.id}", status_code=303)

    return [show_new_task, start_task]


async def _show(
    request: AnyRequest, appliance: Appliance, form: TaskForm, errors: dict[str, str], status_code: int = 200
) -> Template:
    recent = await appliance.sessions.list_page(1, _RECENT)
    named = {"task", "model", "max_steps", "max_cost", "effort", "schema", "other"}
    return page(
        request,
        "task_new",
        status_code=status_code,
        form=form,
        errors={**dict.fromkeys(named, ""), **errors},
        more_open=form.uses_more or bool(errors.keys() & {"max_steps", "max_cost", "effort", "schema"}),
        models=list_models(appliance.provider_keys),
        efforts=list(Effort),
        recent=recent.sessions,
        first_visit=recent.total == 0,
        crew=count_crew(appliance),
        python=python_example(appliance.settings, "your API key"),
        key_hint=_say_where_the_key_is(appliance),
    )


async def _read_again(appliance: Appliance, again: str) -> TaskForm:
    blank = TaskForm(model=_default_model(appliance))
    try:
        session_id = UUID(again)
    except ValueError:
        return blank
    try:
        session = await appliance.sessions.find(session_id)
        runs = await appliance.sessions.list_runs(session_id)
    except NotFound:
        return blank
    return form_of_session(session, runs) if runs else replace(blank, model=session.model)


def _default_model(appliance: Appliance) -> str:
    try:
        return choose_default(appliance.provider_keys, appliance.settings.default_model).name
    except RequestInvalid:
        # A DEFAULT_MODEL that cannot be used is told to whoever starts a task with it.
        return ""


def _say_where_the_key_is(appliance: Appliance) -> str:
    if appliance.settings.api_key is not None:
        return "The API key is the one in the setting API_KEY."
    return "The API key was shown at setup; “pilothouse key create NAME” makes another."


def _demonstration(appliance: Appliance) -> Any:
    @post("/demonstration", status_code=303)
    async def start_demonstration(request: AnyRequest) -> Redirect:
        """Start the demonstration task and go to its session."""
        task, payer = describe_task(appliance.settings.local_url), await find_payer(request, appliance.database)
        wish = SessionWish(task=task, model="autopilot", output_schema=DEMO_SCHEMA, payer=payer)
        session = await appliance.sessions.create(wish)
        return Redirect(f"/sessions/{session.id}", status_code=303)

    return start_demonstration


def _schema_check() -> Any:
    @post("/schema-check", status_code=200)
    async def check(request: AnyRequest) -> Template:
        """Say whether the schema can be used: a fragment for the page, a page without script."""
        (text,) = await read_fields(request, "schema")
        try:
            schema = read_schema(text)
            if schema is not None:
                check_schema(schema)
            wrong, said = "", _describe_schema(schema)
        except RequestInvalid as error:
            wrong, said = error.message, ""
        if request.headers.get("hx-request"):
            return Template("partials/_schema_verdict.html", context={"error": wrong, "said": said})
        return page(request, "schema_check", error=wrong, said=said)

    return check


def _describe_schema(schema: dict[str, Any] | None) -> str:
    if schema is None:
        return "No schema: the answer will be text."
    properties = schema.get("properties")
    if isinstance(properties, dict) and properties:
        names = list(cast("dict[str, Any]", properties))
        return f"This schema can be used. Fields: {', '.join(names[:12])}{' …' if len(names) > 12 else ''}."
    return "This schema can be used."
