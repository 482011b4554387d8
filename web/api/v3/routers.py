"""The v3 API at both of its prefixes, and what is said at the addresses of other versions."""

from typing import Any

from litestar import Router, route
from litestar.di import Provide
from litestar.exceptions import NotFoundException
from litestar.params import FromPath
from litestar.types import Method

from appliance.runtime.assembly import Appliance
from web.api.v3.billing import get_account
from web.api.v3.budgets import list_budgets, raise_budget, remove_budget, set_budget
from web.api.v3.files import list_session_files
from web.api.v3.messages import list_messages, stream_messages
from web.api.v3.profile_jars import (
    compare_profile_versions,
    export_profiles,
    get_profile_merge,
    get_storage_state,
    import_profiles,
    list_profile_versions,
    merge_profiles,
    put_storage_state,
    restore_profile_version,
)
from web.api.v3.profiles import create_profile, delete_profile, get_profile, list_profiles, update_profile
from web.api.v3.records import export_session, get_animation, get_history, replay_session
from web.api.v3.renderings import Renderer
from web.api.v3.sessions import (
    Shelf,
    create_session,
    delete_session,
    get_session,
    list_sessions,
    pause_session,
    resume_session,
    stop_session,
)
from web.api.v3.usage import get_usage
from web.api.v3.workspaces import (
    create_workspace,
    delete_workspace,
    delete_workspace_file,
    get_workspace,
    get_workspace_size,
    list_workspace_files,
    list_workspaces,
    update_workspace,
    upload_workspace_files,
)
from web.auth import KeyGate, provide_payer

_HANDLERS = (
    create_session,
    list_sessions,
    get_session,
    stop_session,
    pause_session,
    resume_session,
    delete_session,
    list_messages,
    stream_messages,
    get_history,
    get_animation,
    export_session,
    list_session_files,
    replay_session,
    get_usage,
    list_budgets,
    set_budget,
    raise_budget,
    remove_budget,
    get_account,
    create_workspace,
    list_workspaces,
    get_workspace,
    update_workspace,
    delete_workspace,
    list_workspace_files,
    upload_workspace_files,
    delete_workspace_file,
    get_workspace_size,
    create_profile,
    list_profiles,
    get_profile,
    update_profile,
    delete_profile,
    put_storage_state,
    get_storage_state,
    import_profiles,
    export_profiles,
    list_profile_versions,
    get_profile_merge,
    compare_profile_versions,
    restore_profile_version,
    merge_profiles,
)
_METHODS: list[Method] = ["GET", "POST", "PUT", "PATCH", "DELETE"]


def v3_routers(appliance: Appliance, renderer: Renderer, gate: KeyGate) -> list[Router]:
    """Return the same calls at /v3 and /api/v3; the OpenAPI document shows them once."""

    shelf = Shelf(appliance.sessions, renderer)

    def make(path: str, *, in_schema: bool) -> Router:
        return Router(
            path,
            route_handlers=list(_HANDLERS),
            guards=[gate.guard],
            dependencies={
                "sessions": Provide(lambda: appliance.sessions, sync_to_thread=False),
                "replays": Provide(lambda: appliance.replays, sync_to_thread=False),
                "caps": Provide(lambda: appliance.caps, sync_to_thread=False),
                "usage": Provide(lambda: appliance.usage, sync_to_thread=False),
                "workspaces": Provide(lambda: appliance.workspaces, sync_to_thread=False),
                "profiles": Provide(lambda: appliance.profiles, sync_to_thread=False),
                "database": Provide(lambda: appliance.database, sync_to_thread=False),
                "hub": Provide(lambda: appliance.hub, sync_to_thread=False),
                "own_settings": Provide(lambda: appliance.settings, sync_to_thread=False),
                "payer": Provide(provide_payer, sync_to_thread=False),
                "renderer": Provide(lambda: renderer, sync_to_thread=False),
                "shelf": Provide(lambda: shelf, sync_to_thread=False),
            },
            security=[{"apiKey": []}, {"bearer": []}],
            include_in_schema=in_schema,
        )

    return [make("/v3", in_schema=True), make("/api/v3", in_schema=False)]


@route(
    ["/v2/{rest:path}", "/api/v2/{rest:path}", "/v4/{rest:path}", "/api/v4/{rest:path}"],
    http_method=_METHODS,
    include_in_schema=False,
    sync_to_thread=False,
)
def answer_other_version(rest: FromPath[str]) -> Any:  # noqa: ARG001 - the path has it
    """Say where the API is to a client of another version of it."""
    raise NotFoundException(
        "This server speaks version 3 of the API, at /v3. "
        "In Python: from browser_use_sdk.v3 import BrowserUse; in Node: import from browser-use-sdk/v3."
    )
