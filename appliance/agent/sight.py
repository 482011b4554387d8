"""Looks at the page for a step: in full, or not at all where nothing can have changed."""

import re
from collections.abc import Callable
from datetime import UTC, datetime

from appliance.actions.base import ActionContext
from appliance.actions.registry import Registry
from appliance.agent.outlets import Outlets
from appliance.agent.step import Step
from appliance.agent.stub import unchanged
from appliance.browser.observation import Observation
from appliance.errors import ActionFailed
from appliance.store.evidence import Sighting

_ELEMENT = re.compile(r"^\s*\*?\[\d+\]<[a-z][\w-]*((?:\s+(?:[\w-]+=(?:\"[^\"]*\"|[^\s\">]*)|[\w-]+))*)\s*>")
_SAID = re.compile(r"(?:^|\s)(?:value|label|title|chosen|placeholder|alt|text)=(?:\"([^\"]*)\"|(\S+))")
_GAP = re.compile(r"^\s*… \d+ more lines.*")


class Sight:
    """The agent's eyes in one run; `room` says how many characters of a page can be told at the time."""

    def __init__(
        self, context: ActionContext, registry: Registry, outlets: Outlets, room: Callable[[], int] | None = None
    ) -> None:
        self._context = context
        self._room = room
        self._registry = registry
        self._outlets = outlets
        self._refusals_told = 0

    async def look(self, step: Step, before: Step) -> None:
        """Leave in the step what is seen, secrets blotted out, and keep its picture; `before` is the step before."""
        browser = self._context.browser
        step.pauses = self._context.pause.count
        seen = await unchanged(before, browser, self._registry, step.pauses) or await self._observe()
        step.observation = seen = self._context.sensitive.redact_all(seen)
        await self._tell_refusals()
        if seen.screenshot is not None:
            step.screenshot = await self._outlets.keep_screenshot(step.number, seen.screenshot)
        if seen.url.startswith(("http://", "https://")):
            # Where the task names no address, it begins where the browser is first.
            self._context.clipboard.seed("startUrl", seen.url, is_guess=True)
        if step.number == 1:
            await self._tell_seeds()
        if self._context.store is not None and not seen.is_stub:
            await self._keep_evidence(step, seen)

    async def _observe(self) -> Observation:
        browser = self._context.browser
        return await browser.observe() if self._room is None else await browser.observe(room=self._room())

    async def _keep_evidence(self, step: Step, seen: Observation) -> None:
        """Keep what the page says, and its links where the answer has fields for such."""
        links = await self._links() if self._context.store is not None and self._context.store.schema.has_links else ()
        text = "\n".join((seen.title, *map(read_line, seen.lines)))
        now = datetime.now(UTC)
        self._context.evidence.see(Sighting(seen.url, text, now, frozenset(links), step.number, step.screenshot))

    async def _links(self) -> tuple[str, ...]:
        if self._context.browser.dialog is not None:
            return ()
        try:
            found = await self._context.browser.links()
        except ActionFailed:
            return ()  # a page that does not answer now has been read all the same
        return tuple(self._context.sensitive.redact(link.url) for link in found)

    async def _tell_seeds(self) -> None:
        """Tell the feed which fields of the answer the schema itself has filled in."""
        store = self._context.store
        if store is not None and store.seeded:
            names = ", ".join(store.seeded)
            await self._outlets.notice("schema_seeded", f"The answer begins with the schema's own values for {names}.")

    async def _tell_refusals(self) -> None:
        """Tell the feed what policy kept the browser from, each site once."""
        refusals = self._context.browser.refusals
        known = {refusal.site for refusal in refusals[: self._refusals_told]}
        for refusal in refusals[self._refusals_told :]:
            if refusal.site not in known:
                known.add(refusal.site)
                await self._outlets.notice("request_refused", refusal.reason)
        self._refusals_told = len(refusals)


def read_line(line: str) -> str:
    """Return what a line of an observation says of the page: without its number, its tag and what is no text."""
    element = _ELEMENT.match(line)
    if element is None:
        return _GAP.sub("", line)
    said = " ".join(quoted or bare for quoted, bare in _SAID.findall(element[1]))
    return f"{said} {line[element.end() :]}".strip()
