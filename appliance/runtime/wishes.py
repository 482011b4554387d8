"""What a caller asks for when a session is made or continued, before it is checked; None means "not said"."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any, Literal
from uuid import UUID

from appliance.persistence.records import FieldWarning, Payer
from appliance.words import Effort

ThinkingLevel = Literal["disabled", "low", "medium", "high"]


@dataclass(frozen=True)
class SessionWish:
    """A request to make a session, to start one with a task, or to give an idle one its next task.

    `max_cost_usd` is the money for the whole session, `timeout` the seconds for one run, `clears_thinking` says
    that the caller sent an explicit null for the thinking level. `warnings` are fields that do nothing here. An empty
    `allowed_domains` or `sensitive_data` takes back what was said before. Without a `payer` the first team pays.
    """

    task: str | None = None
    session_id: UUID | None = None
    model: str | None = None
    effort: Effort | None = None
    thinking_level: ThinkingLevel | None = None
    clears_thinking: bool = False
    keep_alive: bool | None = None
    max_cost_usd: Decimal | None = None
    output_schema: dict[str, Any] | None = None
    max_steps: int | None = None
    timeout: float | None = None
    system_prompt_extension: str | None = None
    screen_width: int | None = None
    screen_height: int | None = None
    allowed_domains: tuple[str, ...] | None = None
    sensitive_data: Mapping[str, Any] | None = field(default=None, repr=False)
    warnings: tuple[FieldWarning, ...] = ()
    payer: Payer | None = None
    workspace_id: UUID | None = None
    profile_id: UUID | None = None
