"""Looks at the page for a step: in full, or not at all where nothing can have changed."""

from appliance.actions.base import ActionContext
from appliance.actions.registry import Registry
from appliance.agent.outlets import Outlets
from appliance.agent.step import Step
from appliance.agent.stub import unchanged


class Sight:
    """The agent's eyes in one run."""

    def __init__(self, context: ActionContext, registry: Registry, outlets: Outlets) -> None:
        self._context = context
        self._registry = registry
        self._outlets = outlets
        self._refusals_told = 0

    async def look(self, step: Step, before: Step) -> None:
        """Leave in the step what is seen, secrets blotted out, and keep its picture; `before` is the step before."""
        browser = self._context.browser
        seen = await unchanged(before, browser, self._registry) or await browser.observe()
        step.observation = seen = self._context.sensitive.redact_all(seen)
        await self._tell_refusals()
        if seen.screenshot is not None:
            step.screenshot = await self._outlets.keep_screenshot(step.number, seen.screenshot)

    async def _tell_refusals(self) -> None:
        """Tell the feed what policy kept the browser from, each site once."""
        refusals = self._context.browser.refusals
        known = {refusal.site for refusal in refusals[: self._refusals_told]}
        for refusal in refusals[self._refusals_told :]:
            if refusal.site not in known:
                known.add(refusal.site)
                await self._outlets.notice("request_refused", refusal.reason)
        self._refusals_told = len(refusals)
