"""Gets the plan of a step from the model: replies that cannot be used are asked for again, with what is wrong."""

from appliance.actions.base import ActionContext
from appliance.actions.finish import Done, check_answer
from appliance.actions.registry import ParsedCall, Registry
from appliance.agent import prompt
from appliance.agent.clocks import StepClock
from appliance.agent.metering import is_long, lengthened
from appliance.agent.outlets import Outlets
from appliance.agent.repair import read_plan
from appliance.agent.retries import RetryingModel
from appliance.agent.step import Plan, Step
from appliance.agent.window import corrected
from appliance.agent.writing import Writing
from appliance.browser.code_tab import Stage
from appliance.errors import ActionFailed, ReplyMalformed, RunFailed
from appliance.models.base import ModelRequest, Reply
from appliance.words import FailureKind

MAX_REPAIRS = 2
MAX_DELIVERY_REPAIRS = 1


class Asking:
    """Asks for plans during one run."""

    def __init__(self, model: RetryingModel, context: ActionContext, registry: Registry, outlets: Outlets) -> None:
        self._model = model
        self._context = context
        self._registry = registry
        self._outlets = outlets
        self._warnings: set[str] = set()

    async def ask(self, step: Step, request: ModelRequest, clock: StepClock) -> Reply:
        """Leave the plan in the step, with the time it took, and return the reply it was read from.

        In the delivery turn an answer that does not fit is as useless as no answer. Raises RunFailed, or the limit
        on whose account the answer is asked for, when the model was told its fault often enough.
        """
        pause = self._context.pause
        started = pause.time()
        while True:
            clock.begin(self._model.longest(request))
            reply = await self._ask_once(request, is_delivery=step.limit is not None)
            await self._warn(reply)
            try:
                step.plan = self._read(reply, is_delivery=step.limit is not None)
            except ReplyMalformed as defect:
                request = await self._ask_again(step, request, reply, defect)
            else:
                step.think_ms = round((pause.time() - started) * 1000)
                return reply

    async def _ask_once(self, request: ModelRequest, *, is_delivery: bool) -> Reply:
        """Return the reply; where it may hold a script, people see that being written."""
        if self._context.sandbox is None or is_delivery:
            return await self._model.ask(request)
        writing = Writing(self._show)
        try:
            return await self._model.ask(request, writing.take)
        finally:
            await writing.finish()

    async def _show(self, name: str, code: str) -> None:
        clean = self._context.sensitive.redact
        await self._context.browser.code_tab.show(clean(name), clean(code), Stage.WRITING)

    def _read(self, reply: Reply, *, is_delivery: bool) -> Plan:
        plan = read_plan(reply, self._registry, only_done=is_delivery)
        call = plan.actions[0].runnable
        if is_delivery and isinstance(call, ParsedCall) and isinstance(call.parameters, Done):
            try:
                check_answer(self._context, call.parameters)
            except ActionFailed as defect:
                raise ReplyMalformed(defect.message) from defect
        return plan

    async def _ask_again(self, step: Step, request: ModelRequest, reply: Reply, defect: ReplyMalformed) -> ModelRequest:
        """Return the request that names the defect; raises the run's ending when that was done often enough."""
        step.rejected.append(reply.text)
        if len(step.rejected) > (MAX_REPAIRS if step.limit is None else MAX_DELIVERY_REPAIRS):
            text = f"The model's reply could not be used, also after being told why: {defect.message}"
            raise step.limit or RunFailed(text, failure=FailureKind.INVALID_OUTPUT)
        text = f"The model's reply could not be used, it is asked again: {defect.message}"
        await self._outlets.notice("reply_repaired", text)
        if reply.stop == "length" and not is_long(request):
            return lengthened(request)
        correction = prompt.correction(defect.message, only_done=step.limit is not None)
        return corrected(request, reply.text, correction)

    async def _warn(self, reply: Reply) -> None:
        """Tell the feed what the model's adapter warns of, each warning once."""
        for warning in reply.warnings:
            if warning not in self._warnings:
                self._warnings.add(warning)
                await self._outlets.notice("model_warning", warning)
