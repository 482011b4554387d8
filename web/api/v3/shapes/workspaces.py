"""The JSON of workspaces as the v3 API has it."""

from datetime import datetime
from typing import Annotated
from uuid import UUID

from msgspec import Meta, Struct


class WorkspaceRequest(Struct, rename="camel", kw_only=True):
    """How a workspace is called."""

    name: Annotated[str, Meta(max_length=100)] | None = None


class WorkspaceView(Struct, rename="camel", kw_only=True):
    """A workspace: files that outlive a session."""

    id: UUID
    created_at: datetime
    updated_at: datetime
    name: str | None


class WorkspaceListView(Struct, rename="camel", kw_only=True):
    """One page of the workspaces, newest first."""

    items: list[WorkspaceView]
    total_items: int
    page_number: int
    page_size: int


class AnnouncedFile(Struct, rename="camel", kw_only=True):
    """A file that will be uploaded: its name or path below the prefix, and its exact size in bytes."""

    name: Annotated[str, Meta(min_length=1, max_length=255)]
    size: Annotated[int, Meta(ge=1)]
    content_type: str = "application/octet-stream"


class UploadRequest(Struct, rename="camel", kw_only=True):
    """The files that will be uploaded."""

    files: Annotated[list[AnnouncedFile], Meta(min_length=1, max_length=10)]


class UploadTarget(Struct, rename="camel", kw_only=True):
    """Where one file is to be sent with PUT, and the path that it will have."""

    name: str
    upload_url: str
    path: str


class UploadView(Struct, rename="camel", kw_only=True):
    """Where the files are to be sent, in the order in which they were announced."""

    files: list[UploadTarget]


class WorkspaceSizeView(Struct, rename="camel", kw_only=True):
    """What a workspace holds and may hold, in bytes."""

    used_bytes: int
    max_bytes: int
