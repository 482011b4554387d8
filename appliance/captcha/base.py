"""What a captcha strategy is: what it looks for in a page, what it asks of the service, what it puts into the page."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any, Protocol

from appliance.browser.own_world import Document

ANOTHER_WAY = "Take another way to what you need, or say in the answer that it stands in the way."
"""What is advised where a captcha cannot be solved and nothing else helps."""

Path = tuple[str, ...]
"""Names that lead from the page's `window` to a value: ("app", "onSolved")."""


@dataclass(frozen=True)
class Clues:
    """What the probe brings of every document for one strategy.

    `elements` are CSS selectors. `addresses` are JavaScript patterns of frames, scripts and requests, `sources` of what
    stands in inline scripts. `values` are dotted names in the page's own world; `objects` are methods by which an
    object that the page keeps by a name of its own is known.
    """

    elements: tuple[str, ...] = ()
    addresses: tuple[str, ...] = ()
    sources: tuple[str, ...] = ()
    values: tuple[str, ...] = ()
    objects: tuple[str, ...] = ()


@dataclass(frozen=True)
class Found:
    """An element that a selector found; `near_field` refers to the field for text that belongs to it, 0 without one."""

    selector: str
    tag: str
    attributes: Mapping[str, str]
    is_visible: bool = True
    width: float = 0
    height: float = 0
    reference: int = 0
    near_field: int = 0


@dataclass(frozen=True)
class Traces:
    """What one document shows of captchas; `values` are by dotted name, functions in them as {"function": path}.

    `objects` are the names of objects of the page by the method they were known by.
    """

    document: Document
    elements: tuple[Found, ...] = ()
    addresses: tuple[str, ...] = ()
    sources: tuple[str, ...] = ()
    values: Mapping[str, Any] = field(default_factory=dict[str, Any])
    objects: Mapping[str, tuple[str, ...]] = field(default_factory=dict[str, tuple[str, ...]])

    def matching(self, *selectors: str) -> tuple[Found, ...]:
        """Return the elements that any of the selectors found, each once, in page order."""
        known: dict[int, Found] = {}
        for one in self.elements:
            if one.selector in selectors:
                known.setdefault(one.reference or -len(known) - 1, one)
        return tuple(known.values())


@dataclass(frozen=True)
class Captcha:
    """A captcha that was recognised in a document.

    `parameters` are what the page tells of it. `callbacks` lead to the functions that its own script would call.
    `is_interstitial`: it stands in front of the page, which shows nothing else. `picture` and `answer` refer to the
    elements of one that is read and typed, 0 in others.
    """

    document: Document
    parameters: Mapping[str, str] = field(default_factory=dict[str, str])
    callbacks: tuple[Path, ...] = ()
    objects: tuple[str, ...] = ()
    is_interstitial: bool = False
    picture: int = 0
    answer: int = 0

    @property
    def key(self) -> str:
        """What tells it from others of its kind: its parameters."""
        return "&".join(f"{name}={value}" for name, value in sorted(self.parameters.items()))


@dataclass(frozen=True)
class Fill:
    """A value for every field that `selector` finds; where there is none it is made in the element of `holder`."""

    selector: str
    value: str
    holder: str = ""
    name: str = ""


@dataclass(frozen=True)
class Call:
    """A function of the page to be called with the arguments; one that is not there is left out."""

    path: Path
    arguments: tuple[Any, ...]


@dataclass(frozen=True)
class Override:
    """A function of the page that is to give this value from now on; as a promise once only, since that spends it."""

    path: Path
    value: Any
    is_promise: bool = False


@dataclass(frozen=True)
class Component:
    """A component of React around the widget, known by an element in it and by the key that it was given."""

    selector: str
    key: str
    arguments: tuple[Any, ...]


@dataclass(frozen=True)
class Redemption:
    """How the service's answer gets into the page, as the widget's own script would put it there.

    `succeeds` are names of objects whose listeners for success are to be told, `component` is one whose functions for
    it are called if there was no other to call. `cookie` is a name and a value, after
    which the page is loaded anew. `typed` goes into the captcha's answer field, key by key.
    """

    fills: tuple[Fill, ...] = ()
    overrides: tuple[Override, ...] = ()
    calls: tuple[Call, ...] = ()
    succeeds: tuple[str, ...] = ()
    component: Component | None = None
    cookie: tuple[str, str] | None = None
    typed: str | None = None


Build = Callable[[Captcha, str], dict[str, Any]]
"""Returns the service's task for a captcha at an address."""
Redeem = Callable[[Captcha, Mapping[str, Any]], Redemption]
"""Returns what to do with the values of a solution."""


@dataclass(frozen=True)
class Strategy:
    """All that is known of one kind of captcha.

    `find` looks at the traces of one document; it is pure. `required` are the parameters without which the service is
    not asked, in words by name. `build` returns the service's task for an address, which is that of the site without
    its query unless the strategy `sends_page`; `redeem` says what to do with the solution. `price_usd` is what a solve
    costs, None for a captcha that is recognised only: `advice` then says what to do instead.
    """

    kind: str
    title: str
    clues: Clues
    find: Callable[[Traces], Captcha | None]
    price_usd: Decimal | None = None
    required: Mapping[str, str] = field(default_factory=dict[str, str])
    build: Build | None = None
    redeem: Redeem | None = None
    sends_page: bool = False
    advice: str = ""

    @property
    def is_solvable(self) -> bool:
        """Whether the service solves captchas of this kind."""
        return self.price_usd is not None

    def missing(self, captcha: Captcha) -> tuple[str, ...]:
        """Return, in words, what the page does not tell although the service needs it."""
        return tuple(words for name, words in self.required.items() if not captcha.parameters.get(name))


@dataclass(frozen=True)
class Recognised:
    """A captcha and the strategy that knows it."""

    strategy: Strategy
    captcha: Captcha


class Solver(Protocol):
    """A service that solves captchas."""

    async def solve(self, task: Mapping[str, Any], on_accepted: Callable[[], None]) -> "Solution":
        """Return the solution of a task; `on_accepted` is called once the service has taken it on.

        Raises SolverFailed.
        """
        ...


@dataclass(frozen=True)
class Solution:
    """What the service answered; `cost_usd` is what it says this cost, None when it says nothing."""

    values: Mapping[str, Any]
    cost_usd: Decimal | None = None
