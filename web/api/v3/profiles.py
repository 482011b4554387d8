"""The calls on profiles: make, list, get, change, delete."""

from dataclasses import dataclass
from typing import Annotated, Any
from uuid import UUID

from litestar import Request, delete, get, patch, post
from litestar.di import NamedDependency, Provide
from litestar.params import FromPath, JSONBody, QueryParameter
from msgspec import UNSET

from appliance.errors import RequestInvalid
from appliance.persistence.records import Payer, ProfileRecord
from appliance.runtime.profiles import Profiles
from web.api.v3.shapes.profiles import ProfileListView, ProfileRequest, ProfileView
from web.problems import PROBLEMS

_LAST_PAGE = 1_000_000_000
LONGEST_QUERY = 200


@post("/profiles", responses=PROBLEMS, tags=["profiles"], summary="Make a profile")
async def create_profile(
    profiles: NamedDependency[Profiles],
    payer: NamedDependency[Payer | None],
    data: JSONBody[ProfileRequest | None] = None,
) -> ProfileView:
    """Make a profile without any logins."""
    asked = data or ProfileRequest()
    name = None if asked.name is UNSET else asked.name
    user_id = None if asked.user_id is UNSET else asked.user_id
    return render_profile(await profiles.create(name, user_id, payer and payer.team_id))


@dataclass(frozen=True)
class ProfileQuery:
    """Which page of which profiles is asked for."""

    page: int
    page_size: int
    name: str


def read_profile_query(
    request: Request[Any, Any, Any],
    page_number: Annotated[int | None, QueryParameter(name="pageNumber", ge=1, le=_LAST_PAGE)] = None,
    page_size: Annotated[int | None, QueryParameter(name="pageSize", ge=1, le=100)] = None,
    page_too: Annotated[int, QueryParameter(name="page", ge=1, le=_LAST_PAGE)] = 1,
    page_size_too: Annotated[int, QueryParameter(name="page_size", ge=1, le=100)] = 10,
) -> ProfileQuery:
    """Return what is asked for in either spelling, as the clients differ in it."""
    # The framework keeps this name to itself.
    query = request.query_params.get("query", "")
    if len(query) > LONGEST_QUERY:
        raise RequestInvalid(f"A query has at most {LONGEST_QUERY} characters; shorten it.", "query", "query")
    return ProfileQuery(page_number or page_too, page_size or page_size_too, query)


@get(
    "/profiles",
    responses=PROBLEMS,
    tags=["profiles"],
    summary="List profiles",
    dependencies={"asked": Provide(read_profile_query, sync_to_thread=False)},
)
async def list_profiles(
    profiles: NamedDependency[Profiles],
    payer: NamedDependency[Payer | None],
    asked: NamedDependency[ProfileQuery],
) -> ProfileListView:
    """Return one page of the profiles whose name has `query` in it, newest first; a page past the end is empty.

    Both spellings of the page are understood: `pageNumber` and `pageSize`, `page` and `page_size`.
    """
    found = await profiles.list_page(asked.page, asked.page_size, asked.name, payer and payer.team_id)
    items = [render_profile(profile) for profile in found.profiles]
    return ProfileListView(items=items, total_items=found.total, page_number=asked.page, page_size=asked.page_size)


@get("/profiles/{profile_id:uuid}", responses=PROBLEMS, tags=["profiles"], summary="Get a profile")
async def get_profile(
    profiles: NamedDependency[Profiles], payer: NamedDependency[Payer | None], profile_id: FromPath[UUID]
) -> ProfileView:
    """Return the profile."""
    return render_profile(await profiles.find(profile_id, payer and payer.team_id))


@patch("/profiles/{profile_id:uuid}", responses=PROBLEMS, tags=["profiles"], summary="Change a profile")
async def update_profile(
    profiles: NamedDependency[Profiles],
    payer: NamedDependency[Payer | None],
    profile_id: FromPath[UUID],
    data: JSONBody[ProfileRequest],
) -> ProfileView:
    """Give the profile another name or user id; what is left out stays."""
    asked = {"name": data.name, "user_id": data.user_id}
    changes = {name: value for name, value in asked.items() if value is not UNSET}
    return render_profile(await profiles.change(profile_id, payer and payer.team_id, changes))


@delete(
    "/profiles/{profile_id:uuid}", status_code=204, responses=PROBLEMS, tags=["profiles"], summary="Delete a profile"
)
async def delete_profile(
    profiles: NamedDependency[Profiles], payer: NamedDependency[Payer | None], profile_id: FromPath[UUID]
) -> None:
    """Delete the profile with all versions; runs that use it go on, and bring nothing back."""
    await profiles.delete(profile_id, payer and payer.team_id)


def render_profile(profile: ProfileRecord) -> ProfileView:
    """Return the JSON of the profile."""
    return ProfileView(
        id=profile.id,
        created_at=profile.created_at,
        updated_at=profile.updated_at,
        name=profile.name,
        user_id=profile.user_id,
        last_used_at=profile.last_used_at,
        cookie_domains=list(profile.cookie_domains),
        version=profile.version,
    )
