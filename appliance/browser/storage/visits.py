"""Reads what origins keep that no tab shows: in blank documents of theirs, which come from us and not from the network.

They are targets that no tab strip shows, on a socket of their own, with which they go.
"""

import asyncio
from collections.abc import Sequence

from appliance.browser.cdp import CdpConnection, CdpError
from appliance.browser.frames import value_of
from appliance.browser.gate import Gate
from appliance.browser.storage.scripts import Kept, read_kept, reading_expression
from appliance.errors import BrowserLost, BrowserUnavailable

SIDE_BY_SIDE = 3
VISIT_SECONDS = 5.0


class Visits:
    """One round of visits to origins: what was `found` in them, and the `problems` with the others, as clauses."""

    def __init__(self, address: str, gate: Gate) -> None:
        """Take the browser's `ws://` address and the gate that answers for the sites."""
        self.found: dict[str, Kept] = {}
        self.problems: dict[str, str] = {}
        self._address = address
        self._gate = gate

    async def read(self, origins: Sequence[str], until: float) -> None:
        """Visit the origins, some side by side; raises BrowserLost.

        What is not read `until` then, in seconds of the loop's clock, is among the problems.
        """
        if not origins:
            return
        try:
            async with asyncio.timeout_at(until):
                await self._visit(origins)
        except TimeoutError:
            for origin in origins:
                if origin not in self.found:
                    self.problems.setdefault(origin, "it was not read in time")

    async def _visit(self, origins: Sequence[str]) -> None:
        try:
            cdp = await CdpConnection.connect(self._address)
        except BrowserUnavailable as error:
            raise BrowserLost("The browser went away before what its sites keep was read.") from error
        waiting = list(origins)
        try:
            await asyncio.gather(*(self._work(cdp, waiting) for _ in origins[:SIDE_BY_SIDE]))
        finally:
            await cdp.close()

    async def _work(self, cdp: CdpConnection, waiting: list[str]) -> None:
        frame_id, session_id = "", ""
        try:
            while waiting:
                origin = waiting.pop()
                try:
                    async with asyncio.timeout(VISIT_SECONDS):
                        if not session_id:
                            frame_id, session_id = await _open(cdp)
                        self._gate.blanks[frame_id] = origin
                        self.found[origin] = await _read(cdp, session_id, origin)
                except TimeoutError:
                    self.problems[origin] = f"it was not read within {VISIT_SECONDS:g} s"
                except (CdpError, ValueError) as error:
                    self.problems[origin] = str(error)
                else:
                    continue
                # Whatever it still does must not come between the next visits.
                self._gate.blanks.pop(frame_id, None)
                session_id = ""
        finally:
            self._gate.blanks.pop(frame_id, None)


async def _open(cdp: CdpConnection) -> tuple[str, str]:
    """Return the frame and the session of a new target that nobody sees."""
    made = await cdp.send("Target.createTarget", {"url": "about:blank", "hidden": True})
    frame_id = str(made["targetId"])
    attached = await cdp.send("Target.attachToTarget", {"targetId": frame_id, "flatten": True})
    session_id = str(attached["sessionId"])
    cdp.post("Network.enable", {"maxTotalBufferSize": 0, "maxResourceBufferSize": 0}, session_id)
    # The site's own worker would answer with a page of the site.
    await cdp.send("Network.setBypassServiceWorker", {"bypass": True}, session_id)
    await cdp.send("Page.enable", None, session_id)
    return frame_id, session_id


async def _read(cdp: CdpConnection, session_id: str, origin: str) -> Kept:
    answer = await cdp.send("Page.navigate", {"url": f"{origin}/"}, session_id)
    if answer.get("errorText"):
        raise ValueError(f"a blank page of it could not be opened ({answer['errorText']})")
    params = {"expression": reading_expression(), "returnByValue": True, "awaitPromise": True}
    kept = read_kept(value_of(await cdp.send("Runtime.evaluate", params, session_id), "Runtime.evaluate"))
    if kept.origin != origin:
        raise ValueError("a page of another origin came")
    return kept
