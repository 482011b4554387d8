"""The JSON of an account as the v3 API has it."""

from uuid import UUID

from msgspec import Struct, field


class PlanView(Struct, rename="camel", kw_only=True):
    """The plan: there is none to pay for here."""

    plan_name: str = "self-hosted"
    subscription_status: str | None = None
    subscription_id: str | None = None
    subscription_current_period_end: str | None = None
    subscription_canceled_at: str | None = None


class AccountView(Struct, rename="camel", kw_only=True):
    """What the key's team has left. Balances are the US dollars that its tightest cap leaves, 0 without a cap.

    `monthlyCreditsBalanceUsd` is what the cap itself leaves, `additionalCreditsBalanceUsd` what a raise adds.
    """

    name: str
    total_credits_balance_usd: float
    monthly_credits_balance_usd: float
    additional_credits_balance_usd: float
    rate_limit: int
    concurrent_session_limit: int
    active_session_count: int
    project_id: UUID
    api_key_id: UUID | None = None
    is_free_tier: bool = False
    tracing_disabled: bool = True
    plan_info: PlanView = field(default_factory=PlanView)
