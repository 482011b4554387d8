"""Matches a model's regular expression against many texts inside the browser, where one that never ends is cut off."""

import json
import re
from collections.abc import Sequence

from appliance.browser.cdp import CdpError
from appliance.browser.frames import ScriptFailed, value_of
from appliance.browser.tab import Tab
from appliance.errors import ActionInvalid

SECONDS = 1.0
"""How long all texts together may take; ordinary patterns need some milliseconds for thousands."""
_FLAGS = re.compile(r"\(\?([aiLmsux]+)\)")
_GROUP_NAME = re.compile(r"\(\?P<")


async def match_all(tab: Tab, pattern: str, texts: Sequence[str]) -> list[bool]:
    """Return for each text whether the pattern is found in it; case counts unless the pattern begins with (?i).

    Raises ActionInvalid for what is no pattern, or takes too long.
    """
    flags = _FLAGS.match(pattern)
    source = _GROUP_NAME.sub("(?<", pattern[flags.end() :] if flags else pattern)
    given = "".join(flag for flag in (flags[1] if flags else "") if flag in "ims")
    arguments = ", ".join(json.dumps(one) for one in (source, given, list(texts)))
    # In an isolated world, where no script of the page has put anything of its own in the place of RegExp.
    expression = (
        f"((source, flags, texts) => {{ const wanted = new RegExp(source, flags); "
        f"return texts.map((text) => wanted.test(text)); }})({arguments})"
    )
    world = await tab.frames.world()
    params = {
        "expression": expression,
        "contextId": world.context_id,
        "returnByValue": True,
        "timeout": SECONDS * 1000,
        "silent": True,
    }
    try:
        return value_of(await tab.send("Runtime.evaluate", params, timeout=SECONDS + 5), "Runtime.evaluate")
    except ScriptFailed as error:
        raise ActionInvalid(f"{pattern!r} is not a regular expression: {error.message}") from error
    except CdpError as error:
        raise ActionInvalid(f"{pattern!r} takes too long to be tried; use a simpler one, or href_contains.") from error
