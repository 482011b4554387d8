"""CapSolver's API: a task is handed in, its result asked for until it is there. The key is in no message and no log."""

from collections.abc import Callable, Mapping
from decimal import Decimal, InvalidOperation
from typing import TYPE_CHECKING, Any, cast

from appliance.captcha.base import Solution
from appliance.errors import SolverFailed
from appliance.pause import Pause

if TYPE_CHECKING:
    import httpx

BASE_URL = "https://api.capsolver.com"
POLL_SECONDS = 2.0
POLLS = 60
REQUEST_SECONDS = 30.0
SPARE_SECONDS = 10.0
MAX_ANSWER = 1_000_000

_FINAL = {
    "ERROR_KEY_DENIED_ACCESS": "the service does not know the key: correct CAPSOLVER_API_KEY",
    "ERROR_ZERO_BALANCE": "the account at the service is empty: top it up",
    "ERROR_SETTLEMENT_FAILED": "the account at the service could not be charged: look into it",
    "ERROR_KEY_TEMP_BLOCKED": "the service has blocked the key for a while",
    "ERROR_IP_BANNED": "the service has blocked this address for a while",
}
_PASSING = {
    "ERROR_CAPTCHA_UNSOLVABLE": "the service could not solve it",
    "ERROR_TASK_TIMEOUT": "the service was not ready in its own time",
    "ERROR_SERVICE_UNAVALIABLE": "the service is not available now",
    "ERROR_RATE_LIMIT": "the service was asked too often",
    "ERROR_INVALID_TASK_DATA": "the service does not accept what the page tells of it",
    "ERROR_TASK_NOT_SUPPORTED": "the service does not solve captchas of this kind",
}


class CapSolver:
    """The service with one account; `poll_seconds` and `polls` say how often and how long a result is asked for.

    `spare_seconds` is what the requests themselves may take beside the waits between them. Nothing is asked and no time
    passes while the run's `pause` is on.
    """

    def __init__(
        self,
        key: str,
        base_url: str = "",
        *,
        poll_seconds: float = POLL_SECONDS,
        polls: int = POLLS,
        spare_seconds: float = SPARE_SECONDS,
        pause: Pause | None = None,
    ) -> None:
        self._key = key
        self._base_url = (base_url or BASE_URL).rstrip("/")
        self._poll_seconds = poll_seconds
        self._polls = polls
        self._spare_seconds = spare_seconds
        self._pause = pause or Pause()

    async def solve(self, task: Mapping[str, Any], on_accepted: Callable[[], None]) -> Solution:
        """Return the solution of a task; `on_accepted` is called once the service has taken it on.

        Raises SolverFailed: at once for what the service refuses, and when no result comes in time.
        """
        seconds = self._polls * self._poll_seconds
        try:
            async with self._pause.timeout(seconds + self._spare_seconds):
                return await self._solve(task, on_accepted)
        except TimeoutError:
            raise SolverFailed(f"No captcha was solved: no result came in {seconds:g} s.") from None

    async def _solve(self, task: Mapping[str, Any], on_accepted: Callable[[], None]) -> Solution:
        import httpx  # noqa: PLC0415 - heavy, and needed only once a captcha is met

        await self._pause.wait()
        async with httpx.AsyncClient(timeout=REQUEST_SECONDS, follow_redirects=False) as client:
            answer = await self._ask(client, "createTask", {"task": dict(task)})
            task_id = answer.get("taskId")
            if answer.get("status") != "ready" and not task_id:
                raise SolverFailed("No captcha was solved: the service's answer makes no sense.")
            on_accepted()
            for _ in range(self._polls):
                if answer.get("status") == "ready":
                    break
                await self._pause.sleep(self._poll_seconds)
                await self._pause.wait()
                answer = await self._poll(client, str(task_id))
        if answer.get("status") != "ready":
            raise TimeoutError
        return _solution(answer)

    async def _poll(self, client: "httpx.AsyncClient", task_id: str) -> Mapping[str, Any]:
        """Return how a task stands; a connection that fails now counts as not ready, as the task goes on."""
        try:
            return await self._ask(client, "getTaskResult", {"taskId": task_id})
        except _Unreachable:
            return {"status": "processing"}

    async def _ask(self, client: "httpx.AsyncClient", method: str, fields: Mapping[str, Any]) -> Mapping[str, Any]:
        import httpx  # noqa: PLC0415 - loaded by now

        try:
            response = await client.post(f"{self._base_url}/{method}", json={"clientKey": self._key, **fields})
            answer: Any = response.json() if len(response.content) <= MAX_ANSWER else None
        except (httpx.HTTPError, httpx.InvalidURL, ValueError) as error:
            raise _Unreachable(
                f"No captcha was solved: the service at {self._base_url} does not answer as it should "
                f"({type(error).__name__}); check the network and CAPSOLVER_BASE_URL."
            ) from None
        if not isinstance(answer, dict):
            raise _Unreachable("No captcha was solved: the service's answer makes no sense.")
        told = cast("dict[str, Any]", answer)
        if told.get("errorId"):
            raise self._failure(told)
        if response.status_code >= 400:
            raise _Unreachable(f"No captcha was solved: the service answered with status {response.status_code}.")
        return told

    def _failure(self, answer: Mapping[str, Any]) -> SolverFailed:
        code = str(answer.get("errorCode", ""))
        if code in _FINAL:
            return SolverFailed(f"No captcha was solved: {_FINAL[code]}.", is_final=True)
        said = str(answer.get("errorDescription", "")).replace(self._key, "…")[:200].rstrip(".")
        told = _PASSING.get(code, f"the service reports {code.replace(self._key, '…')[:60] or 'a fault'}")
        return SolverFailed(f"No captcha was solved: {told}{f' ({said})' if said else ''}.")


class _Unreachable(SolverFailed):
    """The service did not answer as it should, which may pass."""


def _solution(answer: Mapping[str, Any]) -> Solution:
    values = answer.get("solution")
    if not isinstance(values, dict) or not values:
        raise SolverFailed("No captcha was solved: the service's answer has no solution in it.")
    return Solution(cast("dict[str, Any]", values), _cost(answer.get("cost")))


def _cost(told: Any) -> Decimal | None:
    """Return what the service says a task cost, None when it does not say."""
    if not isinstance(told, int | float | str) or isinstance(told, bool):
        return None
    try:
        cost = Decimal(str(told))
    except InvalidOperation:
        return None
    return cost if cost.is_finite() and 0 <= cost < 10 else None
