"""The one list of everything that the server answers to."""

from litestar import Litestar
from litestar.exceptions import MethodNotAllowedException, NotFoundException
from litestar.openapi import OpenAPIConfig
from litestar.openapi.plugins import JsonRenderPlugin
from litestar.openapi.spec import Components, SecurityScheme

from appliance.models.providers import load_clients
from appliance.runtime.assembly import Appliance
from web.api.v3.renderings import Renderer
from web.api.v3.routers import answer_other_version, v3_routers
from web.auth import KEY_HEADER, KeyGate
from web.demo.shop import demo_router
from web.file_links import file_links_router
from web.health import health_router
from web.live.routers import live_router
from web.pages.first_start import FirstStart
from web.pages.routers import page_routers
from web.pages.trouble import answer_unknown_address
from web.problems import answer_problem
from web.screenshots import screenshots_router
from web.signin import open_sign_ins, recognizer
from web.static_files import StaticFiles, static_router
from web.views import Views
from web.workspace_links import workspace_links_router


def create_app(appliance: Appliance) -> Litestar:
    """Return the web application of an open appliance; opening and closing it is the caller's business."""
    settings, signer = appliance.settings, appliance.signer
    renderer = Renderer(settings.base_url, signer)
    gate = KeyGate(settings, appliance.database)
    views = Views(StaticFiles())
    sign_ins = open_sign_ins(settings)
    recognize = recognizer(settings, sign_ins)
    first_start = FirstStart(settings, appliance.database)
    return Litestar(
        route_handlers=[
            *v3_routers(appliance, renderer, gate),
            answer_other_version,
            screenshots_router(settings, signer),
            file_links_router(settings, signer),
            workspace_links_router(appliance.workspaces, signer),
            health_router(appliance),
            *page_routers(appliance, sign_ins, recognize, first_start),
            live_router(appliance, views, recognize),
            static_router(views.files),
            demo_router,
        ],
        exception_handlers={
            Exception: answer_problem,
            NotFoundException: answer_unknown_address,
            MethodNotAllowedException: answer_unknown_address,
        },
        template_config=views.template_config,
        on_startup=[first_start.prepare, lambda: load_clients(appliance.provider_keys)],
        openapi_config=_describe_api(),
        logging_config=None,
    )


def _describe_api() -> OpenAPIConfig:
    return OpenAPIConfig(
        title="Pilothouse",
        version="3",
        description="AI agents at work in real browsers: the v3 API of Browser Use Cloud, with additions.",
        path="/schema",
        render_plugins=[JsonRenderPlugin(path=["/", "/openapi.json"])],
        components=Components(
            security_schemes={
                "apiKey": SecurityScheme(type="apiKey", name=KEY_HEADER, security_scheme_in="header"),
                "bearer": SecurityScheme(type="http", scheme="bearer"),
            }
        ),
    )
