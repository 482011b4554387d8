"""What the keyless model makes of the page that is open: what it states of what is asked for, and how its list goes on.

The survey is the answer to an extract, and is read back from what the next step is handed.
"""

import json
import re
from dataclasses import asdict, dataclass, field
from typing import Any
from urllib.parse import urljoin

from appliance.content import Content
from appliance.models.addresses import without_addresses
from appliance.store.drafting import draft_listing, draft_object, draft_page_row
from appliance.store.links import FoundLink, Links
from appliance.store.pages import PageRead
from appliance.store.paging import says_more
from appliance.store.schema import AnswerSchema

MAX_ROWS = 1_000
SHORTEST_NAME = 8
"""Characters of a link's words that can be recognised in a task without mistaking an ordinary word for it."""
_MARK = '{"survey": '
_LINK = re.compile(r"(?<!!)\[([^\]]{1,2000}+)\]\((https?://[^()\s]*(?:\([^()]*\)[^()\s]*)*)(?:\s+\"[^\"]*\")?\)")
_SEGMENT = re.compile(r"[\n|]")


@dataclass(frozen=True)
class Survey:
    """One page as it was read.

    `fields` are the answer's own fields that it states, `rows` the items it lists itself, `row` the one item it is
    about. `following` is the address it names as the next page of its list, `more` what the button for more of it says,
    `named` the address of the only link whose words stand in the task.
    """

    fields: dict[str, Any] = field(default_factory=dict[str, Any])
    rows: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    row: dict[str, Any] = field(default_factory=dict[str, Any])
    following: str = ""
    more: str = ""
    named: str = ""


def survey(content: Content, schema: AnswerSchema, task: str) -> str:
    """Return the survey of a page as text."""
    links = tuple(FoundLink(url, " ".join(text.split())) for text, url in _LINK.findall(content.markdown))
    page = PageRead(content.url, content, links=links)
    own = draft_object(schema, [page], Links())
    has_list = schema.list_field is not None
    following = next((address for name, address in content.meta if name == "next"), "")
    found = Survey(
        fields={name: value for name, value in (own[0] if own else {}).items() if name != "_page"},
        rows=draft_listing(schema, content)[:MAX_ROWS] if has_list else [],
        row=draft_page_row(schema, page) if has_list else {},
        following=_joined(content.url, following) if following else "",
        named=_named(links, content.url, task),
        more=next((text for text in map(_plain, _SEGMENT.split(content.markdown)) if says_more(text)), ""),
    )
    return f"{_MARK}{json.dumps(asdict(found), ensure_ascii=False)}}}"


def read_survey(carried: str | None) -> Survey | None:
    """Return the survey that a step was handed, None when there is none."""
    start = (carried or "").rfind(_MARK)
    if carried is None or start < 0:
        return None
    try:
        value: Any = json.JSONDecoder().raw_decode(carried[start:])[0]
        return Survey(**value["survey"])
    except (ValueError, TypeError, KeyError):
        return None


def _named(links: tuple[FoundLink, ...], url: str, task: str) -> str:
    words = " ".join(without_addresses(task).lower().split())
    fitting = {link.url for link in links if len(link.text) >= SHORTEST_NAME and link.text.lower() in words}
    fitting.discard(url)
    return fitting.pop() if len(fitting) == 1 else ""


def _plain(text: str) -> str:
    return _LINK.sub(r"\1", text).strip(" *_#-\t")


def _joined(base: str, address: str) -> str:
    try:
        return urljoin(base, address)
    except ValueError:
        return ""
