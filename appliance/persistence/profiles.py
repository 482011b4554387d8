"""Reads and writes profiles and the versions of their jars. `team_id` None means the profiles of all teams."""

from collections.abc import Mapping
from dataclasses import asdict
from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import ColumnElement, Row, and_, delete, func, insert, select, true, update

from appliance.errors import Conflict, NotFound
from appliance.persistence.columns import utc_now
from appliance.persistence.records import ProfilePage, ProfileRecord, SealedVersion, VersionRecord
from appliance.persistence.tables import profile_versions, profiles
from appliance.persistence.transaction import Transaction

MOST_VERSIONS = 50
"""How many versions of a jar are kept."""


async def add_profile(transaction: Transaction, profile: ProfileRecord) -> None:
    """Write a new profile without a version; raises Conflict when the id is taken."""
    if await transaction.scalar(select(profiles.c.id).where(profiles.c.id == profile.id)) is not None:
        raise Conflict("There is a profile with this id already; leave the id out.")
    await transaction.execute(insert(profiles).values(**asdict(profile)))


async def find_profile(transaction: Transaction, profile_id: UUID, team_id: UUID | None) -> ProfileRecord:
    """Return the profile; raises NotFound when there is none or it is another team's."""
    row = (await transaction.execute(select(profiles).where(_is_it(profile_id, team_id)))).first()
    if row is None:
        raise NotFound("Profile not found")
    return _to_profile(row)


async def list_profiles(
    transaction: Transaction, *, page: int, page_size: int, query: str, team_id: UUID | None
) -> ProfilePage:
    """Return one page of the profiles whose name has `query` in it, newest first; a page past the end is empty."""
    wanted = _is_of(team_id)
    if query:
        wanted = and_(wanted, profiles.c.name.icontains(query, autoescape=True))
    total = await transaction.scalar(select(func.count()).select_from(profiles).where(wanted))
    newest = select(profiles).where(wanted).order_by(profiles.c.created_at.desc(), profiles.c.id.desc())
    rows = await transaction.execute(newest.limit(page_size).offset((page - 1) * page_size))
    return ProfilePage(tuple(_to_profile(row) for row in rows), total or 0)


async def change_profile(transaction: Transaction, profile_id: UUID, values: Mapping[str, Any]) -> None:
    """Write the columns; the profile may be gone."""
    await transaction.execute(update(profiles).where(profiles.c.id == profile_id).values(**values))


async def delete_profile(transaction: Transaction, profile_id: UUID, team_id: UUID | None) -> None:
    """Forget the profile with all its versions; raises NotFound."""
    await find_profile(transaction, profile_id, team_id)
    await transaction.execute(delete(profile_versions).where(profile_versions.c.profile_id == profile_id))
    await transaction.execute(delete(profiles).where(profiles.c.id == profile_id))


async def add_version(
    transaction: Transaction, version: VersionRecord, sealed: SealedVersion, domains: tuple[str, ...]
) -> None:
    """Make this the profile's version, and forget those that are too old to be kept.

    Raises NotFound when the profile is gone, Conflict when it has another version than the one before this.
    """
    profile = await find_profile(transaction, version.profile_id, None)
    if profile.version != version.number - 1:
        raise Conflict("The profile was changed meanwhile; try again.")
    await transaction.execute(
        insert(profile_versions).values(**asdict(version), sealed_jar=sealed.jar, sealed_merge=sealed.merge)
    )
    values = {"version": version.number, "cookie_domains": domains, "updated_at": version.created_at}
    await change_profile(transaction, version.profile_id, values)
    too_old = profile_versions.c.number <= version.number - MOST_VERSIONS
    await transaction.execute(
        delete(profile_versions).where(profile_versions.c.profile_id == version.profile_id, too_old)
    )


async def renew_version(transaction: Transaction, profile_id: UUID, number: int, sealed_jar: bytes) -> None:
    """Put the same jar with new expiries in the version's place."""
    it = and_(profile_versions.c.profile_id == profile_id, profile_versions.c.number == number)
    await transaction.execute(update(profile_versions).where(it).values(sealed_jar=sealed_jar))


async def list_versions(transaction: Transaction, profile_id: UUID) -> tuple[VersionRecord, ...]:
    """Return the versions that are kept, newest first."""
    columns = [column for column in profile_versions.c if not column.name.startswith("sealed_")]
    wanted = select(*columns).where(profile_versions.c.profile_id == profile_id)
    rows = await transaction.execute(wanted.order_by(profile_versions.c.number.desc()))
    return tuple(_to_version(row) for row in rows)


async def find_version(transaction: Transaction, profile_id: UUID, number: int) -> tuple[VersionRecord, SealedVersion]:
    """Return a version and what it holds; raises NotFound."""
    it = and_(profile_versions.c.profile_id == profile_id, profile_versions.c.number == number)
    row = (await transaction.execute(select(profile_versions).where(it))).first()
    if row is None:
        raise NotFound(f"The profile has no version {number}, or no longer; list its versions.")
    return _to_version(row), SealedVersion(row.sealed_jar, row.sealed_merge)


async def touch_profile(transaction: Transaction, profile_id: UUID, at: datetime | None = None) -> None:
    """Note that a session uses the profile."""
    await change_profile(transaction, profile_id, {"last_used_at": at or utc_now()})


def _is_it(profile_id: UUID, team_id: UUID | None) -> ColumnElement[bool]:
    return and_(profiles.c.id == profile_id, _is_of(team_id))


def _is_of(team_id: UUID | None) -> ColumnElement[bool]:
    return true() if team_id is None else profiles.c.team_id == team_id


def _to_profile(row: Row[Any]) -> ProfileRecord:
    values: dict[str, Any] = {column.name: getattr(row, column.name) for column in profiles.c}
    values["cookie_domains"] = tuple(row.cookie_domains)
    return ProfileRecord(**values)


def _to_version(row: Row[Any]) -> VersionRecord:
    names = [column.name for column in profile_versions.c if not column.name.startswith("sealed_")]
    return VersionRecord(**{name: getattr(row, name) for name in names})
