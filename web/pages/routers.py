"""The pages of people: what needs a sign-in, what does not, and what is shown when something is refused."""

from typing import Any
from urllib.parse import quote

from litestar import Request, Response, Router
from litestar.config.csrf import CSRFConfig
from litestar.exceptions import HTTPException, PermissionDeniedException
from litestar.middleware import DefineMiddleware
from litestar.middleware.csrf import CSRFMiddleware
from litestar.response import Redirect

from appliance.errors import NotAuthenticated, RequestRefused
from appliance.runtime.assembly import Appliance
from web.headers import secure_page
from web.pages.budgets import budget_pages
from web.pages.first_start import FirstStart
from web.pages.sessions import session_pages
from web.pages.sign_in import sign_in_pages
from web.pages.task_new import task_pages
from web.pages.trouble import trouble_page
from web.pages.usage import usage_pages
from web.signin import RecognizeViewer, SignIns, Throttle, require_viewer


def page_routers(
    appliance: Appliance, sign_ins: SignIns, recognize: RecognizeViewer, first_start: FirstStart
) -> list[Router]:
    """Return the routers of all pages."""
    settings = appliance.settings
    csrf = CSRFConfig(
        secret=appliance.secret.hex(),
        cookie_name="pilothouse-form",
        cookie_secure=settings.base_url.startswith("https:"),
        cookie_httponly=True,
        cookie_samesite="lax",
    )
    open_to_all = sign_in_pages(appliance, sign_ins, first_start, Throttle())
    for_people = [*task_pages(appliance), *session_pages(appliance), *budget_pages(appliance), *usage_pages(appliance)]
    common: dict[str, Any] = {
        "after_request": secure_page,
        "exception_handlers": {
            NotAuthenticated: _ask_to_sign_in,
            RequestRefused: _say_refused,
            PermissionDeniedException: _say_form_is_old,
            HTTPException: _say_http_error,
        },
        "include_in_schema": False,
    }
    middleware = [recognize, DefineMiddleware(CSRFMiddleware, config=csrf)]
    return [
        Router("/", route_handlers=open_to_all, middleware=middleware, **common),
        Router("/", route_handlers=for_people, middleware=middleware, guards=[require_viewer], **common),
    ]


def _ask_to_sign_in(request: Request[Any, Any, Any], _: NotAuthenticated) -> Response[Any]:
    path = request.url.path if request.method == "GET" else "/"
    target = "/sign-in" if path == "/" else f"/sign-in?next={quote(path)}"
    return secure_page(Redirect(target, status_code=303))


def _say_refused(_: Request[Any, Any, Any], error: RequestRefused) -> Response[Any]:
    return trouble_page(error.status_code, error.message)


def _say_form_is_old(_: Request[Any, Any, Any], __: PermissionDeniedException) -> Response[Any]:
    return trouble_page(
        403, "This form was not made by this server for you, or is too old. Load the page again and repeat."
    )


def _say_http_error(_: Request[Any, Any, Any], error: HTTPException) -> Response[Any]:
    return trouble_page(error.status_code, error.detail)
