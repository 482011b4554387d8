"""What a page shows of Google's reCAPTCHA: widgets with key, version, action and callbacks, whatever tells of them."""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any, cast
from urllib.parse import urlsplit

from appliance.captcha.base import (
    Build,
    Call,
    Captcha,
    Clues,
    Fill,
    Override,
    Path,
    Redeem,
    Redemption,
    Strategy,
    Traces,
)
from appliance.captcha.spelled import query_of

SITE_KEY = {"websiteKey": "its site key"}

CLUES = Clues(
    elements=(".g-recaptcha", "[name='g-recaptcha-response']"),
    addresses=(r"/recaptcha/(api2|enterprise)/anchor\?", r"/recaptcha/(api|enterprise)\.js"),
    sources=(r"grecaptcha(\s*\.\s*enterprise)?\s*\.\s*(execute|render)\s*\(",),
    values=("___grecaptcha_cfg.clients",),
)
FIELDS = (
    "textarea[name^='g-recaptcha-response'], textarea[id^='g-recaptcha-response'], input[name='g-recaptcha-response']"
)
DEFAULT_SCORE = 0.7

_EXECUTE = re.compile(
    r"grecaptcha(?P<enterprise>\s*\.\s*enterprise)?\s*\.\s*execute\s*\(\s*['\"](?P<key>[\w-]{10,})['\"]"
    r"(?:\s*,\s*\{[^}]*?\baction['\"]?\s*:\s*['\"](?P<action>[^'\"]+)['\"])?"
)
_RENDERED = re.compile(r"sitekey['\"]?\s*:\s*['\"](?P<key>[\w-]{10,})['\"]")


@dataclass
class Widget:
    """One widget, or the invisible version 3 of a key; `key` is "" where the page does not tell it."""

    key: str
    is_v3: bool = False
    is_invisible: bool = False
    is_enterprise: bool = False
    action: str = ""
    secret: str = ""
    min_score: str = ""
    callbacks: list[Path] = field(default_factory=list[Path])


Known = Callable[[str], Widget]
"""Returns the widget of a key, a new one where it was not told of before."""


def find_widgets(traces: Traces) -> list[Widget]:
    """Return the widgets of a document, each key once, in the order in which they are told of."""
    widgets: dict[str, Widget] = {}

    def known(key: str) -> Widget:
        return widgets.setdefault(key, Widget(key))

    for address in traces.addresses:
        _read_address(address, known)
    for source in traces.sources:
        _read_source(source, known)
    for config, path in _configs(traces.values.get("___grecaptcha_cfg.clients"), ("___grecaptcha_cfg", "clients")):
        _read_config(config, path, known(str(config["sitekey"])))
    for element in traces.matching(".g-recaptcha"):
        _read_element(element.tag, element.attributes, widgets, known)
    is_enterprise = any("/recaptcha/enterprise" in address for address in traces.addresses)
    for widget in widgets.values():
        widget.is_enterprise = widget.is_enterprise or is_enterprise
    return list(widgets.values())


def to_captcha(traces: Traces, widget: Widget) -> Captcha:
    """Return a widget as a captcha of its document."""
    told = {
        "websiteKey": widget.key,
        "pageAction": widget.action,
        "s": widget.secret,
        "minScore": widget.min_score,
        "isInvisible": "true" if widget.is_invisible else "",
    }
    parameters = {name: value for name, value in told.items() if value}
    return Captcha(traces.document, parameters, tuple(widget.callbacks))


def make_strategy(
    kind: str, title: str, fits: Callable[[Widget], bool], price_usd: str, build: Build, redeem: Redeem
) -> Strategy:
    """Return the strategy for the first widget of a document that fits."""

    def find(traces: Traces) -> Captcha | None:
        return next((to_captcha(traces, widget) for widget in find_widgets(traces) if fits(widget)), None)

    return Strategy(kind, title, CLUES, find, Decimal(price_usd), SITE_KEY, build, redeem)


def token_task(kind: str, captcha: Captcha, url: str) -> dict[str, Any]:
    """Return the service's task for a widget of version 2."""
    told = captcha.parameters
    task: dict[str, Any] = {"type": kind, "websiteURL": url, "websiteKey": told["websiteKey"]}
    if "isInvisible" in told:
        task["isInvisible"] = True
    if "pageAction" in told:
        task["pageAction"] = told["pageAction"]
    if "s" in told and not kind.startswith("ReCaptchaV2Enterprise"):
        task["recaptchaDataSValue"] = told["s"]
    return task


def score_task(kind: str, captcha: Captcha, url: str) -> dict[str, Any]:
    """Return the service's task for a token of version 3."""
    told = captcha.parameters
    task: dict[str, Any] = {"type": kind, "websiteURL": url, "websiteKey": told["websiteKey"]}
    if "pageAction" in told:
        task["pageAction"] = told["pageAction"]
    task["minScore"] = _score(told.get("minScore", ""))
    return task


def redeem_response(captcha: Captcha, solution: Mapping[str, Any]) -> Redemption:
    """Return how a token of version 2 gets into the page: fields, functions that answer with it, callbacks."""
    return _redemption(captcha, solution, is_v3=False)


def redeem_score(captcha: Captcha, solution: Mapping[str, Any]) -> Redemption:
    """Return how a token of version 3 gets into the page, which asks for it when it is about to send something."""
    return _redemption(captcha, solution, is_v3=True)


def _redemption(captcha: Captcha, solution: Mapping[str, Any], *, is_v3: bool) -> Redemption:
    token = str(solution.get("gRecaptchaResponse") or solution.get("token") or "")
    asked = "execute" if is_v3 else "getResponse"
    return Redemption(
        fills=(Fill(FIELDS, token, ".g-recaptcha", "g-recaptcha-response"),),
        overrides=(
            Override(("grecaptcha", asked), token, is_v3),
            Override(("grecaptcha", "enterprise", asked), token, is_v3),
        ),
        calls=tuple(Call(path, (token,)) for path in captcha.callbacks),
    )


def _read_address(address: str, known: Known) -> None:
    path, query = urlsplit(address).path, query_of(address)
    if path.endswith("/anchor") and query.get("k"):
        widget = known(query["k"])
        widget.is_invisible = query.get("size") == "invisible"
        widget.action = query.get("sa", widget.action)
        widget.secret = query.get("s", widget.secret)
    elif path.endswith(".js") and query.get("render", "explicit") not in ("explicit", "onload"):
        known(query["render"]).is_v3 = True


def _read_source(source: str, known: Known) -> None:
    executed = _EXECUTE.match(source)
    if executed:
        widget = known(executed["key"])
        widget.is_v3 = True
        widget.action = executed["action"] or widget.action
        widget.is_enterprise = bool(executed["enterprise"])
    elif "render" in source[:60] and (rendered := _RENDERED.search(source[:1000])):
        known(rendered["key"])


def _read_config(config: Mapping[str, Any], path: Path, widget: Widget) -> None:
    widget.is_invisible = widget.is_invisible or config.get("size") == "invisible"
    widget.action = widget.action or _text(config.get("action"))
    widget.secret = widget.secret or _text(config.get("s"))
    callback = config.get("callback")
    if isinstance(callback, dict) and "function" in callback:
        widget.callbacks.append((*path, "callback"))
    elif isinstance(callback, str) and callback:
        widget.callbacks.append(tuple(callback.split(".")))


def _read_element(tag: str, attributes: Mapping[str, str], widgets: dict[str, Widget], known: Known) -> None:
    key = attributes.get("data-sitekey", "")
    if not key and len(widgets) == 1:
        key = next(iter(widgets))
    widget = known(key)
    widget.action = attributes.get("data-action", widget.action)
    widget.secret = attributes.get("data-s", widget.secret)
    widget.min_score = attributes.get("data-min-score", widget.min_score)
    is_bound = tag in ("button", "input")
    widget.is_v3 = widget.is_v3 or (is_bound and "data-action" in attributes)
    widget.is_invisible = widget.is_invisible or is_bound or attributes.get("data-size") == "invisible"
    if attributes.get("data-callback"):
        widget.callbacks.append(tuple(attributes["data-callback"].split(".")))


def _configs(value: Any, path: Path) -> Iterator[tuple[Mapping[str, Any], Path]]:
    """Find, among what Google's script keeps under names that change, what each widget was made with."""
    if not isinstance(value, dict):
        return
    fields = cast("dict[str, Any]", value)
    if isinstance(fields.get("sitekey"), str):
        yield fields, path
        return
    for name, inner in fields.items():
        yield from _configs(inner, (*path, name))


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""


def _score(text: str) -> float:
    try:
        return min(max(float(text), 0.1), 0.9)
    except ValueError:
        return DEFAULT_SCORE
