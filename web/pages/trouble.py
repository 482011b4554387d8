"""The page that says what was refused or is not there, for people; programs get the same as JSON."""

from typing import Any

from litestar import Request, Response
from litestar.exceptions import HTTPException
from litestar.response import Template

from web.headers import secure_page
from web.problems import answer_problem

_HEADLINES = {
    400: "That is not possible",
    403: "That is not allowed",
    404: "There is no such page",
    405: "There is no such page",
    409: "Not at the moment",
    422: "That cannot be used",
}
_FOR_PROGRAMS = ("/v2", "/v3", "/v4", "/api", "/schema")


def trouble_page(status_code: int, message: str) -> Response[Any]:
    """Return the page with a headline for the status."""
    headline = _HEADLINES.get(status_code, "That did not work")
    response = Template(
        "pages/trouble.html", context={"headline": headline, "message": message}, status_code=status_code
    )
    return secure_page(response)


def answer_unknown_address(request: Request[Any, Any, Any], error: HTTPException) -> Response[Any]:
    """Answer where there is nothing, or nothing to look at: a page to a browser, JSON to anybody else."""
    wants_page = "text/html" in request.headers.get("accept", "")
    if not wants_page or request.url.path.startswith(_FOR_PROGRAMS):
        return answer_problem(request, error)
    message = "The address may be mistyped, or what was there may have been deleted."
    return trouble_page(error.status_code, message)
