"""What an action changed, measured: page, tabs, dialogs and downloads before and after, said in short clauses."""

from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from appliance.browser.cdp import CdpError
from appliance.browser.dialogs import describe
from appliance.errors import ElementGone

if TYPE_CHECKING:
    from appliance.browser.connection import Browser
    from appliance.browser.element import Element

SETTLE_SECONDS = 3.0
SUBSTANTIAL_CONTROLS = 3
SUBSTANTIAL_LINES = 12
SUBSTANTIAL_ELEMENTS = 40


@cache
def library(name: str) -> str:
    """Return the source of one of our page libraries, an expression that evaluates to its functions."""
    source = (Path(__file__).parent / "js" / f"{name}.js").read_text()
    # In brackets, as a comment in front would end a `return` before the expression.
    return f"({source.strip()})"


def method(name: str, function: str) -> str:
    """Return a function source that calls `function` of the library with `this` and the arguments."""
    return f"function(...given) {{ return {library(name)}.{function}(this, ...given); }}"


def page_function(name: str, function: str) -> str:
    """Return a function source that calls `function` of the library for the page as a whole, with the arguments."""
    return f"(...given) => {library(name)}.{function}(null, ...given)"


@dataclass(frozen=True)
class Effect:
    """The measured effect of an action.

    `facts` are clauses for the receipt, strongest first. `is_visible` is False when nothing a person could see
    changed. `ends_chain` says that the page is no longer the one that was observed, `needs_decision` that a dialog
    waits for an answer. `state` is the target's own state afterwards; `invalid` the complaint of the browser about the
    field that has the focus, which is why a form was not sent, if it was to be.
    """

    facts: tuple[str, ...]
    is_visible: bool
    ends_chain: bool = False
    needs_decision: bool = False
    state: dict[str, str] = field(default_factory=dict[str, str])
    invalid: str = ""


class Watch:
    """Watches one action from `start` to `finish`; `target` is what `start` found out of the element."""

    def __init__(self, browser: "Browser", element: "Element | None", *, follows: bool = True) -> None:
        self.target: dict[str, Any] = {}
        self._browser = browser
        self._element = element
        self._tab = browser.tab
        self._url = browser.tab.url
        self._downloads = len(browser.downloads.all)
        self._refusals = len(browser.refusals)
        self._has_asked_for_file = False
        self._stop = browser.cdp.on("Page.fileChooserOpened", self._take_chooser)
        self._tab.is_acted_on = follows

    @classmethod
    async def start(cls, browser: "Browser", element: "Element | None" = None, *, follows: bool = True) -> "Watch":
        """Take the snapshot; `element` is the one acted on. Raises ElementGone when it is not there any more.

        A tab that the page opens until the effect is measured becomes the current one, unless `follows` is False.
        """
        watch = cls(browser, element, follows=follows)
        try:
            watch.target = await watch._call("begin") or {}
        except BaseException:
            watch.stop()
            raise
        return watch

    def stop(self) -> None:
        """Watch no more, without measuring."""
        self._stop()
        self._tab.is_acted_on = False
        # What the page opens from now on it opens by itself.
        self._tab.last_input = 0.0

    async def finish(self, settle_seconds: float = SETTLE_SECONDS, *, at_least: float = 0.0) -> Effect:
        """Wait until the page is quiet, for `at_least` so many seconds, and return what is different."""
        try:
            effect = await self._measure(settle_seconds, at_least)
        except BaseException:
            self.stop()
            raise
        if effect.needs_decision:
            self._stop()
        else:
            self.stop()
        return effect

    async def _measure(self, settle_seconds: float, at_least: float) -> Effect:
        browser = self._browser
        settled = await browser.settle(settle_seconds, at_least=at_least)
        if browser.dialog is not None:
            facts = (*self._download_facts(), describe(browser.dialog) + "; answer it with answer_dialog")
            return Effect(facts, is_visible=True, ends_chain=True, needs_decision=True)
        facts = self._tab_facts()
        moved = bool(facts)
        facts += [*self._refusal_facts(), *self._download_facts()]
        measured: dict[str, Any] | None = None
        if browser.tab.target_id == self._tab.target_id:
            measured = await self._call_end()
            if measured is None:
                moved = True
                facts.insert(0, _navigated(self._url, browser.tab.url))
            else:
                facts += _page_facts(measured)
        # The page tells of a chooser in the same breath as of all else, so it is known by now.
        if self._has_asked_for_file:
            facts.append("the page asks for a file: use upload_file with this element")
        if settled.reason == "cap":
            facts.append("the page is still loading")
        return Effect(
            tuple(facts),
            is_visible=bool(facts) or (measured is not None and _changed_weakly(measured)),
            ends_chain=moved or self._has_asked_for_file or (measured is not None and _is_substantial(measured)),
            state=measured["state"] if measured else {},
            invalid=measured["invalid"].rstrip(".") if measured else "",
        )

    def _tab_facts(self) -> list[str]:
        now = self._browser.tab
        if now.target_id == self._tab.target_id:
            return []
        if self._tab.closed:
            return [f"the tab closed; now in tab {now.tab_id} ({now.url})"]
        return [f"opened tab {now.tab_id} ({now.url}) and switched to it"]

    def _refusal_facts(self) -> list[str]:
        """Return a clause for each address that the page wanted and policy refused, which are few."""
        refused = self._browser.refusals[self._refusals :]
        return list(dict.fromkeys(f"a request was refused: {refusal.reason.rstrip('.')}" for refusal in refused))[:3]

    def _download_facts(self) -> list[str]:
        return [self._browser.downloads.tell(one) for one in self._browser.downloads.since(self._downloads)]

    async def _call(self, function: str) -> Any:
        if self._element is not None:
            return await self._element.call(method("effects", function))
        return await self._tab.run(page_function("effects", function))

    async def _call_end(self) -> dict[str, Any] | None:
        """Return what the page measured, None when its document is another one than before."""
        try:
            return await self._call("end")
        except ElementGone:
            pass
        try:
            world = self._element.world if self._element else None
            return await self._tab.run(page_function("effects", "end"), world=world)
        except CdpError:
            return None

    def _take_chooser(self, _: dict[str, Any], session_id: str) -> None:
        if self._tab.frames.has_session(session_id):
            self._has_asked_for_file = True


def _navigated(before: str, after: str) -> str:
    return f"the page was loaded anew ({after})" if before == after else f"navigated from {before} to {after}"


def _page_facts(measured: dict[str, Any]) -> list[str]:
    facts: list[str] = []
    if measured["printed"]:
        facts.append("the page wants to print, which is not done: use save_as_pdf to keep it")
    if measured["url_from"] != measured["url_to"]:
        facts.append(f"the address changed from {measured['url_from']} to {measured['url_to']}")
    facts += [f"{key} changed from {_quoted(key, old)} to {_quoted(key, new)}" for key, old, new in measured["changes"]]
    if not measured["connected"]:
        facts.append("the element is no longer on the page")
    elif measured["renamed"]:
        facts.append('its text changed from "{}" to "{}"'.format(*measured["renamed"]))
    facts += [f"{popup} opened" for popup in measured["popups"]]
    facts += [*_control_facts(measured), *_text_facts(measured)]
    if measured["frames_changed"]:
        facts.append("a frame loaded another page")
    if measured["focus"]:
        facts.append(f"{measured['focus']} has the focus")
    if any(measured["scroll"]):
        facts.append("scrolled by {1} px down and {0} px right".format(*measured["scroll"]))
    elif measured["inner_scrolled"]:
        facts.append("an area scrolled")
    return facts


def _text_facts(measured: dict[str, Any]) -> list[str]:
    if measured["texts"]:
        texts = " / ".join(f'"{text}"' for text in measured["texts"])
        more = measured["lines"] - len(measured["texts"])
        return [f"new text: {texts}{f' and {more} more lines' if more else ''}"]
    return [f"{measured['lines_gone']} line(s) of text went away"] if measured["lines_gone"] else []


def _quoted(key: str, value: str) -> str:
    return f'"{value}"' if key in ("value", "chosen") else value


def _control_facts(measured: dict[str, Any]) -> list[str]:
    facts: list[str] = []
    if measured["appeared"]:
        names = ", ".join(measured["appeared_names"])
        facts.append(f"{measured['appeared']} control(s) appeared ({names}{', …' if measured['appeared'] > 3 else ''})")
    if measured["gone"]:
        facts.append(f"{measured['gone']} control(s) went away")
    if measured["fields"]:
        facts.append(f"{measured['fields']} other field(s) changed")
    return facts


def _changed_weakly(measured: dict[str, Any]) -> bool:
    """Tell whether something changed that has no words: pictures, styles elsewhere, attributes."""
    return bool(measured["added"] or measured["removed"] or measured["other"])


def _is_substantial(measured: dict[str, Any]) -> bool:
    return bool(
        measured["url_from"] != measured["url_to"]
        or not measured["connected"]
        or measured["renamed"]
        or measured["popups"]
        or measured["frames_changed"]
        or measured["appeared"] + measured["gone"] >= SUBSTANTIAL_CONTROLS
        or measured["lines"] + measured["lines_gone"] >= SUBSTANTIAL_LINES
        or measured["added"] + measured["removed"] >= SUBSTANTIAL_ELEMENTS
    )
