"""Lays out what a run delivered: text as safe Markdown, JSON as facts and tables. Nothing in it is trusted."""

import json
from collections.abc import MutableMapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, cast

from markdown_it import MarkdownIt
from markdown_it.renderer import RendererHTML
from markdown_it.token import Token
from markdown_it.utils import OptionsDict
from markupsafe import Markup

_MOST_MARKDOWN = 200_000
_MOST_ROWS = 1000


@dataclass(frozen=True)
class Table:
    """Rows under named columns; a cell is short text or a link, or "" where the row has nothing."""

    name: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    left_out: int = 0


@dataclass(frozen=True)
class Answer:
    """What is shown: `prose` for text, `facts` and `tables` for JSON; `raw` is what the copy button gives."""

    raw: str
    prose: Markup | None = None
    facts: tuple[tuple[str, str], ...] = ()
    tables: tuple[Table, ...] = ()

    @property
    def is_json(self) -> bool:
        """Whether the answer is structured."""
        return self.prose is None


def lay_out(output: Any, *, is_structured: bool = False) -> Answer | None:
    """Return the answer for a run's output, None when there is none.

    `is_structured` says that a schema was asked for: then text that is JSON is shown as what it holds.
    """
    if output is None or output == "":
        return None
    if isinstance(output, str):
        parsed = _parse(output) if is_structured else None
        if parsed is None:
            return Answer(raw=output, prose=render_markdown(output))
        output = parsed
    raw = json.dumps(output, ensure_ascii=False, indent=2)
    facts, tables = _sort_out(output)
    return Answer(raw=raw, facts=facts, tables=tables)


def render_markdown(text: str) -> Markup:
    """Return safe HTML: no raw HTML passes, links leave without a referrer, pictures stay links."""
    return Markup(_markdown().render(text[:_MOST_MARKDOWN]))  # noqa: S704 - the parser escapes every tag


def _parse(text: str) -> Any:
    try:
        parsed: Any = json.loads(text)
    except ValueError:
        return None
    return cast("Any", parsed) if isinstance(parsed, dict | list) else None


def _sort_out(value: Any) -> tuple[tuple[tuple[str, str], ...], tuple[Table, ...]]:
    if isinstance(value, list):
        items = cast("list[Any]", value)
        return (), (_tabulate("", items),)
    if not isinstance(value, dict):
        return (("value", _cell(value)),), ()
    facts: list[tuple[str, str]] = []
    tables: list[Table] = []
    for name, field in cast("dict[str, Any]", value).items():
        if isinstance(field, list) and field and all(isinstance(item, dict) for item in cast("list[Any]", field)):
            tables.append(_tabulate(name, cast("list[Any]", field)))
        else:
            facts.append((name, _cell(field)))
    return tuple(facts), tuple(tables)


def _tabulate(name: str, items: list[Any]) -> Table:
    shown = items[:_MOST_ROWS]
    left_out = len(items) - len(shown)
    if not all(isinstance(item, dict) for item in shown):
        return Table(name, ("value",), tuple((_cell(item),) for item in shown), left_out)
    columns = tuple(dict.fromkeys(key for item in shown for key in item))
    rows = tuple(tuple(_cell(item.get(column)) for column in columns) for item in shown)
    return Table(name, columns, rows, left_out)


def _cell(value: Any) -> str:
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
