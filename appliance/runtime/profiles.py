"""What can be done with profiles: made, looked at, changed, deleted; how sessions take jars and bring them back."""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any
from uuid import UUID
from weakref import WeakValueDictionary

import msgspec

from appliance.errors import MachineFault, NotFound, RequestInvalid
from appliance.persistence import profiles as rows
from appliance.persistence.columns import utc_now
from appliance.persistence.database import Database, Transaction
from appliance.persistence.ids import new_id
from appliance.persistence.records import ProfilePage, ProfileRecord, SealedVersion, VersionRecord
from appliance.persistence.teams import find_first_team
from appliance.profiles.jar import Jar, pack_jar, unpack_jar
from appliance.profiles.merge import Change, Conflict, Merged, Side, Winner, compare, merge, merge_by_hand
from appliance.runtime.sealing import Seal
from appliance.words import VersionSource


@dataclass(frozen=True)
class CheckedOut:
    """The jar that a session was given, and which version of its profile that was; 0 for one that was never used.

    Ids can be used again: team and time of making say which profile it was.
    """

    profile_id: UUID
    team_id: UUID
    created_at: datetime
    version: int
    jar: Jar = field(repr=False)


class MergeNotes(msgspec.Struct, frozen=True):
    """What a version changed, and which conflicts were decided for it."""

    changes: tuple[Change, ...] = ()
    conflicts: tuple[Conflict, ...] = ()


@dataclass(frozen=True)
class ImportedProfile:
    """A profile to be imported; with an id it replaces the jar of the profile that has it."""

    jar: Jar = field(repr=False)
    id: UUID | None = None
    name: str | None = None
    user_id: str | None = None


class Profiles:
    """The use cases. With a `team_id` only that team's profiles are there; unknown ids raise NotFound everywhere."""

    def __init__(self, database: Database, seal: Seal) -> None:
        self._database = database
        self._seal = seal
        self._locks: WeakValueDictionary[UUID, asyncio.Lock] = WeakValueDictionary()

    async def create(
        self, name: str | None, user_id: str | None, team_id: UUID | None, profile_id: UUID | None = None
    ) -> ProfileRecord:
        """Make a profile without logins, of the first team unless another is named; raises Conflict for a taken id."""

        async def write(transaction: Transaction) -> ProfileRecord:
            owner = team_id or (await find_first_team(transaction)).id
            now = utc_now()
            made = ProfileRecord(profile_id or new_id(), owner, _clean(name), _clean(user_id), now, now)
            await rows.add_profile(transaction, made)
            return made

        return await self._database.writer.submit(write)

    async def list_page(self, page: int, page_size: int, query: str, team_id: UUID | None) -> ProfilePage:
        """Return one page of the profiles whose name has `query` in it, newest first."""
        async with self._database.read() as transaction:
            return await rows.list_profiles(transaction, page=page, page_size=page_size, query=query, team_id=team_id)

    async def find(self, profile_id: UUID, team_id: UUID | None) -> ProfileRecord:
        """Return the profile."""
        async with self._database.read() as transaction:
            return await rows.find_profile(transaction, profile_id, team_id)

    async def change(self, profile_id: UUID, team_id: UUID | None, changes: Mapping[str, str | None]) -> ProfileRecord:
        """Write another `name` or `user_id`; what is not named stays."""
        values: dict[str, Any] = {name: _clean(value) for name, value in changes.items()}

        async def write(transaction: Transaction) -> ProfileRecord:
            await rows.find_profile(transaction, profile_id, team_id)
            if values:
                await rows.change_profile(transaction, profile_id, {**values, "updated_at": utc_now()})
            return await rows.find_profile(transaction, profile_id, team_id)

        return await self._database.writer.submit(write)

    async def delete(self, profile_id: UUID, team_id: UUID | None) -> None:
        """Delete the profile with all versions; sessions that use it go on, and bring nothing back."""
        await self._database.writer.submit(lambda transaction: rows.delete_profile(transaction, profile_id, team_id))

    async def read_jar(self, profile_id: UUID, team_id: UUID | None, number: int | None = None) -> Jar:
        """Return the jar, or what it was in an older version."""
        profile = await self.find(profile_id, team_id)
        return await self._read(profile, number)

    async def list_versions(self, profile_id: UUID, team_id: UUID | None) -> tuple[VersionRecord, ...]:
        """Return the versions of the jar that are kept, newest first."""
        async with self._database.read() as transaction:
            await rows.find_profile(transaction, profile_id, team_id)
            return await rows.list_versions(transaction, profile_id)

    async def read_notes(self, profile_id: UUID, team_id: UUID | None, number: int) -> tuple[VersionRecord, MergeNotes]:
        """Return what a version changed."""
        async with self._database.read() as transaction:
            await rows.find_profile(transaction, profile_id, team_id)
            version, sealed = await rows.find_version(transaction, profile_id, number)
        data = await asyncio.to_thread(self._seal.open_bytes, sealed.merge)
        return version, msgspec.json.decode(data, type=MergeNotes)

    async def compare(self, profile_id: UUID, team_id: UUID | None, older: int, newer: int) -> tuple[Change, ...]:
        """Return what is different in version `newer`."""
        profile = await self.find(profile_id, team_id)
        before, after = await self._read(profile, older), await self._read(profile, newer)
        return await asyncio.to_thread(compare, before, after)

    async def restore(self, profile_id: UUID, team_id: UUID | None, number: int) -> ProfileRecord:
        """Make the jar what it was in that version; the one that it was until now stays among the versions."""
        async with self._locked(profile_id):
            jar = await self.read_jar(profile_id, team_id, number)
            return await self._replace(await self.find(profile_id, team_id), jar, VersionSource.RESTORE)

    async def put_jar(self, imported: ImportedProfile, team_id: UUID | None) -> ProfileRecord:
        """Replace the jar of a profile, or make one with this id; the jar until now stays among the versions."""
        profile_id = imported.id or new_id()
        async with self._locked(profile_id):
            try:
                profile = await self.find(profile_id, team_id)
            except NotFound:
                if await self._is_taken(profile_id):
                    raise
                profile = await self.create(imported.name, imported.user_id, team_id, profile_id)
            return await self._replace(profile, imported.jar, VersionSource.IMPORT)

    async def preview_merge(
        self, profile_id: UUID, other_id: UUID, team_id: UUID | None, choices: Mapping[str, Winner]
    ) -> Merged:
        """Return what would come of merging another profile into this one; nothing is changed."""
        if profile_id == other_id:
            raise RequestInvalid("A profile cannot be merged with itself; name another one.", "body", "profileId")
        first, second = await self.read_jar(profile_id, team_id), await self.read_jar(other_id, team_id)
        return await asyncio.to_thread(merge_by_hand, first, second, choices)

    async def merge(
        self, profile_id: UUID, other_id: UUID, team_id: UUID | None, choices: Mapping[str, Winner]
    ) -> Merged:
        """Merge another profile into this one; the other stays as it is.

        Raises RequestInvalid when a conflict has no choice.
        """
        async with self._locked(profile_id):
            merged = await self.preview_merge(profile_id, other_id, team_id, choices)
            undecided = sum(conflict.key not in choices for conflict in merged.conflicts)
            if undecided:
                message = f"{undecided} conflicts have no choice; choose theirs or ours for each."
                raise RequestInvalid(message, "body", "choices")
            profile = await self.find(profile_id, team_id)
            if merged.changes or merged.conflicts:
                await self._write(profile, merged, VersionSource.MERGE, None)
            return merged

    async def check_out(self, profile_id: UUID, team_id: UUID | None) -> CheckedOut:
        """Return the jar for a session of the team, and note that the profile is used."""
        profile = await self.find(profile_id, team_id)
        jar = await self._read(profile, None)
        await self._database.writer.submit(lambda transaction: rows.touch_profile(transaction, profile_id))
        return CheckedOut(profile_id, profile.team_id, profile.created_at, profile.version, jar)

    async def check_in(self, checked_out: CheckedOut, captured: Jar, session_id: UUID) -> Merged | None:
        """Merge what a session left in its browser into the profile, in one transaction.

        Returns None, with nothing changed, when the profile is gone, also if another has its id by now, or the capture
        is empty.
        """
        if captured.is_empty:
            return None
        async with self._locked(checked_out.profile_id):
            try:
                profile = await self.find(checked_out.profile_id, checked_out.team_id)
                if profile.created_at != checked_out.created_at:
                    return None
                theirs = await self._side(profile)
                ours = Side(captured, utc_now().timestamp())
                merged = await asyncio.to_thread(merge, checked_out.jar, theirs, ours)
                if merged.changes or merged.conflicts:
                    await self._write(profile, merged, VersionSource.SESSION, session_id)
                elif merged.jar != theirs.jar:
                    await self._renew(profile, merged.jar)
            except NotFound:
                return None
            return merged

    def _locked(self, profile_id: UUID) -> asyncio.Lock:
        return self._locks.setdefault(profile_id, asyncio.Lock())

    async def _is_taken(self, profile_id: UUID) -> bool:
        try:
            await self.find(profile_id, None)
        except NotFound:
            return False
        return True

    async def _side(self, profile: ProfileRecord) -> Side:
        if profile.version == 0:
            return Side(Jar(), 0)
        async with self._database.read() as transaction:
            version, sealed = await rows.find_version(transaction, profile.id, profile.version)
        return Side(await asyncio.to_thread(self._open, sealed.jar), version.created_at.timestamp())

    async def _read(self, profile: ProfileRecord, number: int | None) -> Jar:
        wanted = profile.version if number is None else number
        if wanted == 0 and number is None:
            return Jar()
        async with self._database.read() as transaction:
            _, sealed = await rows.find_version(transaction, profile.id, wanted)
        return await asyncio.to_thread(self._open, sealed.jar)

    async def _replace(self, profile: ProfileRecord, jar: Jar, source: VersionSource) -> ProfileRecord:
        try:
            before = await self._read(profile, None)
        except MachineFault:
            before = Jar()  # Sealed with another secret: what cannot be opened must not be in the way of another jar.
        changes = await asyncio.to_thread(compare, before, jar)
        await self._write(profile, Merged(jar, changes), source, None)
        return await self.find(profile.id, None)

    async def _renew(self, profile: ProfileRecord, jar: Jar) -> None:
        sealed = await asyncio.to_thread(self._close, jar)
        if profile.version:
            await self._database.writer.submit(
                lambda transaction: rows.renew_version(transaction, profile.id, profile.version, sealed)
            )

    async def _write(
        self, profile: ProfileRecord, merged: Merged, source: VersionSource, session_id: UUID | None
    ) -> None:
        jar = merged.jar
        notes = msgspec.json.encode(MergeNotes(merged.changes, merged.conflicts))
        packed = await asyncio.to_thread(self._close, jar)
        sealed = SealedVersion(packed, await asyncio.to_thread(self._seal.close_bytes, notes))
        version = VersionRecord(
            profile_id=profile.id,
            number=profile.version + 1,
            source=source,
            session_id=session_id,
            created_at=utc_now(),
            cookies=len(jar.cookies),
            origins=len(jar.origins),
            added=sum(change.before is None for change in merged.changes),
            changed=sum(None not in (change.before, change.after) for change in merged.changes),
            removed=sum(change.after is None for change in merged.changes),
            conflicts=len(merged.conflicts),
            size=len(packed),
        )
        await self._database.writer.submit(
            lambda transaction: rows.add_version(transaction, version, sealed, jar.domains)
        )

    def _open(self, sealed: bytes) -> Jar:
        return unpack_jar(self._seal.open_bytes(sealed))

    def _close(self, jar: Jar) -> bytes:
        return self._seal.close_bytes(pack_jar(jar))


def _clean(text: str | None) -> str | None:
    return None if text is None or not text.strip() else text.strip()
