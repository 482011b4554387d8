"""The action that makes one HTTP request without the browser."""

import asyncio
import codecs
import json
import mimetypes
import re
from dataclasses import dataclass
from datetime import UTC, datetime
from html import unescape
from typing import Any

from pydantic import Field

from appliance.actions.base import Action, ActionContext, Parameters, Receipt
from appliance.actions.fetching import SECONDS, Fetched, Wanted, fetch
from appliance.actions.links import addresses_of, joined
from appliance.addresses import shown
from appliance.content import Content
from appliance.errors import ActionFailed, ActionInvalid, ActionRefused
from appliance.filenames import free_name
from appliance.store.evidence import Sighting
from appliance.words import ReceiptStatus
from appliance.workspaces.scratchpad import MAX_FILE_BYTES, TEXT_SUFFIXES

METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS")
OURS = frozenset(
    {"host", "content-length", "transfer-encoding", "connection", "keep-alive", "upgrade", "te", "trailer", "expect"}
    | {"accept-encoding", "proxy-connection", "proxy-authorization", "proxy-authenticate"}
)
"""Headers that belong to the connection and not to what is asked for."""
INLINE = 2_000
"""Characters up to which an answer is shown whole; a longer one goes to a file."""
PREVIEW = 1_500
MAX_HEADERS, MAX_HEADER_VALUE = 50, 8_000
MAX_BODY = 1_000_000
_TOLD_HEADERS = ("location", "link", "retry-after", "www-authenticate", "allow")
_NAME = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]{1,100}")
_TEXT_TYPES = re.compile(
    r"text/|application/(?:.+\+)?(?:json|xml|javascript|x-javascript|ecmascript|yaml|x-ndjson|sql)$"
)
_CHARSET = re.compile(r"charset\s*=\s*[\"']?([\w.:-]+)", re.IGNORECASE)
_DECLARED = re.compile(
    rb"<meta[^>]{0,200}charset\s*=\s*[\"']?([\w.:-]+)|<\?xml[^>]{0,100}encoding=[\"']([\w.:-]+)", re.IGNORECASE
)
_HREF = re.compile(r"""\bhref\s*=\s*(["'])\s*([^"'<>]{1,4000}?)\s*\1""", re.IGNORECASE)
_NO_CHARSETS = ("idna", "punycode", "unicode-escape", "raw-unicode-escape", "utf-7", "undefined")
_MARKS = ((codecs.BOM_UTF8, "utf-8-sig"), (codecs.BOM_UTF16_LE, "utf-16"), (codecs.BOM_UTF16_BE, "utf-16"))
_ENDINGS = {"text/html": ".html", "application/json": ".json", "text/csv": ".csv", "text/plain": ".txt"}


class HttpFetch(Parameters):
    """Parameters of http_fetch; a body that is no text is sent as JSON."""

    url: str = Field(min_length=1)
    method: str = "GET"
    headers: dict[str, str] | None = None
    body: Any = None


@dataclass(frozen=True)
class Answered:
    """What a request brought: the answer as it came, its media type, and its text, secrets removed, if it is text."""

    fetched: Fetched
    media_type: str
    text: str | None


async def request(context: ActionContext, parameters: HttpFetch) -> Answered:
    """Make a request and let what came count as read; raises ActionFailed when there is no answer, or it may not be."""

    def check(wanted: Wanted) -> None:
        sent = "\n".join((wanted.url, *wanted.headers.values(), wanted.body.decode(errors="replace")))
        for name in context.sensitive.misplaced_in(sent, wanted.url):
            raise ActionRefused(f'The request holds the secret "{name}", which is not for {shown(wanted.url)}.')

    fetched = await fetch(context.browser.policy, _wanted(parameters), check)
    media_type, text = _read(fetched)
    if text is None:
        return Answered(fetched, media_type, None)
    answer = Answered(fetched, media_type, context.sensitive.redact(text))
    url, said, links = await asyncio.to_thread(_said, answer)
    # Not in the thread: requests of a script run beside each other, and evidence is for one at a time.
    sighting = Sighting(url, said, datetime.now(UTC), links, context.step)
    context.evidence.see(context.sensitive.redact_all(sighting))
    return answer


async def _http_fetch(context: ActionContext, parameters: HttpFetch) -> Receipt:
    answer = await request(context, parameters)
    fetched = answer.fetched
    if answer.text is not None:
        kept, carried = _keep_text(context, answer.media_type, answer.text)
    else:
        kept, carried = _keep_bytes(context, answer), None
    method = parameters.method.strip().upper()
    lead = f"{method} {shown(parameters.url)} answered {fetched.status} {fetched.reason}".rstrip()
    facts = [lead, *_facts(parameters, answer), *([f"kept in {kept}"] if kept else [])]
    return Receipt(ReceiptStatus.OK, f"{', '.join(facts)}.", carried=carried)


def _wanted(parameters: HttpFetch) -> Wanted:
    """Return the checked request; raises ActionInvalid."""
    method = parameters.method.strip().upper()
    if method not in METHODS:
        raise ActionInvalid(f"There is no method {parameters.method[:40]!r} here; use one of {', '.join(METHODS)}.")
    headers = _headers(parameters.headers or {})
    body, kind = _body(parameters.body)
    if body and method in ("GET", "HEAD"):
        raise ActionInvalid(f"{method} has no body; leave it out, or use POST.")
    if body:
        headers.setdefault("content-type", kind)
    return Wanted(parameters.url, method, headers, body)


def _headers(given: dict[str, str]) -> dict[str, str]:
    if len(given) > MAX_HEADERS:
        raise ActionInvalid(f"There are {len(given)} headers; {MAX_HEADERS} are the most.")
    headers: dict[str, str] = {}
    for name, value in given.items():
        if _NAME.fullmatch(name) is None:
            raise ActionInvalid(f"{name[:100]!r} is not the name of a header.")
        if name.lower() in OURS or name.lower().startswith("proxy-"):
            raise ActionInvalid(f"The header {name} belongs to the connection and cannot be set; leave it out.")
        if len(value) > MAX_HEADER_VALUE or re.search(r"[^\t -~]", value):
            raise ActionInvalid(f"The value of the header {name} is too long or has signs no header can have.")
        headers[name.lower()] = value.strip()
    return headers


def _body(body: Any) -> tuple[bytes, str]:
    """Return the body as bytes and what it is."""
    if body is None:
        return b"", ""
    if isinstance(body, str):
        is_json = body.lstrip()[:1] in ("{", "[")
        data, kind = body.encode(errors="replace"), "application/json" if is_json else "text/plain; charset=utf-8"
        if not is_json and re.fullmatch(r"[\w.%+*~-]+=[^\s&]*(?:&[\w.%+*~-]+=[^\s&]*)*", body):
            kind = "application/x-www-form-urlencoded"
    else:
        data, kind = json.dumps(body, ensure_ascii=False).encode(errors="replace"), "application/json"
    if len(data) > MAX_BODY:
        raise ActionInvalid(f"The body has {len(data):,} bytes; {MAX_BODY:,} are the most.")
    return data, kind


def _read(fetched: Fetched) -> tuple[str, str | None]:
    """Return the media type of an answer, and its text, None when it is none."""
    declared = fetched.headers.get("content-type", "")
    media_type = declared.partition(";")[0].strip().lower()
    data = fetched.data
    if media_type and _TEXT_TYPES.match(media_type) is None:
        return media_type, None if data else ""
    charset = _charset(declared, data)
    if b"\0" in data[:4_096] and not charset.startswith("utf-16"):
        return media_type, None
    if not media_type and charset == "cp1252":
        return "", None
    return media_type, data.decode(charset, errors="replace")


def _charset(declared: str, data: bytes) -> str:
    """Return the name of the encoding: by a mark in the data, as declared, as the text says itself, or as it looks."""
    for mark, charset in _MARKS:
        if data.startswith(mark):
            return charset
    named = _CHARSET.search(declared)
    inside = _DECLARED.search(data[:2_048])
    for charset in (named[1] if named else "", (inside[1] or inside[2]).decode() if inside else ""):
        if charset and (known := _known(charset)):
            return known
    try:
        codecs.getincrementaldecoder("utf-8")().decode(data)
    except UnicodeDecodeError:
        return "cp1252"
    return "utf-8"


def _known(charset: str) -> str | None:
    """Return Python's name for an encoding of texts, None when it knows none of that name."""
    try:
        found = codecs.lookup(charset)
        b"a".decode(charset, errors="replace")
    except (LookupError, UnicodeError):
        return None
    if found.name in _NO_CHARSETS:
        return None
    # What calls itself one of these two is read by browsers as the third.
    return "cp1252" if found.name in ("iso8859-1", "ascii") else found.name


def _facts(parameters: HttpFetch, answer: Answered) -> list[str]:
    fetched, text = answer.fetched, answer.text
    facts = [answer.media_type or "of no stated type"]
    if fetched.url != parameters.url and shown(fetched.url) != shown(parameters.url):
        facts.append(f"from {shown(fetched.url)}")
    facts.append(f"{len(text):,} characters" if text is not None else f"{len(fetched.data):,} bytes, no text")
    if fetched.lack:
        facts.append(fetched.lack)
    if answer.media_type == "application/json" and text and not _is_json(text):
        facts.append("which is not valid JSON")
    facts += [f"{name}: {fetched.headers[name][:300]}" for name in _TOLD_HEADERS if name in fetched.headers]
    return facts


def _is_json(text: str) -> bool:
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return False
    return True


def _keep_text(context: ActionContext, media_type: str, text: str) -> tuple[str, str | None]:
    """Return where a long text was written to, "" when it is short, and what is shown of it."""
    if len(text) <= INLINE:
        return "", text or None
    data = text.encode(errors="replace")[:MAX_FILE_BYTES].decode(errors="ignore")
    try:
        saved = context.scratchpad.write(_file_name(context, media_type, ".txt"), data)
    except ActionFailed as error:
        return f"no file ({error.message.rstrip('.')})", text
    return saved.name, f"{text[:PREVIEW]}\n(Cut here; read_file shows the whole.)"


def _keep_bytes(context: ActionContext, answer: Answered) -> str:
    try:
        return keep_bytes(context, answer)
    except ActionFailed as error:
        return f"no file ({error.message.rstrip('.')})"


def keep_bytes(context: ActionContext, answer: Answered) -> str:
    """Write an answer that is no text to a file and return its name, "" when it is empty; raises ActionFailed."""
    data = answer.fetched.data
    if not data:
        return ""
    return context.scratchpad.write_bytes(_file_name(context, answer.media_type, ".bin"), data).name


def _file_name(context: ActionContext, media_type: str, otherwise: str) -> str:
    ending = _ENDINGS.get(media_type) or mimetypes.guess_extension(media_type) or otherwise
    if otherwise == ".txt" and ending not in TEXT_SUFFIXES:
        ending = otherwise
    return free_name(context.scratchpad.root, f"fetched{ending}")


def _said(answer: Answered) -> tuple[str, str, frozenset[str]]:
    """Return what an answer counts as having said: its address, its text, and the links in it."""
    url, text = answer.fetched.url, answer.text or ""
    content = Content(url, "", text)
    links = {joined(url, unescape(match[2])) for match in _HREF.finditer(text)}
    if answer.media_type in ("text/html", "application/xhtml+xml"):
        from appliance.browser.reader import read_html  # noqa: PLC0415 - heavy

        content = read_html(text, url)
        text = "\n".join((content.title, content.markdown, *(json.dumps(one) for one in content.linked_data)))
    return url, text, frozenset(links | addresses_of(content))


HTTP_FETCH = Action(
    "http_fetch",
    "Make one HTTP request without the browser and its cookies; long answers go to a file.",
    HttpFetch,
    _http_fetch,
    deadline=SECONDS + 10,
    touches_page=False,
    is_desk_work=True,
)
