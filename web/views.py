"""Makes pages out of templates: the environment with the words in it, and the shell that every page shares."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined, select_autoescape
from litestar import Request
from litestar.plugins.jinja import JinjaTemplateEngine
from litestar.response import Template
from litestar.template import TemplateConfig

from web import wording
from web.answers import render_markdown
from web.notices import kind_of
from web.signin import viewer_of
from web.static_files import StaticFiles

TEMPLATES_DIR = Path(__file__).resolve().parent.parent / "templates"

_TURNING = dict.fromkeys((*range(0x202A, 0x202F), *range(0x2066, 0x206A)))
"""The signs that open and close embeddings, overrides and isolates of writing direction."""


@dataclass(frozen=True)
class Place:
    """An entry of the rail."""

    name: str
    path: str
    icon: str


PLACES = (
    Place("New task", "/", "new"),
    Place("Sessions", "/sessions", "sessions"),
    Place("Usage", "/usage", "usage"),
    Place("Budgets", "/budgets", "budgets"),
)


@dataclass(frozen=True)
class Crew:
    """How many slots there are and how many are taken, for the small squares of the rail."""

    taken: int
    total: int


class Views:
    """Renders templates; one per application."""

    def __init__(self, files: StaticFiles) -> None:
        self.files = files
        self._environment = _make_environment(files)

    @property
    def template_config(self) -> TemplateConfig[JinjaTemplateEngine]:
        """What Litestar needs to answer with a `Template`."""
        return TemplateConfig(instance=JinjaTemplateEngine.from_environment(self._environment))

    def render(self, name: str, **context: Any) -> str:
        """Return a fragment, for streams; a page is a `Template`."""
        return self._environment.get_template(name).render(**context)


def page(request: Request[Any, Any, Any], name: str, *, status_code: int = 200, **context: Any) -> Template:
    """Return the page of this template inside the shell; `crew` in the context fills the squares of the rail."""
    shell = {"viewer": viewer_of(request), "places": PLACES, "path": request.url.path, "crew": None}
    return Template(f"pages/{name}.html", context={**shell, **context}, status_code=status_code)


def _in_order(value: Any) -> Any:
    """Return what is shown without signs that would turn the order of the text around it; markup stays markup.

    Names and texts of web sites stand in the midst of our own words, and must not make them read otherwise.
    """
    return value.translate(_TURNING) if isinstance(value, str) else value


def _make_environment(files: StaticFiles) -> Environment:
    # Jinja types its tables of names as holding something unknown.
    environment: Any = Environment(
        loader=FileSystemLoader(TEMPLATES_DIR),
        autoescape=select_autoescape(),
        undefined=StrictUndefined,
        finalize=_in_order,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.globals |= {"static": files.address, "state_of": wording.say_state, "failure_of": wording.say_failure}
    environment.filters |= {
        "ago": wording.say_ago,
        "moment": wording.say_moment,
        "clock": wording.say_clock,
        "duration": wording.say_duration,
        "money": wording.say_money,
        "ordinal": wording.say_ordinal,
        "host": wording.say_host,
        "first_line": wording.first_line,
        "receipt": wording.say_receipt,
        "notice_kind": kind_of,
        "markdown": render_markdown,
    }
    return environment
