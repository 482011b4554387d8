"""Lays out what a run delivered: text as safe Markdown, JSON as facts and tables. Nothing in it is trusted.

Each value knows its JSON pointer and whether it was read on a page, so that a person can ask where.
"""

import json
from collections.abc import MutableMapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, Literal, cast

from markdown_it import MarkdownIt
from markdown_it.renderer import RendererHTML
from markdown_it.token import Token
from markdown_it.utils import OptionsDict
from markupsafe import Markup

from appliance.store.pointers import escape, leaves
from appliance.store.sources import Sources

_MOST_MARKDOWN = 200_000
_MOST_ROWS = 1000

Origin = Literal["read", "absent", "unseen", ""]
_LEAST_SURE_FIRST: tuple[Origin, ...] = ("unseen", "absent", "read")


@dataclass(frozen=True)
class Cell:
    """A value as short text or a link, "" where there is nothing. `origin` is "" where nothing is known of it."""

    text: str
    pointer: str = ""
    origin: Origin = ""

    @property
    def is_link(self) -> bool:
        """Whether the text is a web address and nothing else."""
        return self.text.startswith(("http://", "https://")) and " " not in self.text


@dataclass(frozen=True)
class Table:
    """Rows of cells under named columns."""

    name: str
    columns: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    left_out: int = 0


@dataclass(frozen=True)
class Answer:
    """What is shown: `prose` for text, `facts` and `tables` for JSON; `raw` is what the copy button gives.

    `is_traced` says that it is known where the values were read, `unseen` how many were read nowhere.
    """

    raw: str
    prose: Markup | None = None
    facts: tuple[tuple[str, Cell], ...] = ()
    tables: tuple[Table, ...] = ()
    is_traced: bool = False
    unseen: int = 0


def lay_out(output: Any, *, is_structured: bool = False, sources: Sources | None = None) -> Answer | None:
    """Return the answer for a run's output, None when there is none.

    `is_structured` says that a schema was asked for: then text that is JSON is shown as what it holds. `sources` say
    where its values were read, where that is known.
    """
    if output is None or output == "":
        return None
    if isinstance(output, str):
        parsed = _parse(output) if is_structured else None
        if parsed is None:
            return Answer(raw=output, prose=render_markdown(output))
        output = parsed
    raw = json.dumps(output, ensure_ascii=False, indent=2)
    facts, tables = _Layout(sources or {}).sort_out(output)
    unseen = sum(source["status"] == "unseen" for source in (sources or {}).values())
    return Answer(raw=raw, facts=facts, tables=tables, is_traced=sources is not None, unseen=unseen)


def render_markdown(text: str) -> Markup:
    """Return safe HTML: no raw HTML passes, links leave without a referrer, pictures stay links."""
    return Markup(_markdown().render(text[:_MOST_MARKDOWN]))  # noqa: S704 - the parser escapes every tag


def _parse(text: str) -> Any:
    try:
        parsed: Any = json.loads(text)
    except ValueError:
        return None
    return cast("Any", parsed) if isinstance(parsed, dict | list) else None


class _Layout:
    """Makes facts, tables and cells of JSON."""

    def __init__(self, sources: Sources) -> None:
        self._sources = sources

    def sort_out(self, value: Any) -> tuple[tuple[tuple[str, Cell], ...], tuple[Table, ...]]:
        if isinstance(value, list):
            return (), (self._tabulate("", "", cast("list[Any]", value)),)
        if not isinstance(value, dict):
            return (("value", self._cell(value, "")),), ()
        facts: list[tuple[str, Cell]] = []
        tables: list[Table] = []
        for name, field in cast("dict[str, Any]", value).items():
            pointer = f"/{escape(name)}"
            if isinstance(field, list) and field and all(isinstance(item, dict) for item in cast("list[Any]", field)):
                tables.append(self._tabulate(name, pointer, cast("list[Any]", field)))
            else:
                facts.append((name, self._cell(field, pointer)))
        return tuple(facts), tuple(tables)

    def _tabulate(self, name: str, pointer: str, items: list[Any]) -> Table:
        shown = items[:_MOST_ROWS]
        left_out = len(items) - len(shown)
        if not all(isinstance(item, dict) for item in shown):
            cells = tuple((self._cell(item, f"{pointer}/{number}"),) for number, item in enumerate(shown))
            return Table(name, ("value",), cells, left_out)
        columns = tuple(dict.fromkeys(key for item in shown for key in item))
        rows = tuple(
            tuple(self._cell(item.get(column), f"{pointer}/{number}/{escape(column)}") for column in columns)
            for number, item in enumerate(shown)
        )
        return Table(name, columns, rows, left_out)

    def _cell(self, value: Any, pointer: str) -> Cell:
        return Cell(say_value(value), pointer, self._origin(value, pointer))

    def _origin(self, value: Any, pointer: str) -> Origin:
        """Return where a value comes from; of one with parts the least sure."""
        if not self._sources:
            return ""
        known: set[str] = {
            self._sources[one]["status"]
            for one in (pointer, *(part for part, _ in leaves(value, pointer)))
            if one in self._sources
        }
        for origin in _LEAST_SURE_FIRST:
            if origin in known:
                return origin
        return ""


def say_value(value: Any) -> str:
    """Return a JSON value as a person would write it, "" for null."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, str):
        return value
    if isinstance(value, list) and all(isinstance(item, str | int | float) for item in cast("list[Any]", value)):
        return ", ".join(str(item) for item in cast("list[Any]", value))
    return json.dumps(value, ensure_ascii=False)


@cache
def _markdown() -> MarkdownIt:
    parser = MarkdownIt("commonmark", {"html": False}).enable(["table", "strikethrough"]).disable("image")
    parser.add_render_rule("link_open", _open_link)
    return parser


def _open_link(
    self: RendererHTML, tokens: Sequence[Token], index: int, options: OptionsDict, env: MutableMapping[str, Any]
) -> str:
    tokens[index].attrSet("rel", "noopener noreferrer nofollow")
    tokens[index].attrSet("target", "_blank")
    return self.renderToken(tokens, index, options, env)
