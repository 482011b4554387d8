"""What a step's request says beside the page and the past: where the run stands, and what has to be heeded now.

Also sees to it that the request fits into the model's window, before it is sent and after it was refused as too long.
"""

from dataclasses import replace

from appliance.actions.base import ActionContext
from appliance.agent import prompt
from appliance.agent.archive import is_evidence
from appliance.agent.assignment import Assignment
from appliance.agent.clocks import Clocks
from appliance.agent.compaction import Compactor
from appliance.agent.outlets import Outlets
from appliance.agent.progress import Progress
from appliance.agent.step import Step
from appliance.agent.window import Notes, Window
from appliance.events import TokenCount
from appliance.models.base import ModelRequest, Reply


class Briefing:
    """Makes the requests of one run's steps; `demand` stands in each of them until it is taken back."""

    def __init__(
        self,
        assignment: Assignment,
        context: ActionContext,
        window: Window,
        compactor: Compactor,
        progress: Progress,
        outlets: Outlets,
    ) -> None:
        self._assignment = assignment
        self._context = context
        self._window = window
        self._compactor = compactor
        self._progress = progress
        self._outlets = outlets
        self._last_used: TokenCount | None = None
        self.demand: str | None = None

    async def request(self, step: Step, clocks: Clocks) -> ModelRequest:
        """Return the request for an observed step, compacted when it is time for that; the feed is told of both."""
        if step.limit is not None:
            text = f"{step.limit.message} The agent is asked for what it has."
            await self._outlets.notice("delivery_turn", text)
        request = self._compose(step, clocks)
        if self._compactor.is_due(self._window, request, self._last_used):
            return await self._compacted(step, clocks, forced=False)
        return request

    async def shortened(self, step: Step, clocks: Clocks) -> ModelRequest:
        """Return the request for a step once more, clearly shorter, after it was refused as too long."""
        return await self._compacted(step, clocks, forced=True)

    def note(self, reply: Reply) -> None:
        """Take notice of what the last reply used of the model's window."""
        self._last_used = reply.tokens

    def _compose(self, step: Step, clocks: Clocks) -> ModelRequest:
        store = self._context.store
        answer = store.coverage_line if store is not None else ""
        notes = Notes(self._context.files.describe(is_evidence), self._context.scratchpad.todo, answer)
        request = self._window.compose(step, notes, self._notices(step), with_image=self._context.model.sees_images)
        slowness = self._context.model.slowness(request.effort)
        assert request.scene is not None
        coverage = store.coverage() if store is not None else None
        scene = replace(request.scene, links=self._context.links, coverage=coverage)
        return replace(request, timeout=clocks.model_call * slowness, scene=scene)

    def _notices(self, step: Step) -> tuple[str, ...]:
        notices = [prompt.step_notice(step.number, self._assignment.max_steps)]
        progress = self._progress
        if names := self._context.sensitive.names_for(self._context.browser.tab.url):
            notices.append(prompt.secrets_notice(names))
        if self.demand is not None:
            notices.append(self.demand)
        if step.limit is not None:
            notices.append(prompt.delivery_notice(step.limit, is_filled_in=self._context.store is not None))
        elif progress.is_stuck:
            notices.append(prompt.stuck_notice(progress.count, progress.facts, must_replan=progress.must_replan))
        return tuple(notices)

    async def _compacted(self, step: Step, clocks: Clocks, *, forced: bool) -> ModelRequest:
        said = await self._compactor.compact(self._window, forced=forced)
        self._last_used = None
        await self._outlets.notice("compacted", said)
        return self._compose(step, clocks)
