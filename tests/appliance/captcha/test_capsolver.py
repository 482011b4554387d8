"""The client of the service, against a server that answers as the service does, well and badly."""

import asyncio
import logging
from decimal import Decimal

import pytest

from appliance.captcha.base import Solution
from appliance.captcha.capsolver import CapSolver
from appliance.errors import SolverFailed
from appliance.pause import Pause
from tests.stand_in.solver import KEY, SolverService, Turn

TASK = {"type": "AntiTurnstileTaskProxyLess", "websiteURL": "http://site.example/", "websiteKey": "0x4"}


async def solve(service: SolverService, *, key: str = KEY, polls: int = 20) -> tuple[Solution, int]:
    """Return the solution of a task, and how often the service said that it took it on."""
    accepted: list[bool] = []
    solver = CapSolver(key, service.url + "/", poll_seconds=0.01, polls=polls)
    solution = await solver.solve(TASK, lambda: accepted.append(True))
    return solution, len(accepted)


async def test_a_task_is_handed_in_and_asked_for_until_it_is_ready(service: SolverService) -> None:
    service.script = [Turn(pending=3, cost="0.00145")]
    solution, accepted = await solve(service)
    assert solution == Solution({"token": "solved:0x4"}, Decimal("0.00145"))
    assert (accepted, service.polls, service.tasks) == (1, 4, [TASK])


async def test_what_is_read_at_once_is_not_asked_for_again(service: SolverService) -> None:
    solver = CapSolver(KEY, service.url)
    solution = await solver.solve({"type": "ImageToTextTask", "body": "aGk="}, lambda: None)
    assert (solution, service.polls) == (Solution({"text": "w3kq7"}), 0)


async def test_a_slow_service_is_given_up_after_as_many_polls_as_are_allowed(service: SolverService) -> None:
    service.script = [Turn(pending=1000)]
    with pytest.raises(SolverFailed, match="no result came in") as failure:
        await solve(service, polls=5)
    assert (service.polls, failure.value.is_final) == (5, False)


@pytest.mark.parametrize("late", [False, True])
@pytest.mark.parametrize(
    ("code", "says", "is_final"),
    [
        ("ERROR_ZERO_BALANCE", "the account at the service is empty: top it up", True),
        ("ERROR_KEY_TEMP_BLOCKED", "has blocked the key", True),
        ("ERROR_CAPTCHA_UNSOLVABLE", "could not solve it", False),
        ("ERROR_RATE_LIMIT", "asked too often", False),
        ("ERROR_OF_A_NEW_KIND", "the service reports ERROR_OF_A_NEW_KIND", False),
    ],
)
async def test_each_fault_of_the_service_is_a_typed_error_that_says_what_to_do(
    code: str, says: str, is_final: bool, late: bool, service: SolverService
) -> None:
    service.script = [Turn(error=code, late=late)]
    with pytest.raises(SolverFailed, match=says) as failure:
        await solve(service)
    assert failure.value.is_final is is_final
    assert KEY not in failure.value.message


async def test_a_wrong_key_is_final_and_in_no_message(service: SolverService, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    with pytest.raises(SolverFailed, match="CAPSOLVER_API_KEY") as failure:
        await solve(service, key="CAP-WRONG")
    assert failure.value.is_final
    assert "CAP-WRONG" not in failure.value.message
    assert "CAP-WRONG" not in caplog.text


@pytest.mark.parametrize(
    "turn",
    [
        Turn(raw="<html>bad gateway</html>", status=502),
        Turn(raw="[1, 2]"),
        Turn(raw="{}"),
        Turn(raw='{"errorId": 0}', status=500),
        Turn(solution={}),
    ],
    ids=["html", "list", "nothing", "status", "empty solution"],
)
async def test_an_answer_that_makes_no_sense_is_an_error_and_no_solution(turn: Turn, service: SolverService) -> None:
    service.script = [turn]
    with pytest.raises(SolverFailed, match="No captcha was solved"):
        await solve(service)


async def test_a_service_that_is_not_there_is_said_with_its_address() -> None:
    with SolverService() as gone:
        address = gone.url
    with pytest.raises(SolverFailed, match="does not answer as it should") as failure:
        await CapSolver(KEY, address).solve(TASK, lambda: None)
    assert "CAPSOLVER_BASE_URL" in failure.value.message


@pytest.mark.parametrize("cost", ["NaN", "-1", "much", "Infinity"])
async def test_a_cost_that_makes_no_sense_is_taken_as_not_told(cost: str, service: SolverService) -> None:
    service.script = [Turn(cost=cost)]
    solution, _ = await solve(service)
    assert solution.cost_usd is None


async def test_waiting_for_the_service_can_be_broken_off(service: SolverService) -> None:
    service.script = [Turn(pending=10_000)]
    waiting = asyncio.create_task(solve(service, polls=10_000))
    assert await asyncio.to_thread(service.polled.wait, 30)
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting


async def test_in_a_pause_the_service_is_not_asked_and_no_time_passes(service: SolverService) -> None:
    service.script = [Turn(pending=3)]
    pause = Pause()
    solver = CapSolver(KEY, service.url, poll_seconds=0.02, polls=10, spare_seconds=60, pause=pause)

    def accept() -> None:
        pause.pause()

    solving = asyncio.create_task(solver.solve(TASK, accept))
    async with asyncio.timeout(60):
        while not pause.is_paused:  # noqa: ASYNC110
            await asyncio.sleep(0.01)
    await asyncio.wait({solving}, timeout=0.5)
    assert (service.polls, solving.done(), len(service.tasks)) == (0, False, 1)
    pause.resume()
    solution = await solving
    assert (solution.values, service.polls) == ({"token": "solved:0x4"}, 4)


async def test_no_captcha_is_handed_in_during_a_pause(service: SolverService) -> None:
    pause = Pause()
    pause.pause()
    solving = asyncio.create_task(CapSolver(KEY, service.url, poll_seconds=0.01, pause=pause).solve(TASK, lambda: None))
    await asyncio.wait({solving}, timeout=0.3)
    assert service.tasks == []
    pause.resume()
    await solving
    assert service.tasks == [TASK]


async def test_a_service_that_hangs_is_given_up(service: SolverService) -> None:
    service.script = [Turn(hangs=True)]
    solver = CapSolver(KEY, service.url, poll_seconds=0.01, polls=5, spare_seconds=0.2)
    with pytest.raises(SolverFailed, match="no result came"):
        await solver.solve(TASK, lambda: None)
