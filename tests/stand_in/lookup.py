"""Finding an element by what a person sees, in the observation that the request carries, its changes put in place.

A scenario writes a selector where an action wants a number: {"click": {"index": {"text": "Save"}}}. Keys, all of which
must hold: `text` (the visible text behind the tag), `label` (that text, an attribute such as placeholder or href, or
the plain text just before the element), `tag`, `nth` (1 for the first hit, which is the default). Equal text wins over
contained text; case and spacing do not count. A tab is named as {"switch": {"tab_id": {"title": "Terms"}}}.
"""

import re
from dataclasses import dataclass
from typing import Any

ELEMENT_LINE = re.compile(
    r"""^\s*\*?\[(?P<index>\d+)\]<(?P<tag>[\w-]+)(?P<attributes>(?:"(?:\\.|[^"\\])*"|[^>"])*)>(?P<text>.*)$"""
)
ATTRIBUTE = re.compile(r'([\w:-]+)=(?:"((?:\\.|[^"\\])*)"|(\S+))')
PAGE = re.compile(r"<page>\n(.*?)\n</page>", re.DOTALL)
CHANGES = re.compile(r"<page_changes>\n(.*?)\n</page_changes>", re.DOTALL)
NUMBER = re.compile(r"\s*\*?\[(\d+)\]")
STAR = re.compile(r"^(\s*)\*(?=\[)")
SELECTOR_KEYS = {"text", "label", "tag", "nth"}


class NotOnPage(Exception):
    """The scenario names something that the newest observation does not show."""


@dataclass(frozen=True)
class Line:
    """An element line of the observation, with the plain text that stands just before it."""

    index: int
    tag: str
    attributes: tuple[str, ...]
    text: str
    before: str


def resolve(reply: Any, texts: list[str]) -> Any:
    """Return the reply with every selector replaced by the number it stands for; raises NotOnPage."""
    if isinstance(reply, list):
        return [resolve(item, texts) for item in reply]
    if not isinstance(reply, dict):
        return reply
    if "__seen__" in reply:
        return _quote(reply["__seen__"], texts, everything=reply.get("all", False))
    return {key: _resolve_value(key, value, texts) for key, value in reply.items()}


def _quote(pattern: str, texts: list[str], *, everything: bool) -> str:
    """Return the last text of the request that the pattern fits, or all different ones; raises NotOnPage."""
    found = list(dict.fromkeys(match[0] for match in re.finditer(pattern, "\n".join(texts))))
    if not found:
        raise NotOnPage(f"Nothing in the request fits {pattern!r}")
    return "; ".join(found) if everything else found[-1]


def read_lines(texts: list[str]) -> list[Line]:
    """Return the element lines of the newest page: its text in full with the changes that are told behind it."""
    for text in reversed(_with_changes(texts)):
        lines: list[Line] = []
        before = ""
        for raw in text.splitlines():
            match = ELEMENT_LINE.match(raw)
            if not match:
                before = raw.strip() or before
                continue
            attributes = tuple(quoted or bare for _, quoted, bare in ATTRIBUTE.findall(match["attributes"]))
            lines.append(Line(int(match["index"]), match["tag"], attributes, match["text"].strip(), before))
            before = ""
        if lines:
            return lines
    return []


def _with_changes(texts: list[str]) -> list[str]:
    """Return the texts; where the last ones tell changes of a page, that page is put behind them as it is now."""
    whole = "\n".join(texts)
    page = PAGE.findall(whole)
    changes = CHANGES.findall(whole.rsplit("</page>", 1)[-1])
    if not page or not changes:
        return texts
    return [*texts, "\n".join(apply_changes(page[-1].splitlines(), changes[-1].splitlines()))]


def apply_changes(lines: list[str], changes: list[str]) -> list[str]:
    """Return a page's lines after the changes: `@` says where, `-` is gone, `+` is new, `~` an element reads anew."""
    lines, at = list(lines), 0

    def find(quoted: str) -> int:
        begin = quoted.removesuffix("…")
        for number in (*range(at, len(lines)), *range(at)):
            if STAR.sub(r"\1", lines[number]).startswith(begin):
                return number
        raise NotOnPage(f"The changes speak of a line {quoted!r} that the page does not have.")

    for change in changes:
        sign, said = change[:1], change[1:]
        if sign == "@":
            at = find(said.removeprefix(" after: ")) + 1 if said.startswith(" after: ") else 0
        elif sign == "-":
            at = find(said)
            del lines[at]
        elif sign == "+":
            lines.insert(at, said)
            at += 1
        elif sign == "~":
            number = NUMBER.match(said)
            here = next(n for n, line in enumerate(lines) if number and (m := NUMBER.match(line)) and m[1] == number[1])
            lines[here] = said
    return lines


def find_index(selector: dict[str, Any], texts: list[str]) -> int:
    """Return the number of the element that the selector names; raises NotOnPage, listing what is there."""
    lines = read_lines(texts)
    for exact in (True, False):
        hits = [line for line in lines if _matches(line, selector, exact=exact)]
        if len(hits) >= selector.get("nth", 1):
            return hits[selector.get("nth", 1) - 1].index
    shown = "; ".join(f"[{line.index}]<{line.tag}>{line.text[:40]}" for line in lines[:60]) or "no element lines"
    raise NotOnPage(f"No element is {selector}; the observation shows: {shown}")


def _resolve_value(key: str, value: Any, texts: list[str]) -> Any:
    if isinstance(value, dict) and (key == "index" or key.endswith("_index")) and set(value) <= SELECTOR_KEYS:
        return find_index(value, texts)
    if key == "tab_id" and isinstance(value, dict):
        return _find_tab(value["title"], texts)
    return resolve(value, texts)


def _find_tab(title: str, texts: list[str]) -> str:
    for text in reversed(texts):
        for raw in text.splitlines():
            match = re.match(r"^\W*(?:tab )?\W*(?P<tab>[0-9A-Fa-f]{4})\b.*", raw.strip(), re.IGNORECASE)
            if match and title.lower() in raw.lower():
                return match["tab"]
    raise NotOnPage(f"No line of the request lists a tab called {title!r}.")


def _matches(line: Line, selector: dict[str, Any], *, exact: bool) -> bool:
    def same(wanted: str, there: str) -> bool:
        wanted, there = " ".join(wanted.lower().split()), " ".join(there.lower().split())
        return wanted == there if exact else wanted in there

    if "tag" in selector and selector["tag"] != line.tag:
        return False
    if "label" in selector and not any(
        same(selector["label"], name) for name in (line.text, *line.attributes, line.before)
    ):
        return False
    return "text" not in selector or same(selector["text"], line.text)
