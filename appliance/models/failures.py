"""What a provider's failure means for a run: its kind, whether asking again may help, and a sentence on what to do.

Statuses and lost connections are asked again by the vendors' clients themselves, so what is left of them is not called
transient here; a failure inside an HTTP 200 and an answer that breaks off are, where their cause may pass.
"""

import re
from dataclasses import dataclass
from http import HTTPStatus

from appliance.errors import ContextOverflow, RunFailed
from appliance.words import FailureKind

LONGEST_PATIENCE = 60.0
"""Seconds that a provider may ask us to wait before another try; asked for more, the run fails at once."""

_KIND_OF_WORD = {
    "rate_limit_error": FailureKind.PROVIDER_RATE_LIMIT,
    "rate_limit_exceeded": FailureKind.PROVIDER_RATE_LIMIT,
    "timeout_error": FailureKind.PROVIDER_TIMEOUT,
    "request_timeout": FailureKind.PROVIDER_TIMEOUT,
    "overloaded_error": FailureKind.PROVIDER_SERVER_ERROR,
    "overloaded": FailureKind.PROVIDER_SERVER_ERROR,
    "server_is_overloaded": FailureKind.PROVIDER_SERVER_ERROR,
    "internal_server_error": FailureKind.PROVIDER_SERVER_ERROR,
    "api_error": FailureKind.PROVIDER_SERVER_ERROR,
    "server_error": FailureKind.PROVIDER_SERVER_ERROR,
}
_PASSING = (FailureKind.PROVIDER_RATE_LIMIT, FailureKind.PROVIDER_TIMEOUT, FailureKind.PROVIDER_SERVER_ERROR)

_TOO_LONG = re.compile(
    r"context.?(length|window|size)[\w ]{0,20}exceed|exceed\w*( \w+){0,4} context.?(length|window|size)|"
    r"maximum (context|prompt|model|input) length|(prompt|input|request)( \w+)? (is )?too (long|large)|"
    r"(longer|greater) than the (maximum (model|context)|context) length|reduce the length of|"
    r"context the overflows|token count[\w() ]* exceeds|exceed(s|ed)? (the )?(context|model token) limit|"
    r"max_new_tokens. must be <=|string_above_max_length|exceeds the maximum size",
    re.IGNORECASE,
)
"""What providers and servers say of a request that is longer than they read."""

_TOO_LONG_WORDS = ("context_length_exceeded", "exceed_context_size_error", "request_too_large")
_NOT_OF_THE_REQUEST = (401, 402, 403, 404, 429)
_LOOKS_LIKE_A_KEY = re.compile(r"\b(?:sk|pk|key|bu|Bearer)[-_ ][A-Za-z0-9*_.-]{6,}")


@dataclass(frozen=True)
class Service:
    """A provider as its failures name it: title, address (empty: its own), and the settings to look at."""

    title: str
    address: str
    key_setting: str
    address_setting: str
    key: str

    def overflow(self, status: int, word: str, said: str) -> ContextOverflow | None:
        """Return the failure if the request was longer than the model's window, going by the provider's own words."""
        if status in _NOT_OF_THE_REQUEST or not (status == 413 or word in _TOO_LONG_WORDS or _TOO_LONG.search(said)):
            return None
        quoted = self.clean(said) or f"HTTP {status}"
        return ContextOverflow(
            f"The request is longer than what the model reads ({self.title}: {quoted}); choose a model that reads more."
        )

    def refused(self, status: int, said: str, *, model: str, retry_after: float | None = None) -> RunFailed:
        """Return the failure for an HTTP status of 400 or more; `said` is the provider's own explanation."""
        quoted = f": {said}" if (said := self.clean(said)) else ""
        if status in (401, 403):
            sentence = f"did not accept the key (HTTP {status}); check {self.key_setting}."
        elif status == 402:
            sentence = f"asks for payment first (HTTP 402){quoted}; check the credit of the account."
        elif status == 404:
            sentence = (
                f"has no model {model} at this address (HTTP 404){quoted}; "
                f"choose another model, or check {self.address_setting}."
            )
        elif status == 429:
            wait = f"in {retry_after:.0f} s" if retry_after and retry_after >= 1 else "later"
            sentence = f"limits the request rate (HTTP 429){quoted}; try again {wait}, or raise the account's limit."
        elif status >= 500:
            sentence = f"failed on its own side (HTTP {status}){quoted}; try again later."
        else:
            sentence = f"refused the request (HTTP {status}){quoted}; check that {model} can do what is asked of it."
        return RunFailed(
            f"{self.title} {sentence}",
            failure=kind_of_status(status),
            status_code=status,
            retry_after=retry_after,
        )

    def failed_inside(self, word: str, said: str) -> RunFailed | ContextOverflow:
        """Return the failure for an error that came inside an HTTP 200; `word` is the provider's name for it."""
        if overflow := self.overflow(200, word, said):
            return overflow
        kind = _KIND_OF_WORD.get(word, FailureKind.PROVIDER_ERROR)
        detail = self.clean(said) or word or "it says nothing about it"
        return RunFailed(
            f"{self.title} broke off its answer ({detail}); try again later.",
            failure=kind,
            is_transient=kind in _PASSING,
        )

    def broke_off(self, cause: BaseException | str) -> RunFailed:
        """Return the failure for an answer that had begun and then ended too soon, naming the cause."""
        detail = cause if isinstance(cause, str) else self.clean(_innermost(cause))
        return RunFailed(
            f"{self.title} broke off its answer ({detail}); check the network, and try again.",
            failure=FailureKind.PROVIDER_CONNECTION_ERROR,
            is_transient=True,
        )

    def unreachable(self, error: BaseException) -> RunFailed:
        """Return the failure for a connection that could not be made or was lost, naming its innermost cause."""
        where = f" at {self.address}" if self.address else ""
        return RunFailed(
            f"{self.title} could not be reached{where} ({self.clean(_innermost(error))}); "
            f"check the network and {self.address_setting}.",
            failure=FailureKind.PROVIDER_CONNECTION_ERROR,
        )

    def too_slow(self, seconds: float) -> RunFailed:
        """Return the failure for an answer that did not come in time."""
        return RunFailed(
            f"{self.title} did not answer within {seconds:g} s; try again, or ask for less effort.",
            failure=FailureKind.PROVIDER_TIMEOUT,
        )

    def unintelligible(self) -> RunFailed:
        """Return the failure for an answer that is not of the provider's wire format."""
        where = self.address or "the usual address"
        return RunFailed(
            f"What answers at {where} does not speak {self.title}'s API; check {self.address_setting}.",
            failure=FailureKind.PROVIDER_ERROR,
        )

    def clean(self, said: str) -> str:
        """Return a provider's words on one line of at most 300 characters, without anything that may be a key."""
        if self.key:
            said = said.replace(self.key, "…")
        return " ".join(_LOOKS_LIKE_A_KEY.sub("…", said).split())[:300].rstrip(". ")


def kind_of_status(status: int) -> FailureKind:
    """Return the failure kind that an HTTP status stands for."""
    if status == HTTPStatus.TOO_MANY_REQUESTS:
        return FailureKind.PROVIDER_RATE_LIMIT
    if status == HTTPStatus.REQUEST_TIMEOUT:
        return FailureKind.PROVIDER_TIMEOUT
    return FailureKind.PROVIDER_SERVER_ERROR if status >= 500 else FailureKind.PROVIDER_ERROR


def _innermost(error: BaseException) -> str:
    """Return the cause at the bottom with its type, such as "OSError: [Errno 24] Too many open files"."""
    while (inner := error.__cause__ or error.__context__) is not None:
        error = inner
    said = f"[Errno {error.errno}] {error.strerror}" if isinstance(error, OSError) and error.strerror else str(error)
    name = type(error).__name__
    return f"{name}: {said}" if said else name
