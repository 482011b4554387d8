"""What models behind a vendor's client share: it is loaded late, a call has one deadline, faults get names."""

import asyncio
from abc import ABC, abstractmethod
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import replace
from math import isfinite
from typing import Any, ClassVar, cast

from appliance.events import TokenCount
from appliance.models.base import Message, ModelRequest, OnText, Reply, Text
from appliance.models.catalog import ModelEntry
from appliance.models.failures import LONGEST_PATIENCE, Service
from appliance.models.loading import Kit, load_kit
from appliance.surrogates import make_whole
from appliance.words import Effort

USUAL_CALL = 180.0
"""Seconds that the agent gives a call, further tries included."""

_LONG = (Effort.HIGH, Effort.XHIGH, Effort.MAX)
SDK_RETRIES = 2
"""Further tries the vendor's client makes by itself on rate limits, 5xx and lost connections."""


class RemoteModel(ABC):
    """A model that is asked over HTTP through its vendor's client; subclasses speak one wire format each.

    One try takes `usual_patience` seconds at most, `long_patience` at high effort.
    """

    usual_patience: ClassVar[float] = USUAL_CALL
    long_patience: ClassVar[float] = USUAL_CALL

    def __init__(self, entry: ModelEntry, service: Service) -> None:
        self.name = entry.name
        self.sees_images = entry.sees_images
        self.context_window = entry.context_window
        self.entry = entry
        self.service = service
        self._loading = load_kit(entry.provider)
        self._client: Any = None

    async def ask(self, request: ModelRequest, on_text: OnText | None = None) -> Reply:
        """Return the reply; raises RunFailed with the failure's kind and HTTP status, and ContextOverflow.

        `request.timeout` bounds the whole call, the client's own further tries included.
        """
        try:
            async with asyncio.timeout(request.timeout):
                kit = await asyncio.shield(asyncio.wrap_future(self._loading))  # other models wait for it too
                if self._client is None:
                    self._client = self.connect(kit)
                return await self._exchange(kit, request, on_text)
        except TimeoutError as error:
            raise self.service.too_slow(request.timeout) from error

    @property
    def compacts_itself(self) -> bool:
        """Whether the provider shortens requests that grow too long by itself."""
        return False

    def slowness(self, effort: Effort | None) -> float:
        """Return how many times USUAL_CALL a call of this effort may take: 1, or more where one try needs longer."""
        return max(1.0, self._try_seconds(effort) / USUAL_CALL)

    def patience(self, request: ModelRequest) -> float:
        """Return the seconds one try may take within this request."""
        return min(self._try_seconds(request.effort), request.timeout)

    def _try_seconds(self, effort: Effort | None) -> float:
        expected = self.entry.nearest_effort(effort) or self.entry.default_effort
        return self.long_patience if expected in _LONG else self.usual_patience

    async def close(self) -> None:
        """Let go of connections; the model can still be asked afterwards and then connects anew."""
        client, self._client = self._client, None
        if client is not None:
            await client.close()

    @contextmanager
    def streaming(self) -> Generator[None]:
        """Stand around the reading of a stream, which the vendor's client does not begin anew when it breaks off."""
        sdk = self._loading.result().sdk
        try:
            yield
        except sdk.APITimeoutError:
            raise
        except sdk.APIConnectionError as error:
            raise self.service.broke_off(error) from error

    @abstractmethod
    def connect(self, kit: Kit) -> Any:
        """Return the vendor's client."""

    @abstractmethod
    async def exchange(self, request: ModelRequest, on_text: OnText | None) -> Reply:
        """Send the request and read the reply; the vendor's exceptions are left to this class."""

    async def _exchange(self, kit: Kit, request: ModelRequest, on_text: OnText | None) -> Reply:
        sdk, transport = kit.sdk, kit.transport  # the vendors' clients let their transport's errors through
        try:
            reply = await self.exchange(request, on_text)
            return replace(reply, text=make_whole(reply.text))
        except sdk.APITimeoutError as error:
            raise self.service.too_slow(self.patience(request)) from error
        except transport.TimeoutException as error:
            raise self.service.too_slow(self.patience(request)) from error
        except sdk.APIConnectionError as error:
            raise self.service.unreachable(error) from error
        except transport.TransportError as error:
            raise self.service.broke_off(error) from error
        except sdk.APIStatusError as error:
            raise self._read_status(error) from error
        except sdk.APIError as error:
            word, said = read_error_body(error.body)
            if not word and not said:
                raise self.service.unintelligible() from error
            raise self.service.failed_inside(word, said or error.message) from error

    def _read_status(self, error: Any) -> Exception:
        word, said = read_error_body(error.body)
        status = int(error.status_code)
        if status < 400:
            return self.service.failed_inside(word, said)
        if overflow := self.service.overflow(status, word, said or str(error.message)):
            return overflow
        return self.service.refused(status, said, model=self.entry.api_name, retry_after=_read_wait(error.response))


def read_error_body(body: Any) -> tuple[str, str]:
    """Return the provider's word for an error and what it says about it, either empty when there is none."""
    if isinstance(body, dict):
        outer = cast("dict[str, Any]", body)
        inner = outer.get("error")
        values = cast("dict[str, Any]", inner) if isinstance(inner, dict) else outer
        word = values.get("code") if isinstance(values.get("code"), str) else values.get("type")
        said = inner if isinstance(inner, str) else values.get("message") or values.get("detail")
        return str(word or ""), str(said or "")
    return "", body if isinstance(body, str) and "<html" not in body.lower() else ""


async def give_up_on_long_waits(response: Any) -> None:
    """Tell the vendor's client not to try again when it is asked to wait too long: a hook on its HTTP responses."""
    waits = _read_wait(response)
    if waits is not None and waits > LONGEST_PATIENCE:
        response.headers["x-should-retry"] = "false"


def _read_wait(response: Any) -> float | None:
    """Return the seconds after which the provider wants to be asked again, if it says."""
    for header, per_second in (("retry-after-ms", 1_000), ("retry-after", 1)):
        try:
            return float(response.headers[header]) / per_second
        except (KeyError, ValueError):
            continue
    return None


def choose_marks(messages: tuple[Message, ...], most: int) -> list[Text]:
    """Return the texts after which a request marks the end of a prefix to be cached, at most so many.

    The first of them stays when what follows is written anew; the newest are this request's end and those before it.
    """
    texts = [part for message in messages for part in message.parts if isinstance(part, Text)]
    ends = [text for text in texts if text.ends_prefix and text.text.strip()]
    return ends if len(ends) <= most else [ends[0], *ends[1 - most :]]


def count_tokens(whole_input: object, details: object, output: object) -> TokenCount:
    """Return OpenAI's figures by class: its input is the whole, of which the cached tokens in `details` are a part."""
    read = read_count(getattr(details, "cached_tokens", None))
    write = read_count(getattr(details, "cache_write_tokens", None))
    return TokenCount(max(read_count(whole_input) - read - write, 0), read, write, read_count(output))


def read_count(count: object) -> int:
    """Return a number of tokens as a provider tells it; 0 for what is no number, which its client lets through."""
    if isinstance(count, float):
        return int(count) if isfinite(count) else 0
    return count if isinstance(count, int) else 0
