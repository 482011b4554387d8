"""Names looked up once and then held to: the check and the connection see the same addresses."""

import asyncio
import time
from collections.abc import Awaitable, Callable

from appliance.addresses import Address

HELD_SECONDS = 60.0
MOST_NAMES = 2_000

Resolve = Callable[[str], Awaitable[tuple[Address, ...]]]


class HeldNames:
    """A resolver that asks another one and gives its answer for a minute to everybody who asks for the same name."""

    def __init__(self, resolve: Resolve) -> None:
        self._resolve = resolve
        self._answers: dict[str, tuple[float, asyncio.Future[tuple[Address, ...]]]] = {}

    async def __call__(self, host: str) -> tuple[Address, ...]:
        """Return the addresses of a name; raises what the other resolver raises (OSError), which is not held."""
        now = time.monotonic()
        asked, answer = self._answers.get(host, (0.0, None))
        if answer is None or now - asked > HELD_SECONDS or (answer.done() and not _is_good(answer)):
            while len(self._answers) >= MOST_NAMES:
                del self._answers[next(iter(self._answers))]
            answer = asyncio.ensure_future(self._resolve(host))
            answer.add_done_callback(_is_good)
            self._answers.pop(host, None)
            self._answers[host] = (now, answer)
        # Who stops waiting must not take the answer from the others.
        return await asyncio.shield(answer)


def _is_good(answer: "asyncio.Future[tuple[Address, ...]]") -> bool:
    return not answer.cancelled() and answer.exception() is None
