"""What a replay hands in: the answer store it has filled again, with what was read today, else what was recorded."""

from typing import Any

from appliance.actions.base import ActionContext
from appliance.agent.recorded import RecordedRun
from appliance.agent.replay_report import ReplayReport
from appliance.errors import AnswerShape, RunDone
from appliance.store.answers import AnswerStore
from appliance.store.sources import Sources, trace
from appliance.words import Completion


def answer_of(run: RecordedRun, report: ReplayReport, context: ActionContext) -> RunDone:
    """Return the ending of a replay that came to its end, with its answer.

    A filled store is handed in as it is. Without one the recorded answer counts if everything went as it did then;
    else there is what was saved as partial, or, where no form was asked for, the report.
    """
    store, is_complete = context.store, report.completion is Completion.COMPLETE
    if store is not None and store.is_touched:
        return RunDone(report.summary, answer=store.value, shape=_shape(store, run))
    if is_complete and run.is_done:
        shape = AnswerShape(bool(run.is_successful), sources=_recorded_sources(run))
        return RunDone(report.summary, answer=run.final_result, shape=shape)
    is_free = context.output_schema is None
    answer: Any = report.text if is_free else None
    if context.partial is not None:
        answer = context.partial.value
    return RunDone(report.summary, answer=answer, shape=AnswerShape(is_free and is_complete))


def _shape(store: AnswerStore, run: RecordedRun) -> AnswerShape:
    """Return how the store stands to its schema, and where its values were read: today, else in the recorded run."""
    answer, fits = store.value, store.is_valid
    sources = trace(answer, store.provenance())
    if run.closed is not None and run.closed.output == answer:
        recorded = _recorded_sources(run) or {}
        sources = {
            pointer: recorded.get(pointer, source) if source["status"] == "unseen" else source
            for pointer, source in sources.items()
        }
    lacking = "" if fits else f"It does not fit the output schema: {'; '.join(store.defects())}."
    return AnswerShape(fits, lacking, sources)


def _recorded_sources(run: RecordedRun) -> Sources | None:
    """Return the sources of the recorded answer; pictures and steps are left out, since they are another session's."""
    if run.closed is None or run.closed.provenance is None:
        return None
    return {
        pointer: {name: value for name, value in source.items() if name not in ("step", "screenshot")}
        for pointer, source in run.closed.provenance.items()
    }
