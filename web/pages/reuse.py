"""Fills the form of a new task with what an earlier session was asked."""

import json
from collections.abc import Sequence

from appliance.persistence.records import RunRecord, SessionRecord
from web.pages.forms import TaskForm


def form_of_session(session: SessionRecord, runs: Sequence[RunRecord]) -> TaskForm:
    """Return the form that would start the session's first task again."""
    schema = json.dumps(session.output_schema, indent=2, ensure_ascii=False) if session.output_schema else ""
    return TaskForm(
        task=runs[0].task,
        model=session.model,
        max_steps=str(session.max_steps or ""),
        max_cost=f"{session.max_cost_usd.normalize():f}" if session.max_cost_usd else "",
        effort=session.effort or "",
        schema=schema,
        keep_alive=session.keep_alive,
    )
