"""The JSON of profiles as the v3 API has it, and of the versions and merges of their jars."""

from datetime import datetime
from typing import Annotated, Any
from uuid import UUID

from msgspec import UNSET, Meta, Struct, UnsetType

from appliance.profiles.merge import Winner
from appliance.words import VersionSource

Name = Annotated[str, Meta(max_length=100)]
UserId = Annotated[str, Meta(max_length=255)]


class ProfileRequest(Struct, rename="camel", kw_only=True):
    """How a profile is called and whose it is in the caller's own words; what is left out stays."""

    name: Name | UnsetType | None = UNSET
    user_id: UserId | UnsetType | None = UNSET


class ProfileView(Struct, rename="camel", kw_only=True):
    """A profile: what logins leave in a browser."""

    id: UUID
    created_at: datetime
    updated_at: datetime
    name: str | None
    user_id: str | None
    last_used_at: datetime | None
    cookie_domains: list[str]
    version: int


class ProfileListView(Struct, rename="camel", kw_only=True):
    """One page of the profiles, newest first."""

    items: list[ProfileView]
    total_items: int
    page_number: int
    page_size: int


class VersionView(Struct, rename="camel", kw_only=True):
    """A version of a profile's jar: what made it, and how many entries it holds and changed."""

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


class VersionListView(Struct, rename="camel", kw_only=True):
    """The versions that are kept, newest first."""

    items: list[VersionView]


class ChangeView(Struct, rename="camel", kw_only=True, omit_defaults=True):
    """An entry that differs; what it was and is are there only when values were asked for."""

    entry: list[str | bool]
    kind: str
    before: str | None = None
    after: str | None = None


class ConflictView(Struct, rename="camel", kw_only=True, omit_defaults=True):
    """An entry that both sides changed, whose stands and why; values only when they were asked for."""

    key: str
    entry: list[str | bool]
    winner: str
    rule: str
    base: str | None = None
    theirs: str | None = None
    ours: str | None = None


class MergeView(Struct, rename="camel", kw_only=True):
    """What a merge changed, or would change."""

    changes: list[ChangeView]
    conflicts: list[ConflictView]


class MergeRequest(Struct, rename="camel", kw_only=True):
    """Which profile is merged into this one, and whose entry stands in each conflict (`theirs` is this profile's)."""

    profile_id: UUID
    choices: dict[str, Winner] = {}
    preview: bool = False


class BundledProfile(Struct, rename="camel", kw_only=True):
    """A profile in a bundle; with an id it takes the place of the jar of the profile that has it."""

    storage_state: dict[str, Any]
    id: UUID | None = None
    name: Name | None = None
    user_id: UserId | None = None


class BundleView(Struct, rename="camel", kw_only=True):
    """Profiles to be imported, or as they were exported."""

    profiles: list[BundledProfile]
