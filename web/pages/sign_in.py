"""The pages through which people come in and go out: sign-in, sign-out, and the account of the first start."""

from typing import Any

from litestar import Request, Response, get, post
from litestar.response import Redirect, Template

from appliance.errors import NotAuthenticated, RequestRefused
from appliance.persistence.users import find_user
from appliance.runtime.assembly import Appliance
from web.pages.examples import curl_example, python_example
from web.pages.first_start import FirstStart
from web.pages.forms import read_fields
from web.signin import COOKIE_NAME, LEAST_PASSWORD_LENGTH, SignIns, Throttle, Viewer, is_password, viewer_of
from web.views import page

AnyRequest = Request[Any, Any, Any]


def sign_in_pages(appliance: Appliance, sign_ins: SignIns, first_start: FirstStart, throttle: Throttle) -> list[Any]:
    """Return the handlers of /sign-in, /sign-out and /setup."""
    return [
        *_sign_in(appliance, sign_ins, first_start, throttle),
        _sign_out(sign_ins),
        *_setup(appliance, sign_ins, first_start, throttle),
    ]


def _sign_in(appliance: Appliance, sign_ins: SignIns, first_start: FirstStart, throttle: Throttle) -> list[Any]:
    @get("/sign-in")
    async def show_sign_in(request: AnyRequest) -> Template | Redirect:
        """Show the form; whoever is in already goes on."""
        await first_start.check()
        if first_start.is_open:
            return Redirect("/setup", status_code=303)
        destination = safe_destination(request.query_params.get("next", ""))
        if viewer_of(request) is not None:
            return Redirect(destination, status_code=303)
        return page(request, "sign_in", error="", email="", next=destination)

    @post("/sign-in", status_code=303)
    async def sign_in(request: AnyRequest) -> Response[Any]:
        """Check the password and open a sign-in."""
        email, password, asked = await read_fields(request, "email", "password", "next")
        destination = safe_destination(asked)
        address = request.client.host if request.client else "unknown"
        try:
            throttle.check(email, address)
            await _check_password(appliance, email, password)
        except RequestRefused as error:
            if isinstance(error, NotAuthenticated):
                throttle.note_failure(email, address)
            return page(
                request, "sign_in", status_code=error.status_code, error=error.message, email=email, next=destination
            )
        throttle.note_success(email)
        await sign_ins.close(request.cookies.get(COOKIE_NAME))
        cookie = await sign_ins.open(Viewer(email.strip().lower()))
        return Redirect(destination, status_code=303, cookies=[cookie])

    return [show_sign_in, sign_in]


async def _check_password(appliance: Appliance, email: str, password: str) -> None:
    async with appliance.database.read() as transaction:
        user = await find_user(transaction, email)
    if not await is_password(password, user.password_hash if user else None):
        raise NotAuthenticated("E-mail address or password is wrong.")


def _sign_out(sign_ins: SignIns) -> Any:
    @post("/sign-out", status_code=303)
    async def sign_out(request: AnyRequest) -> Redirect:
        """End the sign-in on the server and in the browser."""
        cookie = await sign_ins.close(request.cookies.get(COOKIE_NAME))
        return Redirect("/sign-in", status_code=303, cookies=[cookie])

    return sign_out


def _setup(appliance: Appliance, sign_ins: SignIns, first_start: FirstStart, throttle: Throttle) -> list[Any]:
    @get("/setup")
    async def show_setup(request: AnyRequest) -> Template | Redirect:
        """Show the form of the first account while there is none."""
        await first_start.check()
        if not first_start.is_open:
            return Redirect("/", status_code=303)
        token = request.query_params.get("token", "")[:100]
        return page(request, "setup", error="", token=token, email="", least=LEAST_PASSWORD_LENGTH)

    @post("/setup", status_code=201)
    async def set_up(request: AnyRequest) -> Response[Any]:
        """Make the account, sign it in and show its key, once."""
        await first_start.check()
        if not first_start.is_open:
            return Redirect("/", status_code=303)
        token, email, password = await read_fields(request, "token", "email", "password")
        address = request.client.host if request.client else "unknown"
        try:
            throttle.check("setup", address)
            key = await first_start.make_account(token, email, password)
        except RequestRefused as error:
            throttle.note_failure("setup", address)
            return page(
                request,
                "setup",
                status_code=error.status_code,
                error=error.message,
                token=token,
                email=email,
                least=LEAST_PASSWORD_LENGTH,
            )
        settings = appliance.settings
        curl, python = curl_example(settings, key), python_example(settings, key)
        response = page(request, "setup_done", status_code=201, key=key, curl=curl, python=python)
        response.cookies.append(await sign_ins.open(Viewer(email.strip().lower())))
        return response

    return [show_setup, set_up]


def safe_destination(path: str) -> str:
    """Return the path if it leads to a page of ours, else the start page."""
    is_local = path.startswith("/") and not path.startswith(("//", "/\\"))
    return path if is_local and "\n" not in path and "\r" not in path and len(path) < 500 else "/"
