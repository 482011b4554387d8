"""The closed vocabularies of the product: one enumeration per idea, spelt as stored and as sent on the wire."""

from enum import StrEnum


class SessionStatus(StrEnum):
    """State of a session as the v3 API names it; no other word may reach a client."""

    CREATED = "created"
    IDLE = "idle"
    RUNNING = "running"
    STOPPED = "stopped"
    TIMED_OUT = "timed_out"
    ERROR = "error"

    @property
    def is_final(self) -> bool:
        """Whether a session in this state is over, unless it is a conversation that is given another task."""
        return self in (SessionStatus.STOPPED, SessionStatus.TIMED_OUT, SessionStatus.ERROR)


class Lifecycle(StrEnum):
    """The full word for where a session is, told beside its status, which has only a near one."""

    QUEUED = "queued"
    PAUSED = "paused"
    PARKED = "parked"
    EXPIRED = "expired"


class RunStatus(StrEnum):
    """State of one run inside a session."""

    QUEUED = "queued"
    RUNNING = "running"
    ENDED = "ended"


class StopStrategy(StrEnum):
    """What a stop request ends: the running task only, or the whole session."""

    TASK = "task"
    SESSION = "session"


class Ending(StrEnum):
    """How a run ended; says nothing about whether it delivered."""

    DONE = "done"
    STOPPED = "stopped"
    TIMED_OUT = "timed_out"
    STEPS_SPENT = "steps_spent"
    BUDGET_SPENT = "budget_spent"
    FAILED = "failed"
    INTERRUPTED = "interrupted"


class FailureKind(StrEnum):
    """Why a run failed, as callers are told it."""

    PROVIDER_RATE_LIMIT = "provider_rate_limit"
    PROVIDER_SERVER_ERROR = "provider_server_error"
    PROVIDER_CONNECTION_ERROR = "provider_connection_error"
    PROVIDER_TIMEOUT = "provider_timeout"
    PROVIDER_ERROR = "provider_error"
    SESSION_TIMEOUT = "session_timeout"
    INVALID_OUTPUT = "invalid_output"
    BUDGET_EXCEEDED = "budget_exceeded"
    AGENT_FAILURE = "agent_failure"


class Completion(StrEnum):
    """How much of a recorded run could be done again."""

    COMPLETE = "complete"
    PARTIAL = "partial"
    FAILED = "failed"


class ReceiptStatus(StrEnum):
    """What an action really did."""

    OK = "ok"
    NO_EFFECT = "no_effect"
    FAILED = "failed"
    BLOCKED = "blocked"
    NEEDS_DECISION = "needs_decision"
    SKIPPED = "skipped"


class Effort(StrEnum):
    """How hard a model is asked to reason, from not at all to as much as it can."""

    NONE = "none"
    MINIMAL = "minimal"
    LOW = "low"
    MEDIUM = "medium"
    HIGH = "high"
    XHIGH = "xhigh"
    MAX = "max"


class Purpose(StrEnum):
    """What something was paid for."""

    GOAL = "goal"
    STEP = "step"
    ACTION = "action"
    COMPACTION = "compaction"
    REVIEW = "review"
    CAPTCHA = "captcha"


class CapScope(StrEnum):
    """Whose spending a cap limits, the narrowest first."""

    KEY = "key"
    MEMBER = "member"
    TEAM = "team"
    INSTANCE = "instance"


class Period(StrEnum):
    """How long a cap counts until it begins anew: at midnight, on Monday, on the first, or never."""

    DAY = "day"
    WEEK = "week"
    MONTH = "month"
    LIFETIME = "lifetime"


class Role(StrEnum):
    """What a member may do in a team, the most first."""

    OWNER = "owner"
    ADMIN = "admin"
    MEMBER = "member"
    VIEWER = "viewer"


class UsageGroup(StrEnum):
    """By what usage is added up: the days of the team's time zone, or who or what it was spent by."""

    DAY = "day"
    MODEL = "model"
    MEMBER = "member"
    KEY = "key"
    PURPOSE = "purpose"
    SESSION = "session"


class VersionSource(StrEnum):
    """What made a version of a profile's jar."""

    SESSION = "session"
    IMPORT = "import"
    MERGE = "merge"
    RESTORE = "restore"
