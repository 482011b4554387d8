"""What the agent is asked to do in one run, and within which limits."""

from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from appliance.words import Effort


@dataclass(frozen=True)
class EarlierTurn:
    """A task of the same session that was worked on before, and what was answered to it."""

    task: str
    answer: str


@dataclass(frozen=True)
class Assignment:
    """One task with its limits: steps, seconds and, if given, money in US dollars.

    `earlier` are the turns of the conversation so far, oldest first; `keeps_logins` says that the browser of this run
    has a profile's logins, as those before had. `run` is what the run is called outside, `replays`
    likewise the run that is done again, if one is. `is_reviewed` says that a finished answer is checked by the model.
    """

    task: str
    output_schema: dict[str, Any] | None = None
    max_steps: int = 100
    timeout: float = 1800.0
    max_cost_usd: Decimal | None = None
    effort: Effort | None = None
    system_prompt_extension: str = ""
    earlier: tuple[EarlierTurn, ...] = ()
    keeps_logins: bool = False
    run: str = ""
    replays: str | None = None
    is_reviewed: bool = True
