"""The JSON of a session's messages as the v3 API has it; `data` is itself JSON in the form of chat messages."""

from datetime import datetime
from uuid import UUID

from msgspec import Struct


class MessageView(Struct, rename="camel", kw_only=True):
    """One message: `role` is user, assistant or tool, `summary` one line for people."""

    id: UUID
    session_id: UUID
    role: str
    data: str
    type: str
    summary: str
    created_at: datetime
    screenshot_url: str | None = None
    hidden: bool = False


class MessageListView(Struct, rename="camel", kw_only=True):
    """A stretch of messages, oldest first; `hasMore` tells of others beyond it in the direction asked for."""

    messages: list[MessageView]
    has_more: bool
