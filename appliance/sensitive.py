"""Secrets a task may use without the model seeing them: filled in by name, kept out of every text that leaves.

The model writes `<secret>name</secret>`; `fill` puts the value in where the origin allows it, `redact` takes every
spelling of every value out again.
"""

import re
import threading
import weakref
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields, is_dataclass, replace
from typing import Any, TypeVar, cast

import msgspec

from appliance.addresses import DomainPattern, WebAddress, parse_address
from appliance.errors import ActionFailed, ActionRefused
from appliance.one_time_codes import code_now, read_seed
from appliance.scattered import mask_scattered
from appliance.spellings import spell_all

T = TypeVar("T")

CODE_SUFFIX = "bu_2fa_code"
"""A secret whose name ends so is the seed of an authenticator; what is filled in is its present code."""
SHORTEST, LONGEST, MOST = 3, 10_000, 200
SHORT = 6
"""Values shorter than this are taken out only where they stand alone, or every text with a digit would be mangled."""
FRAGMENT = 16
"""A long value that a page cuts short is recognised by as many of its first or last characters."""

_UNSEEN = re.compile(r"[\u00ad\u180e\u200b-\u200f\u202a-\u202e\u2060-\u2064\ufeff]")
"""Characters that part a word for a program, not for who reads it."""
_PLACEHOLDER = re.compile(r"<secret>\s*([^<>]*?)\s*</secret>", re.IGNORECASE)
_NAME = re.compile(r"[^<>\x00-\x1f\x7f]{1,100}")
_LOOPBACK = re.compile(r"127\.\d+\.\d+\.\d+|::1")
_live: "weakref.WeakSet[SensitiveData]" = weakref.WeakSet()
_live_lock = threading.Lock()


@dataclass(frozen=True)
class _Secret:
    name: str
    value: str
    pattern: DomainPattern | None


class SensitiveData:
    """The secrets of one session, in the form `{name: value}` or `{domain pattern: {name: value}}`.

    One without a pattern may be used wherever the session may go. Without a scheme in the pattern that is https, and
    http only on this machine itself.
    """

    def __init__(self, secrets: tuple[_Secret, ...] = (), allowed_domains: tuple[str, ...] = ()) -> None:
        """Take over checked secrets; use `read`."""
        self._secrets = secrets
        self._allowed = tuple(map(DomainPattern.parse, allowed_domains))
        self._lock = threading.Lock()
        self._spellings: dict[str, tuple[str, str]] = {}
        self._owners: tuple[tuple[str, str], ...] = ()
        for secret in secrets:
            self._learn(secret.name, secret.value)
        if secrets:
            with _live_lock:
                _live.add(self)

    @classmethod
    def read(cls, document: Mapping[str, Any], allowed_domains: tuple[str, ...] = ()) -> "SensitiveData":
        """Return the secrets of a JSON object; raises ValueError with a sentence that repeats no value."""
        secrets: list[_Secret] = []
        for key, value in document.items():
            if isinstance(value, str):
                secrets.append(_checked(key, value, None))
                continue
            try:
                pattern = DomainPattern.parse(key)
            except ValueError as error:
                raise ValueError(f"the domain {key[:100]!r} cannot be used: {error}") from error
            secrets += [_checked(name, one, pattern) for name, one in cast("Mapping[str, str]", value).items()]
        if len(secrets) > MOST:
            raise ValueError(f"there are more than {MOST} secrets")
        return cls(tuple(secrets), allowed_domains)

    def __bool__(self) -> bool:
        return bool(self._secrets)

    @property
    def values(self) -> tuple[str, ...]:
        """What must not be seen: the values, and the codes made of seeds so far. For masking inside the page only."""
        return tuple(sorted({value for _, value in self._owners}))

    def names_for(self, url: str) -> tuple[str, ...]:
        """Return the names that may be filled in on a page of this address."""
        address = _address(url)
        if address is None:
            return ()
        return tuple(dict.fromkeys(secret.name for secret in self._secrets if self._fits(secret, address)))

    def fill(self, text: str, origin: str) -> str:
        """Return the text with every placeholder replaced by its value, for a field of this origin.

        Raises ActionFailed, saying why, when a name is not known or may not be used there: nothing must be typed then.
        """
        return _PLACEHOLDER.sub(lambda match: self._value_of(match[1], origin), text)

    def learn_part(self, name: str, part: str) -> None:
        """Take note that a field holds only this part of a value: a page may repeat it as if it were whole."""
        if len(part) >= SHORTEST and any(part in secret.value for secret in self._secrets if secret.name == name):
            self._learn(name, part)

    def learn_beginnings(self, name: str) -> None:
        """Take note that a field may hold any beginning of a value, as its typing was broken off."""
        for secret in self._secrets:
            if secret.name == name:
                for length in range(SHORT, min(len(secret.value), FRAGMENT + SHORT)):
                    self._learn(name, secret.value[:length])

    def redact(self, text: str) -> str:
        """Return the text with every spelling of every value replaced by its placeholder."""
        if not self._secrets or len(text) < SHORTEST:
            return text
        lowered = text.lower()
        found = {spelling: owner for spelling, owner in tuple(self._spellings.items()) if spelling in lowered}
        if found:
            text = self._replace(text, lowered, found)
        if _UNSEEN.search(text):
            text = self._replace_parted(text)
        text = self._replace_cut(text)
        return mask_scattered(text, ((_marker(name), value) for name, value in self._owners))

    def is_in(self, text: str) -> bool:
        """Whether the text holds a value in any spelling."""
        return self.redact(text) != text

    def misplaced_in(self, text: str, url: str) -> tuple[str, ...]:
        """Return the names of the secrets whose values the text holds, in any spelling, and that are not for a url."""
        if not self._secrets:
            return ()
        held = dict.fromkeys(placeholders(self.redact(_PLACEHOLDER.sub("", text))))
        there = self.names_for(url)
        return tuple(name for name in held if name not in there)

    def redact_all(self, value: T) -> T:
        """Return a JSON document, struct or dataclass with every text in it redacted."""
        return cast("T", self._redact_any(value)) if self._secrets else value

    def _redact_any(self, value: Any) -> Any:
        if isinstance(value, str):
            # A word of a vocabulary is a text too, and stays what it is.
            return self.redact(value) if type(value) is str else value
        if isinstance(value, Mapping):
            pairs = cast("Mapping[Any, Any]", value).items()
            return {self._redact_any(key): self._redact_any(one) for key, one in pairs}
        if isinstance(value, list | tuple | frozenset):
            every = [self._redact_any(one) for one in cast("list[Any]", value)]
            return every if isinstance(value, list) else tuple(every) if isinstance(value, tuple) else frozenset(every)
        if isinstance(value, msgspec.Struct):
            names = value.__struct_fields__
            return msgspec.structs.replace(value, **{name: self._redact_any(getattr(value, name)) for name in names})
        if is_dataclass(value) and not isinstance(value, type):
            changed = {one.name: self._redact_any(getattr(value, one.name)) for one in fields(value) if one.init}
            return replace(value, **changed)
        return value

    def _value_of(self, name: str, origin: str) -> str:
        known = [secret for secret in self._secrets if secret.name == name]
        if not known:
            there = ", ".join(dict.fromkeys(secret.name for secret in self._secrets)) or "none"
            raise ActionFailed(f'There is no secret "{name}", so nothing was typed; there are: {there}.')
        address = _address(origin)
        fitting = [secret for secret in known if address is not None and self._fits(secret, address)]
        if not fitting:
            raise ActionFailed(self._refusal(name, known, address))
        # The narrowest statement of where it belongs counts.
        secret = min(fitting, key=_breadth)
        if not name.endswith(CODE_SUFFIX):
            return secret.value
        code = code_now(read_seed(secret.value))
        self._learn(name, code)
        return code

    def _refusal(self, name: str, known: list[_Secret], address: WebAddress | None) -> str:
        where = ", ".join(str(secret.pattern) for secret in known if secret.pattern is not None)
        where = where or ", ".join(map(str, self._allowed)) or "pages with https"
        here = str(address) if address is not None else "a page without an address of its own"
        why = ""
        if address is not None and any(self._fits(secret, replace(address, scheme="https")) for secret in known):
            why = ", which is not encrypted: only a pattern that begins with http:// allows that"
        return f'The secret "{name}" is for {where} and was not typed on {here}{why}.'

    def _fits(self, secret: _Secret, address: WebAddress) -> bool:
        is_safe = address.scheme == "https" or address.is_localhost or _LOOPBACK.fullmatch(address.host) is not None
        patterns = self._allowed if secret.pattern is None else (secret.pattern,)
        if not patterns:
            return is_safe
        return any(pattern.matches(address) and (is_safe or pattern.scheme == "http") for pattern in patterns)

    def _learn(self, name: str, value: str) -> None:
        with self._lock:
            for spelling in spell_all(value):
                self._spellings.setdefault(spelling.lower(), (name, value))
            self._owners = tuple(dict.fromkeys((*self._owners, (name, value))))

    def _replace(self, text: str, lowered: str, found: Mapping[str, tuple[str, str]]) -> str:
        """Replace all that was found at once, longest first; placeholders that stand there already are left alone."""
        markers = {_marker(name) for name, _ in self._owners}
        present = {marker.lower() for marker in markers if marker.lower() in lowered}
        parts = [*map(re.escape, present), *map(_expression, sorted(found, key=len, reverse=True))]
        expression = re.compile("|".join(parts), re.IGNORECASE)

        def put(match: re.Match[str]) -> str:
            if match[0].lower() in present:
                return match[0]
            owner = found.get(match[0].lower())
            return _marker(owner[0]) if owner is not None else "<secret></secret>"

        return expression.sub(put, text)

    def _replace_parted(self, text: str) -> str:
        """Replace the values that characters without a look of their own stand in the middle of."""
        bare = _UNSEEN.sub("", text).lower()
        for name, value in self._owners:
            if len(value) >= SHORT and value.lower() in bare:
                expression = f"{_UNSEEN.pattern}*".join(map(re.escape, value))
                text = re.sub(expression, lambda _, name=name: _marker(name), text, flags=re.IGNORECASE)
        return text

    def _replace_cut(self, text: str) -> str:
        """Take out what stands there as it is but lower case hides, and the ends of long values that were cut short."""
        for name, value in self._owners:
            if len(value) < SHORT:
                continue
            if value in text and value not in _marker(name):
                text = text.replace(value, _marker(name))
            if len(value) >= FRAGMENT + SHORT and (value[:FRAGMENT] in text or value[-FRAGMENT:] in text):
                text = _replace_end(text, value, _marker(name))
                text = _replace_end(text[::-1], value[::-1], _marker(name)[::-1])[::-1]
        return text


def _replace_end(text: str, value: str, marker: str) -> str:
    """Replace each beginning of the value that is long enough to be recognised, as far as it goes on."""
    position = 0
    while (start := text.find(value[:FRAGMENT], position)) >= 0:
        end = start + FRAGMENT
        while end < len(text) and end - start < len(value) and text[end] == value[end - start]:
            end += 1
        text = text[:start] + marker + text[end:]
        position = start + len(marker)
    return text


def placeholders(text: str) -> Iterator[str]:
    """Yield the names of the placeholders in a text."""
    for match in _PLACEHOLDER.finditer(text):
        yield match[1]


def redact_for_log(value: T) -> T:
    """Return a value of a log line without the secrets of any session that is being worked on."""
    with _live_lock:
        living = tuple(_live)
    for one in living:
        value = one.redact_all(value)
    return value


def _checked(name: str, value: str, pattern: DomainPattern | None) -> _Secret:
    name = name.strip()
    if _NAME.fullmatch(name) is None:
        raise ValueError(f"the name {name[:100]!r} cannot be used: it has 1 to 100 characters, none of them < or >")
    if not SHORTEST <= len(value) <= LONGEST:
        raise ValueError(f"the value of {name!r} has fewer than {SHORTEST} or more than {LONGEST} characters")
    if "<secret>" in value.lower() or "</secret>" in value.lower():
        raise ValueError(f"the value of {name!r} holds a placeholder")
    if name.endswith(CODE_SUFFIX):
        try:
            read_seed(value)
        except ValueError as error:
            raise ValueError(f"the value of {name!r} is not the seed of an authenticator: {error}") from error
    return _Secret(name, value, pattern)


def _breadth(secret: _Secret) -> int:
    if secret.pattern is None:
        return 2
    return 1 if secret.pattern.covers_subdomains else 0


def _expression(spelling: str) -> str:
    escaped = re.escape(spelling)
    if len(spelling) >= SHORT:
        return escaped
    # Also after an encoded character, such as the = in a query.
    return rf"(?:(?<![0-9A-Za-z])|(?<=%[0-9A-Fa-f][0-9A-Fa-f])){escaped}(?![0-9A-Za-z])"


def _marker(name: str) -> str:
    return f"<secret>{name}</secret>"


def _address(url: str) -> WebAddress | None:
    try:
        return parse_address(url)
    except ActionRefused:
        return None
