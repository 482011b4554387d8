"""The calls on what profiles hold: storage states, bundles, versions, and merges."""

from collections.abc import Sequence
from dataclasses import asdict
from typing import Annotated, Any
from uuid import UUID

import msgspec
from litestar import Request, get, post, put
from litestar.di import NamedDependency
from litestar.params import FromPath, FromQuery, JSONBody, QueryParameter

from appliance.errors import RequestInvalid
from appliance.persistence.records import Payer, VersionRecord
from appliance.profiles.merge import Change, Conflict
from appliance.profiles.storage_state import MOST_BYTES, read_storage_state, write_storage_state
from appliance.runtime.profiles import ImportedProfile, Profiles
from web.api.v3.profiles import render_profile
from web.api.v3.shapes.profiles import (
    BundledProfile,
    BundleView,
    ChangeView,
    ConflictView,
    MergeRequest,
    MergeView,
    ProfileListView,
    ProfileView,
    VersionListView,
    VersionView,
)
from web.problems import PROBLEMS

AnyRequest = Request[Any, Any, Any]
_ALL = 100


@put(
    "/profiles/{profile_id:uuid}/storage-state",
    responses=PROBLEMS,
    tags=["profiles"],
    summary="Import a storage state",
    request_max_body_size=None,
)
async def put_storage_state(
    request: AnyRequest,
    profiles: NamedDependency[Profiles],
    payer: NamedDependency[Payer | None],
    profile_id: FromPath[UUID],
) -> ProfileView:
    """Replace what the profile holds by a storage state as Playwright writes it, at most 20 MB.

    A profile that is not there is made with this id; what it held until now stays among its versions.
    """
    jar = read_storage_state(await _read_body(request), "body")
    return render_profile(await profiles.put_jar(ImportedProfile(jar, id=profile_id), payer and payer.team_id))


@get(
    "/profiles/{profile_id:uuid}/storage-state", responses=PROBLEMS, tags=["profiles"], summary="Export a storage state"
)
async def get_storage_state(
    profiles: NamedDependency[Profiles],
    payer: NamedDependency[Payer | None],
    profile_id: FromPath[UUID],
    version: Annotated[int | None, QueryParameter(name="version", ge=1, le=1_000_000_000)] = None,
) -> dict[str, Any]:
    """Return what the profile holds, or held in an older version, as a storage state that Playwright reads."""
    return write_storage_state(await profiles.read_jar(profile_id, payer and payer.team_id, version))


@post(
    "/profiles/import",
    status_code=200,
    responses=PROBLEMS,
    tags=["profiles"],
    summary="Import a bundle of profiles",
    request_max_body_size=None,
)
async def import_profiles(
    request: AnyRequest, profiles: NamedDependency[Profiles], payer: NamedDependency[Payer | None]
) -> ProfileListView:
    """Import profiles with their ids, names and storage states, as `/profiles/export` gives them; at most 20 MB."""
    try:
        bundle = msgspec.json.decode(await _read_body(request), type=BundleView)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        message = f"The bundle cannot be used: {error}; send one as /profiles/export gives it."
        raise RequestInvalid(message, "body") from error
    imported = [
        ImportedProfile(
            read_storage_state(one.storage_state, "body", "profiles", f"{place}", "storageState"),
            one.id,
            one.name,
            one.user_id,
        )
        for place, one in enumerate(bundle.profiles)
    ]
    items = [render_profile(await profiles.put_jar(one, payer and payer.team_id)) for one in imported]
    return ProfileListView(items=items, total_items=len(items), page_number=1, page_size=len(items))


@get("/profiles/export", responses=PROBLEMS, tags=["profiles"], summary="Export all profiles")
async def export_profiles(profiles: NamedDependency[Profiles], payer: NamedDependency[Payer | None]) -> BundleView:
    """Return the newest 100 profiles with what they hold."""
    team_id = payer and payer.team_id
    found = await profiles.list_page(1, _ALL, "", team_id)
    return BundleView(
        profiles=[
            BundledProfile(
                id=one.id,
                name=one.name,
                user_id=one.user_id,
                storage_state=write_storage_state(await profiles.read_jar(one.id, team_id)),
            )
            for one in found.profiles
        ]
    )


@get("/profiles/{profile_id:uuid}/merges", responses=PROBLEMS, tags=["profiles"], summary="List the versions")
async def list_profile_versions(
    profiles: NamedDependency[Profiles], payer: NamedDependency[Payer | None], profile_id: FromPath[UUID]
) -> VersionListView:
    """Return the versions of the profile that are kept, newest first."""
    versions = await profiles.list_versions(profile_id, payer and payer.team_id)
    return VersionListView(items=[_render_version(version) for version in versions])


@get("/profiles/{profile_id:uuid}/merges/{number:int}", responses=PROBLEMS, tags=["profiles"], summary="Get a merge")
async def get_profile_merge(
    profiles: NamedDependency[Profiles],
    payer: NamedDependency[Payer | None],
    profile_id: FromPath[UUID],
    number: FromPath[int],
    values: FromQuery[bool] = False,
) -> MergeView:
    """Return what a version changed and which conflicts were decided for it; with `values` what stood there, too."""
    _, notes = await profiles.read_notes(profile_id, payer and payer.team_id, _within(number))
    return _render_merge(notes.changes, notes.conflicts, with_values=values)


@get("/profiles/{profile_id:uuid}/compare", responses=PROBLEMS, tags=["profiles"], summary="Compare two versions")
async def compare_profile_versions(
    profiles: NamedDependency[Profiles],
    payer: NamedDependency[Payer | None],
    profile_id: FromPath[UUID],
    older: Annotated[int, QueryParameter(name="older", ge=1, le=1_000_000_000)],
    newer: Annotated[int, QueryParameter(name="newer", ge=1, le=1_000_000_000)],
    values: FromQuery[bool] = False,
) -> MergeView:
    """Return what is different in version `newer`; with `values` what stands there, too."""
    changes = await profiles.compare(profile_id, payer and payer.team_id, older, newer)
    return _render_merge(changes, (), with_values=values)


@post(
    "/profiles/{profile_id:uuid}/merges/{number:int}/restore",
    status_code=200,
    responses=PROBLEMS,
    tags=["profiles"],
    summary="Restore a version",
)
async def restore_profile_version(
    profiles: NamedDependency[Profiles],
    payer: NamedDependency[Payer | None],
    profile_id: FromPath[UUID],
    number: FromPath[int],
) -> ProfileView:
    """Make the profile what it was in that version; what it is now stays among its versions."""
    return render_profile(await profiles.restore(profile_id, payer and payer.team_id, _within(number)))


@post(
    "/profiles/{profile_id:uuid}/merge",
    status_code=200,
    responses=PROBLEMS,
    tags=["profiles"],
    summary="Merge another profile into this one",
)
async def merge_profiles(
    profiles: NamedDependency[Profiles],
    payer: NamedDependency[Payer | None],
    profile_id: FromPath[UUID],
    data: JSONBody[MergeRequest],
    values: FromQuery[bool] = False,
) -> MergeView:
    """Put what only the other profile has into this one; entries of both that differ need a choice each.

    With `preview` nothing is changed, and the conflicts are listed with their keys.
    """
    work = profiles.preview_merge if data.preview else profiles.merge
    merged = await work(profile_id, data.profile_id, payer and payer.team_id, data.choices)
    return _render_merge(merged.changes, merged.conflicts, with_values=values)


async def _read_body(request: AnyRequest) -> bytes:
    """Return the body; raises RequestInvalid as soon as it is longer than a storage state may be."""
    pieces: list[bytes] = []
    size = 0
    async for piece in request.stream():
        size += len(piece)
        if size > MOST_BYTES:
            most = f"{MOST_BYTES // 1_000_000} MB"
            raise RequestInvalid(f"The body has more than {most}; leave out what is not needed.", "body")
        pieces.append(piece)
    return b"".join(pieces)


def _within(number: int) -> int:
    """Return the number; what no version can have is 0, which none has."""
    return number if 0 < number < 1_000_000_000 else 0


def _render_version(version: VersionRecord) -> VersionView:
    values = asdict(version)
    del values["profile_id"]
    return VersionView(**values)


def _render_merge(changes: Sequence[Change], conflicts: Sequence[Conflict], *, with_values: bool) -> MergeView:
    return MergeView(
        changes=[_render_change(change, with_values=with_values) for change in changes],
        conflicts=[_render_conflict(conflict, with_values=with_values) for conflict in conflicts],
    )


def _render_change(change: Change, *, with_values: bool) -> ChangeView:
    kind = "added" if change.before is None else "removed" if change.after is None else "changed"
    before, after = (change.before, change.after) if with_values else (None, None)
    return ChangeView(entry=list(change.name), kind=kind, before=before, after=after)


def _render_conflict(conflict: Conflict, *, with_values: bool) -> ConflictView:
    sides = (conflict.base, conflict.theirs, conflict.ours) if with_values else (None, None, None)
    base, theirs, ours = sides
    return ConflictView(
        key=conflict.key,
        entry=list(conflict.name),
        winner=conflict.winner,
        rule=conflict.rule,
        base=base,
        theirs=theirs,
        ours=ours,
    )
