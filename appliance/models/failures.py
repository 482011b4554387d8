"""What a provider's failure means for a run: its kind, its HTTP status, and a sentence that says what to do."""

import re
from dataclasses import dataclass
from http import HTTPStatus

from appliance.errors import RunFailed
from appliance.words import FailureKind

LONGEST_PATIENCE = 60.0
"""Seconds that a provider may ask us to wait before another try; asked for more, the run fails at once."""

_KIND_OF_WORD = {
    "rate_limit_error": FailureKind.PROVIDER_RATE_LIMIT,
    "rate_limit_exceeded": FailureKind.PROVIDER_RATE_LIMIT,
    "timeout_error": FailureKind.PROVIDER_TIMEOUT,
    "request_timeout": FailureKind.PROVIDER_TIMEOUT,
    "overloaded_error": FailureKind.PROVIDER_SERVER_ERROR,
    "api_error": FailureKind.PROVIDER_SERVER_ERROR,
    "server_error": FailureKind.PROVIDER_SERVER_ERROR,
}
_LOOKS_LIKE_A_KEY = re.compile(r"\b(?:sk|pk|key|bu|Bearer)[-_ ][A-Za-z0-9*_.-]{6,}")


@dataclass(frozen=True)
class Service:
    """A provider as its failures name it: title, address (empty: its own), and the settings to look at."""

    title: str
    address: str
    key_setting: str
    address_setting: str
    key: str

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
        return RunFailed(f"{self.title} {sentence}", failure=kind_of_status(status), status_code=status)

    def broke_off(self, word: str, said: str) -> RunFailed:
        """Return the failure for an error that came inside an HTTP 200; `word` is the provider's name for it."""
        kind = _KIND_OF_WORD.get(word, FailureKind.PROVIDER_ERROR)
        detail = self.clean(said) or word
        return RunFailed(f"{self.title} broke off its answer ({detail}); try again later.", failure=kind)

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
    while (inner := error.__cause__ or error.__context__) is not None:
        error = inner
    if isinstance(error, OSError) and error.strerror:
        return error.strerror
    return str(error) or type(error).__name__
