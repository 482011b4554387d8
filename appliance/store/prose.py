"""The running text of a page: what it says in sentences, without headings, lists, tables and notices of the site."""

import re

MAX_TEXT = 20_000
SHORTEST = 40
"""Characters that the first paragraph has at least; what is shorter is a label or a caption."""

_NO_PARAGRAPH = re.compile(r"\s*(?:#|\||>|[-*+]\s|\d+[.)]\s|!\[|```|---)")
_LINK = re.compile(r"!?\[([^\]]{0,2000}+)\]\([^()\s]*(?:\([^()]*\)[^()\s]*)*(?:\s+\"[^\"]*\")?\)")
_EMPHASIS = re.compile(r"(?<!\w)(\*\*|__|\*|_|`)(?=\S)(.{1,400}?)(?<=\S)\1(?!\w)")
_ESCAPE = re.compile(r"\\([\\`*_{}\[\]()#+.!|<>~-])")
_NOTICE = re.compile(r"\bcookies?\b|\bjavascript\b|all rights reserved|©", re.IGNORECASE)


def find_prose(markdown: str) -> str:
    """Return the first paragraphs that stand together, "" where there are none."""
    found: list[str] = []
    for block in re.split(r"\n\s*\n", markdown):
        text = _plain(block)
        if _is_paragraph(block, text, 1 if found else SHORTEST):
            found.append(text)
        elif found:
            break
    return "\n\n".join(found)[:MAX_TEXT]


def whole_text(markdown: str) -> str:
    """Return all that the page says, its first heading left out."""
    return _plain(re.sub(r"\A\s*# .*\n?", "", markdown), keep_lines=True)[:MAX_TEXT].strip()


def _is_paragraph(block: str, text: str, least: int) -> bool:
    if _NO_PARAGRAPH.match(block) or _NOTICE.search(text):
        return False
    return len(text) >= least and re.search(r"[.!?…。](?:\W|$)", text) is not None


def _plain(block: str, *, keep_lines: bool = False) -> str:
    text = _LINK.sub(lambda match: "" if match[0].startswith("!") else match[1], block)
    text = _ESCAPE.sub(r"\1", _EMPHASIS.sub(r"\2", text))
    return text if keep_lines else " ".join(text.split())
