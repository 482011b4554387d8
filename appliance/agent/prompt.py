"""The words the model is given, kept as Markdown in `prompts/` and filled in here."""

import json
from datetime import date
from functools import cache
from pathlib import Path
from typing import Literal

from appliance.agent.assignment import Assignment, EarlierTurn
from appliance.agent.progress import GIVE_UP_AT
from appliance.agent.turns import MAX_ANSWER_BEFORE, MAX_TURNS, clip, tell_earlier
from appliance.errors import RunEnding
from appliance.fences import fence

_FOLDER = Path(__file__).with_name("prompts")


def system_prompt(actions: str, extension: str, *, answer: Literal["filled", "text"] | None = None) -> str:
    """Return the rules, the list of actions, and what the caller adds to them.

    `answer` says how an answer with a schema is given: filled in by actions, or as the text of done.
    """
    parts = [_read("system.md") + actions]
    if answer is not None:
        parts.append(_read("answers.md" if answer == "filled" else "answer_text.md"))
    if extension.strip():
        parts.append(f"# From the person who set this up\n{extension.strip()}")
    return "\n\n".join(parts)


def task_block(assignment: Assignment, today: date, room_for_earlier: int = MAX_TURNS) -> str:
    """Return the part of the prompt that says what is wanted; it stays the same for the whole run.

    Of earlier turns the newest are told, as far as they fit into the given number of characters, and what is lost
    since.
    """
    parts = [_told_date(today)]
    if assignment.earlier:
        told = f"{_told_lost('earlier.md', assignment)}\n{tell_earlier(assignment.earlier, room_for_earlier)}"
        parts.append(earlier_block(told).rstrip("\n"))
    return "\n".join([*parts, _told_task(assignment)])


def next_task_block(
    assignment: Assignment, before: EarlierTurn, goal: str, today: date | None, *, is_moved: bool = False
) -> str:
    """Return what is said when a task follows one that the model has just worked on; `today` only if it is another day.

    The answer to the one before is told up to MAX_ANSWER_BEFORE characters. `is_moved` says that the browser is not
    the one of before.
    """
    browser = _told_lost("browser_moved.md", assignment) if is_moved else _read("browser_stays.md")
    answer = fence(clip(before.answer, MAX_ANSWER_BEFORE))
    said = _read("next_task.md").replace("{browser}", browser).replace("{answer}", answer)
    parts = [said, *([_told_date(today)] if today is not None else []), _told_task(assignment)]
    return "\n".join([*parts, *([f"GOAL: {goal}"] if goal else [])]) + "\n"


def earlier_block(told: str) -> str:
    """Return the block that tells of earlier turns in few words."""
    return f"<earlier_tasks>\n{fence(told)}\n</earlier_tasks>\n"


def _told_lost(name: str, assignment: Assignment) -> str:
    """Return a text that says what is lost with the browser of before."""
    return _read(name).replace("{logins}", "" if assignment.keeps_logins else " and every login")


def _told_date(today: date) -> str:
    return f"Today is {today.isoformat()} (UTC)."


def _told_task(assignment: Assignment) -> str:
    parts = [f"<task>\n{assignment.task}\n</task>"]
    if assignment.output_schema is not None:
        schema = json.dumps(assignment.output_schema, ensure_ascii=False, separators=(",", ":"))
        parts.append(f"<answer_schema>\n{schema}\n</answer_schema>")
    return "\n".join(parts)


def goal_notice(goal: str) -> str:
    """Return the reminder of the goal that is given from time to time."""
    return _read("reminder.md").replace("{goal}", goal)


def checkpoint_block(summary: str, first: int, last: int, archive: str) -> str:
    """Return what stands for steps that were summed up; `archive` names the files that have them in full, if any."""
    where = f" In full: {archive} (read_file)." if archive else ""
    lead = _read("checkpoint.md").replace("{steps}", f"{first}-{last}").replace("{where}", where)
    return f"<checkpoint>\n{lead}\n{fence(summary)}\n</checkpoint>\n"


def reviewer_rules() -> str:
    """Return what the model is told when it is to judge a finished answer."""
    return _read("reviewer.md")


def recognition_rules() -> str:
    """Return what the model is told when it is to find an element of a recorded run again."""
    return _read("known_again.md")


def review_notice(reason: str, number: int, rounds: int) -> str:
    """Return what the model is told when its answer came back; in the last of the rounds it may not object."""
    text = _read("review.md" if number < rounds else "review_last.md")
    return text.replace("{round}", str(number)).replace("{rounds}", str(rounds)).replace("{reason}", fence(reason))


def goal_rules() -> str:
    """Return what the model is told when it is to state a task's goal."""
    return _read("goal.md")


def compaction_rules(limit: int) -> str:
    """Return what the model is told when it is to sum up the steps so far in at most `limit` characters."""
    return _read("compaction.md").replace("{limit}", str(limit))


def step_notice(number: int, max_steps: int) -> str:
    """Return where the run stands in its steps."""
    late = " Begin to bring it to an end." if number > 3 * max_steps / 4 else ""
    return f"Step {number} of {max_steps}.{late}"


def secrets_notice(names: tuple[str, ...]) -> str:
    """Return how the secrets that may be entered on the present page are called, and how they are written."""
    return _read("secrets.md").replace("{names}", ", ".join(f"<secret>{fence(name)}</secret>" for name in names))


def delivery_notice(limit: RunEnding, *, is_filled_in: bool = False) -> str:
    """Return what the model is told in the turn in which only the answer is accepted."""
    told = _read("delivery.md").replace("{limit}", limit.message)
    return f"{told} {_read('delivery_answer.md')}" if is_filled_in else told


def correction(defect: str, *, only_done: bool) -> str:
    """Return what the model is told about a reply that could not be used."""
    accepted = 'The only action accepted now is {"done": {"text": "...", "success": false}}.' if only_done else ""
    return _read("correction.md").replace("{accepted}", accepted).replace("{defect}", defect).strip()


def stuck_notice(count: int, facts: tuple[str, ...], *, must_replan: bool) -> str:
    """Return what the model is told when it gets nowhere; `facts` are the calls that came to nothing."""
    told = "\n".join(f"- {fact}" for fact in facts) or "- replies that could not be used"
    text = _read("replan.md" if must_replan else "repeating.md")
    return text.replace("{count}", str(count)).replace("{limit}", str(GIVE_UP_AT)).replace("{facts}", fence(told))


@cache
def _read(name: str) -> str:
    text = (_FOLDER / name).read_text(encoding="utf-8")
    return text if name == "system.md" else text.strip()
