"""The page scripts that read what an origin keeps and put it back, and what passes between them and us."""

import json
from functools import cache
from importlib.resources import files
from typing import Any

import msgspec

from appliance.profiles.jar import Origin

MOST_DATABASES = 16_000_000
"""Characters that the databases of one origin may have as JSON; beyond that they are not kept."""


class Kept(msgspec.Struct, frozen=True):
    """What an origin keeps, as its page says it; `left` names in a clause each what the browser did not give away.

    Databases are None when they are too large.
    """

    origin: str
    local: dict[str, str]
    session: dict[str, str]
    databases: list[dict[str, Any]] | None
    left: list[str]


def reading_function() -> str:
    """Return the function that answers with the JSON of a Kept; its argument is MOST_DATABASES."""
    return _with_codec("storage_read.js")


def reading_expression() -> str:
    """Return the expression whose promise is that of the reading function."""
    return f"({reading_function()})({MOST_DATABASES})"


def read_kept(text: Any) -> Kept:
    """Decode the answer of the reading function; raises ValueError when a page made it up."""
    try:
        return msgspec.json.decode(text, type=Kept)
    except (msgspec.DecodeError, TypeError, UnicodeEncodeError) as error:
        raise ValueError("what it keeps was answered in another form") from error


def writing_script(kept: Origin) -> str:
    """Return the script that puts everything back in a new document of the origin."""
    document = json.dumps(
        {"origin": kept.origin, "local": kept.local, "session": kept.session, "databases": kept.databases}
    )
    before, _, after = _with_codec("storage_write.js").rpartition("KEPT")
    # As a text to be parsed: in an object of the language the name __proto__ would be no entry.
    return f"{before}JSON.parse({json.dumps(document)}){after}"


@cache
def _with_codec(name: str) -> str:
    return _read(name).replace("CODEC", _read("storage_codec.js"), 1)


def _read(name: str) -> str:
    """Return the script without the remarks at its head, which must not stand in front of an expression."""
    lines = (files("appliance.browser") / "js" / name).read_text().splitlines()
    while lines and lines[0].startswith("//"):
        del lines[0]
    return "\n".join(lines).strip()
