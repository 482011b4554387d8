"""Sees to it that a replay has the files its actions name: downloads on their way are waited for, other names found."""

import re
from typing import Any, cast

from appliance.actions.base import ActionContext

NEEDING = frozenset({"upload_file", "run_code_file"})
"""Actions that work with files that are there."""
DOWNLOAD_SECONDS = 60.0
"""How long a download is waited for: in the recorded run the time that its model took was enough for it."""

_NUMBER = re.compile(r"\(\d+\)(?=\.[^.]*$|$)")


async def await_downloads(context: ActionContext) -> None:
    """Wait until no download is running, a minute at most."""
    downloads = context.browser.downloads
    if downloads.running:
        await downloads.wait_complete(DOWNLOAD_SECONDS)


def with_todays_files(context: ActionContext, arguments: dict[str, Any]) -> dict[str, Any]:
    """Return the arguments of upload_file with the names that downloads have today.

    A file of a name that is taken gets a number, as in report(1).csv, and other names are taken in other sessions.
    """
    path = arguments.get("path")
    names = [path] if isinstance(path, str) else path
    if not isinstance(names, list):
        return arguments
    today = [_today(context, str(name)) for name in cast("list[object]", names)]
    return {**arguments, "path": today[0] if isinstance(path, str) else today}


def _today(context: ActionContext, name: str) -> str:
    downloads = context.browser.downloads
    if downloads.has(name) or name in {entry.name for entry in context.files.listing()}:
        return name
    alike = [one.name for one in downloads.all if _plain(one.name) == _plain(name) and downloads.has(one.name)]
    return alike[-1] if alike else name


def _plain(name: str) -> str:
    return _NUMBER.sub("", name)
