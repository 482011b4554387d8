"""What is shown of the browser in one step, as plain values."""

from dataclasses import dataclass

SAME_SHADE = 12
"""How far two cells of thumbnails may be apart, of 255, and still be taken for the same."""
SAME_CELLS = 8
"""How many cells may differ (of about 640, each 40 pixels wide): a caret, a clock or a hovered button."""


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


@dataclass(frozen=True)
class ElementView:
    """A numbered element: enough to say which one it was."""

    index: int
    tag: str
    role: str
    name: str


@dataclass(frozen=True)
class Screenshot:
    """A picture of the viewport, encoded; `looks` is a tiny grey copy of it, a byte per cell, to compare by."""

    data: bytes
    media_type: str
    width: int
    height: int
    looks: bytes = b""

    def looks_like(self, other: "Screenshot") -> bool:
        """Whether a person would take both for the same picture; pictures without a thumbnail never are."""
        if not self.looks or len(self.looks) != len(other.looks):
            return False
        pairs = zip(self.looks, other.looks, strict=True)
        return sum(abs(one - two) > SAME_SHADE for one, two in pairs) <= SAME_CELLS


@dataclass(frozen=True)
class Observation:
    """A page as lines: numbered elements (`[12]<button>Save`, `*[12]` when new) and the text between them.

    `notes` are facts beside the lines, one sentence each (a dialog is open, a frame cannot be read, the page is
    still loading). `fingerprint` is equal for two observations exactly when lines, URL and scroll are.
    Of the page's `total_lines`, the lines shown lie between number `first_line` and `last_line`; what is left out
    stands as a line that tells its numbers. `is_stub` says that the page was not read, as it cannot have changed.
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
    first_line: int = 1
    last_line: int = 0
    total_lines: int = 0
    is_stub: bool = False
