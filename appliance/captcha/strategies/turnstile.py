"""Cloudflare's Turnstile on a page of its own: a token for its hidden field and its callback."""

import re
from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from appliance.captcha.base import (
    Call,
    Captcha,
    Clues,
    Component,
    Fill,
    Override,
    Path,
    Redemption,
    Strategy,
    Traces,
)

HOLDER = ".cf-turnstile"
FIELD = "cf-turnstile-response"

_FRAME_KEY = re.compile(r"/turnstile/.*?/([0-9]x[\w-]{10,})(?:[/?]|$)")
_KEY = re.compile(r"sitekey['\"]?\s*:\s*['\"]([^'\"]+)['\"]")
_ACTION = re.compile(r"\baction['\"]?\s*:\s*['\"]([^'\"]+)['\"]")
_DATA = re.compile(r"\bcData['\"]?\s*:\s*['\"]([^'\"]+)['\"]")
_CALLBACK = re.compile(r"\bcallback['\"]?\s*:\s*['\"]?([A-Za-z_$][\w$.]*)['\"]?\s*[,}]")


def find(traces: Traces) -> Captcha | None:
    """Return the first Turnstile of a document, unless it stands in front of the page as Cloudflare's own."""
    holders = traces.matching(HOLDER)
    fields = traces.matching(f"[name='{FIELD}']")
    frames = [match[1] for address in traces.addresses if (match := _FRAME_KEY.search(address))]
    if traces.values.get("_cf_chl_opt") or not (holders or fields or frames or traces.sources):
        return None
    told: dict[str, str] = {}
    callbacks: list[Path] = []
    for source in traces.sources:
        _read(source, told, callbacks)
    if frames:
        told.setdefault("websiteKey", frames[0])
    for holder in holders[:1]:
        for name, attribute in (
            ("websiteKey", "data-sitekey"),
            ("action", "data-action"),
            ("cdata", "data-cdata"),
            ("field", "data-response-field-name"),
        ):
            if holder.attributes.get(attribute):
                told[name] = holder.attributes[attribute]
        if callback := holder.attributes.get("data-callback"):
            callbacks.append(tuple(callback.split(".")))
    return Captcha(traces.document, told, tuple(dict.fromkeys(callbacks)))


def build(captcha: Captcha, url: str) -> dict[str, Any]:
    """Return the service's task."""
    task: dict[str, Any] = {
        "type": "AntiTurnstileTaskProxyLess",
        "websiteURL": url,
        "websiteKey": captcha.parameters["websiteKey"],
    }
    metadata = {name: captcha.parameters[name] for name in ("action", "cdata") if name in captcha.parameters}
    return {**task, "metadata": metadata} if metadata else task


def redeem(captcha: Captcha, solution: Mapping[str, Any]) -> Redemption:
    """Return how the token gets into the page; a field named after reCAPTCHA is filled where there is one."""
    token = str(solution.get("token", ""))
    name = captcha.parameters.get("field", FIELD)
    return Redemption(
        fills=(
            Fill(f"[name='{name}']", token, HOLDER, name),
            Fill(f"{HOLDER} [name='g-recaptcha-response']", token),
        ),
        overrides=(Override(("turnstile", "getResponse"), token),),
        calls=tuple(Call(path, (token,)) for path in captcha.callbacks),
        component=Component(f"[name='{name}'], {HOLDER}", captcha.parameters["websiteKey"], (token,)),
    )


def _read(source: str, told: dict[str, str], callbacks: list[Path]) -> None:
    for name, pattern in (("websiteKey", _KEY), ("action", _ACTION), ("cdata", _DATA)):
        if match := pattern.search(source[:1000]):
            told.setdefault(name, match[1])
    if (match := _CALLBACK.search(source[:1000])) and match[1] != "function":
        callbacks.append(tuple(match[1].split(".")))


TURNSTILE = Strategy(
    kind="turnstile",
    title="Turnstile",
    clues=Clues(
        elements=(HOLDER, f"[name='{FIELD}']"),
        addresses=(r"/turnstile/",),
        sources=(r"turnstile\s*\.\s*render\s*\(",),
        values=("_cf_chl_opt",),
    ),
    find=find,
    price_usd=Decimal("0.0012"),
    required={"websiteKey": "its site key"},
    build=build,
    redeem=redeem,
)
