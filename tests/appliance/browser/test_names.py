"""Names: looked up by the system, and held to."""

import asyncio
from ipaddress import ip_address
from typing import Any

import pytest

from appliance.addresses import Address
from appliance.browser.names import HeldNames
from appliance.browser.policy import resolve_name


@pytest.mark.parametrize("host", [f"{'a' * 64}.test", "two..dots"])
async def test_a_name_that_no_system_looks_up_is_one_that_cannot_be_resolved(host: str) -> None:
    with pytest.raises(OSError, match="no name that could be looked up"):
        await resolve_name(host)


async def test_names_that_could_not_be_looked_up_are_asked_for_again() -> None:
    answers: list[Any] = [OSError("busy"), (ip_address("10.0.0.1"),), (ip_address("10.0.0.2"),)]

    async def resolve(host: str) -> tuple[Address, ...]:
        answer = answers.pop(0)
        if isinstance(answer, OSError):
            raise answer
        return answer

    held = HeldNames(resolve)
    with pytest.raises(OSError, match="busy"):
        await held("a.test")
    assert await asyncio.gather(held("a.test"), held("a.test")) == [(ip_address("10.0.0.1"),)] * 2
