"""How the earlier tasks of a session are told of in few words, each with the beginning of its answer."""

from collections.abc import Sequence

from appliance.agent.assignment import EarlierTurn

MAX_REQUEST, MAX_ANSWER = 600, 1_200
"""Characters of an earlier task, and of its answer, that are told."""
MAX_TURNS = 4_000
"""Characters of all earlier tasks; where they are more, the newest are told."""
MAX_ANSWER_BEFORE = 4_000
"""Characters of the answer right before, where the agent that gave it goes on."""
_MAX_REMINDER = 300


def tell_earlier(turns: Sequence[EarlierTurn], room: int = MAX_TURNS) -> str:
    """Return the newest of the turns, oldest first, as far as they fit; of one that is too long by itself, a part."""
    told: list[str] = []
    room = min(room, MAX_TURNS)
    for turn in reversed(turns):
        text = _tell(turn)
        if len(text) >= room and told:
            break
        told.append(text[: max(room, 0)])
        room -= len(text) + 1
    return "\n".join(reversed(told))


def tell_next(answer: str, task: str) -> str:
    """Return an answer and the task that followed it, in the same form."""
    return f"Your answer: {_set_in(clip(answer, MAX_ANSWER))}\nTask: {_set_in(clip(task, MAX_REQUEST))}"


def _tell(turn: EarlierTurn) -> str:
    """Return a task and its answer, their further lines set in, so that none of them passes for another turn."""
    return f"Task: {_set_in(clip(turn.task, MAX_REQUEST))}\nYour answer: {_set_in(clip(turn.answer, MAX_ANSWER))}"


def remind_of(task: str) -> str:
    """Return the sentence that says which of several tasks is the present one."""
    return f"The task now is the last one given: {clip(' '.join(task.split()), _MAX_REMINDER)}"


def clip(text: str, limit: int) -> str:
    """Return the text in at most so many characters, with a sign where its end is missing."""
    return text if len(text) <= limit else f"{text[: limit - 1]}…"


def _set_in(text: str) -> str:
    return "\n  ".join(text.splitlines())
