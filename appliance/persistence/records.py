"""What is read from the database, as frozen values; nothing above this package sees a row object."""

from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal
from typing import Any
from uuid import UUID

from appliance.events import Charge, FeedEvent, TokenCount
from appliance.words import (
    CapScope,
    Effort,
    Ending,
    FailureKind,
    Lifecycle,
    Period,
    Role,
    RunStatus,
    SessionStatus,
    VersionSource,
)


@dataclass(frozen=True)
class FieldWarning:
    """A request field that is accepted but does nothing here."""

    field: str
    code: str
    message: str


@dataclass(frozen=True)
class Payer:
    """Who pays for a run: a team, through one of its members, one of its keys, or neither."""

    team_id: UUID
    user_id: UUID | None = None
    key_id: UUID | None = None


@dataclass(frozen=True)
class SessionRecord:
    """A session with the totals of all its runs and the result of the latest.

    `sensitive_data` is sealed text, which only the runtime can open. `lifecycle` is set where the status has only a
    near word; that a session is queued shows in its `queue_position`. `allowance_usd` is the money that each task adds
    which names none. `is_closed` says that the session was stopped on purpose.
    """

    id: UUID
    status: SessionStatus
    model: str
    wire_model: str
    created_at: datetime
    updated_at: datetime
    title: str = ""
    output: Any = None
    output_schema: dict[str, Any] | None = None
    effort: Effort | None = None
    thinking_level: str | None = None
    keep_alive: bool = False
    max_cost_usd: Decimal | None = None
    max_steps: int | None = None
    timeout: float | None = None
    system_prompt_extension: str = ""
    screen_width: int | None = None
    screen_height: int | None = None
    allowed_domains: tuple[str, ...] = ()
    sensitive_data: str | None = None
    step_count: int = 0
    last_step_summary: str | None = None
    is_successful: bool | None = None
    failure: FailureKind | None = None
    failure_status_code: int | None = None
    tokens: TokenCount = field(default_factory=TokenCount)
    cost_usd: Decimal = Decimal(0)
    services_usd: Decimal = Decimal(0)
    screenshot: str | None = None
    warnings: tuple[FieldWarning, ...] = ()
    queue_position: int | None = None
    team_id: UUID | None = None
    lifecycle: Lifecycle | None = None
    allowance_usd: Decimal | None = None
    is_closed: bool = False
    workspace_id: UUID | None = None
    profile_id: UUID | None = None

    @property
    def takes_tasks(self) -> bool:
        """Whether it may be given a task once none is at work.

        One that is kept alive is a conversation, which goes on after its browser is gone, until it is stopped on
        purpose.
        """
        if self.is_closed or self.lifecycle is Lifecycle.EXPIRED:
            return False
        return self.keep_alive or not self.status.is_final

    @property
    def full_state(self) -> Lifecycle | SessionStatus:
        """Where the session is, by its full word."""
        return Lifecycle.QUEUED if self.queue_position is not None else self.lifecycle or self.status


@dataclass(frozen=True)
class ReplaySource:
    """The recorded run that a replay does again; `with_model` also does the actions again that ask a model."""

    session_id: UUID
    run_id: UUID
    with_model: bool = False


@dataclass(frozen=True)
class RunRecord:
    """One task of a session; `replays` is set when the run does a recorded one again.

    `paused_at` is when a pause began that has not ended, `paused_seconds` how long those took that have.
    """

    id: UUID
    session_id: UUID
    number: int
    task: str
    model: str
    status: RunStatus
    created_at: datetime
    started_at: datetime | None = None
    ended_at: datetime | None = None
    ending: Ending | None = None
    output: Any = None
    is_successful: bool | None = None
    failure: FailureKind | None = None
    failure_status_code: int | None = None
    replays: ReplaySource | None = None
    payer: Payer | None = None
    step_count: int = 0
    tokens: TokenCount = field(default_factory=TokenCount)
    cost_usd: Decimal = Decimal(0)
    services_usd: Decimal = Decimal(0)
    paused_at: datetime | None = None
    paused_seconds: float = 0.0


@dataclass(frozen=True)
class EventRecord:
    """One feed entry; `sequence` counts from 1 within the session and never changes."""

    id: UUID
    session_id: UUID
    run_id: UUID | None
    sequence: int
    created_at: datetime
    event: FeedEvent


@dataclass(frozen=True)
class EventPage:
    """A stretch of a feed, oldest first; `has_more` tells of entries beyond it in the direction asked for."""

    events: tuple[EventRecord, ...]
    has_more: bool


@dataclass(frozen=True)
class SessionPage:
    """One page of the session list, newest first."""

    sessions: tuple[SessionRecord, ...]
    total: int


@dataclass(frozen=True)
class WorkspaceRecord:
    """A workspace of a team."""

    id: UUID
    team_id: UUID
    name: str | None
    created_at: datetime
    updated_at: datetime


@dataclass(frozen=True)
class WorkspacePage:
    """One page of the workspaces, newest first."""

    workspaces: tuple[WorkspaceRecord, ...]
    total: int


@dataclass(frozen=True)
class ProfileRecord:
    """A profile of a team; `version` is the number of its jar's newest version, 0 without any."""

    id: UUID
    team_id: UUID
    name: str | None
    user_id: str | None
    created_at: datetime
    updated_at: datetime
    last_used_at: datetime | None = None
    cookie_domains: tuple[str, ...] = ()
    version: int = 0


@dataclass(frozen=True)
class ProfilePage:
    """One page of the profiles, newest first."""

    profiles: tuple[ProfileRecord, ...]
    total: int


@dataclass(frozen=True)
class VersionRecord:
    """A version of a profile's jar: what made it, what it holds, and how many entries it changed; `size` in bytes."""

    profile_id: UUID
    number: int
    source: VersionSource
    session_id: UUID | None
    created_at: datetime
    cookies: int
    origins: int
    added: int
    changed: int
    removed: int
    conflicts: int
    size: int


@dataclass(frozen=True)
class SealedVersion:
    """What a version holds, sealed: its jar, and the changes and conflicts of the merge that made it."""

    jar: bytes = field(repr=False)
    merge: bytes = field(repr=False)


@dataclass(frozen=True)
class StepRecord:
    """One step of a run and what it cost; `cost_usd` is None where the price is not known."""

    run_id: UUID
    number: int
    created_at: datetime
    url: str
    title: str
    tokens: TokenCount
    cost_usd: Decimal | None = None
    screenshot: str | None = None
    observe_ms: int = 0
    think_ms: int = 0


@dataclass(frozen=True)
class UserRecord:
    """A person who may sign in; `email` is in lower case."""

    id: UUID
    email: str
    password_hash: str
    created_at: datetime


@dataclass(frozen=True)
class KeyRecord:
    """An API key as the database knows it: `hash` is the SHA-256 in hex, `prefix` what people recognise it by."""

    id: UUID
    name: str
    prefix: str
    hash: str
    created_at: datetime
    revoked_at: datetime | None = None
    team_id: UUID | None = None
    user_id: UUID | None = None


@dataclass(frozen=True)
class TeamRecord:
    """A team; `time_zone` is an IANA name and says when its days, weeks and months begin."""

    id: UUID
    name: str
    time_zone: str
    created_at: datetime


@dataclass(frozen=True)
class MemberRecord:
    """A person in a team."""

    team_id: UUID
    user_id: UUID
    role: Role
    created_at: datetime


@dataclass(frozen=True)
class CapRecord:
    """A cap in US dollars for what a key, a member, a team (`subject_id`) or the instance (None) spends in a period.

    At `hard_usd` nothing more is spent, at `soft_usd` people are told. `raise_usd` is added to both until
    `raise_until`. `subject_name` is what people call the subject, `time_zone` where its periods begin, an IANA name.
    The ledger has `kept_usd` for it since `kept_since`, both None as long as nobody asked.
    """

    id: UUID
    scope: CapScope
    subject_id: UUID | None
    period: Period
    hard_usd: Decimal | None
    soft_usd: Decimal | None
    created_at: datetime
    updated_at: datetime
    raise_usd: Decimal | None = None
    raise_until: datetime | None = None
    subject_name: str = ""
    time_zone: str = "UTC"
    kept_since: datetime | None = None
    kept_usd: Decimal | None = None


@dataclass(frozen=True)
class PriceRecord:
    """What the operator says a model costs, in US dollars for a million tokens of each class.

    A call with `long_from` prompt tokens or more costs `long_factor` times as much in every class.
    """

    model: str
    input_usd: Decimal
    cache_read_usd: Decimal
    cache_write_usd: Decimal
    output_usd: Decimal
    long_from: int | None
    long_factor: Decimal | None
    updated_at: datetime


@dataclass(frozen=True)
class ChargeRecord:
    """A row of the ledger: what was charged, when, for which run, and who pays for it."""

    at: datetime
    session_id: UUID
    run_id: UUID | None
    team_id: UUID | None
    user_id: UUID | None
    key_id: UUID | None
    charge: Charge


@dataclass(frozen=True)
class UsageRecord:
    """What a group of charges comes to.

    `key` is the group's id, word, name or date, "" for charges that belong to none; `label` is what people know it by.
    `unpriced` counts the calls whose price is not known, which `cost_usd` leaves out, `estimated` those that were given
    up before their reply told what they used. `services_usd` is the part that went to other services than models.
    """

    key: str
    label: str
    calls: int = 0
    tokens: TokenCount = field(default_factory=TokenCount)
    cost_usd: Decimal = Decimal(0)
    services_usd: Decimal = Decimal(0)
    unpriced: int = 0
    estimated: int = 0


@dataclass(frozen=True)
class ProcessRecord:
    """A process group of ours; `start_ticks` is its leader's start time as /proc/<pid>/stat has it."""

    pgid: int
    kind: str
    start_ticks: int
    session_id: UUID | None = None
