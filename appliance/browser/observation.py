"""What is shown of the browser in one step, as plain values."""

from dataclasses import dataclass


@dataclass(frozen=True)
class TabView:
    """One tab of the agent's browser; `tab_id` is the short name the model uses."""

    tab_id: str
    url: str
    title: str
    is_current: bool


@dataclass(frozen=True)
class Scroll:
    """How far a page is scrolled, in CSS pixels."""

    above: int
    below: int
    viewport_height: int


@dataclass(frozen=True)
class ElementView:
    """A numbered element: enough to say which one it was."""

    index: int
    tag: str
    role: str
    name: str


@dataclass(frozen=True)
class Screenshot:
    """A picture of the viewport, encoded."""

    data: bytes
    media_type: str
    width: int
    height: int


@dataclass(frozen=True)
class Observation:
    """A page as lines: numbered elements (`[12]<button>Save`, `*[12]` when new) and the text between them.

    `notes` are facts beside the lines, one sentence each (a dialog is open, a frame cannot be read, the page is
    still loading). `fingerprint` is equal for two observations exactly when lines, URL and scroll are.
    """

    url: str
    title: str
    tabs: tuple[TabView, ...]
    lines: tuple[str, ...]
    elements: dict[int, ElementView]
    scroll: Scroll
    fingerprint: str
    notes: tuple[str, ...] = ()
    screenshot: Screenshot | None = None
    duration_ms: int = 0
