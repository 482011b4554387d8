"""A run as a moving picture, GIF or WebP: the task, then each step's screenshot with its number and what was done.

Pictures are read, drawn and encoded one after the other, so that a long run needs little more memory than a short one.
Slow work: to be called in a thread.
"""

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal
from uuid import uuid4

from PIL import Image, ImageDraw

from appliance.agent.lettering import Lettering
from appliance.agent.recorded import RecordedRun

FRAME_MS = 3000
MOST_FRAMES = 120
"""Of a longer run every second, third … step is shown."""
WIDTH, PICTURE_HEIGHT, BAND_HEIGHT = 800, 500, 92
_BACKGROUND, _BAND, _INK, _ACCENT = "#101418", "#1b2229", "#f2f4f6", "#3d7bfd"
_MARGIN = 16
_MOST_TASK_LINES = 12

Format = Literal["gif", "webp"]


@dataclass(frozen=True)
class Frame:
    """One step to be shown: its picture, its number, and what was done."""

    picture: Path
    step: int
    text: str


class Film(Image.Image):
    """A picture of many frames of which only the current one is in memory; `draw` makes the frame of a number."""

    format = None

    def __init__(self, count: int, draw: Callable[[int], Image.Image]) -> None:
        super().__init__()
        self.n_frames = count
        self.is_animated = count > 1
        self._draw = draw
        self._at = -1
        self.seek(0)

    def seek(self, frame: int) -> None:
        """Make the frame of this number the current one; raises EOFError after the last."""
        if frame >= self.n_frames:
            raise EOFError("no more frames")
        if frame != self._at:
            drawn = self._draw(frame)
            self.im, self._mode, self._size = drawn.im, drawn.mode, drawn.size
            self._at = frame

    def tell(self) -> int:
        """Return the number of the current frame."""
        return self._at


def frames_of(run: RecordedRun, folder: Path) -> tuple[Frame, ...]:
    """Return the steps of a run whose pictures are still in the folder."""
    frames: list[Frame] = []
    for step in run.steps:
        path = step.picture(folder)
        if path is not None:
            move = step.answered.move if step.answered is not None else ""
            frames.append(Frame(path, step.asked.step, move or ", ".join(call.name for call, _ in step.actions)))
    return tuple(frames)


def animate(frames: Sequence[Frame], target: Path, kind: Format, *, title: str = "") -> bool:
    """Write the frames, three seconds each, behind a title if there is one; returns whether there were any to write.

    Pictures that cannot be read are left out. Raises OSError when the target cannot be written.
    """
    shown = [frame for frame in _thinned(frames) if _is_readable(frame.picture)]
    if not shown:
        return False
    large, small = Lettering(26), Lettering(20)

    def draw(number: int) -> Image.Image:
        if title and number == 0:
            return _title_frame(title, large)
        return _step_frame(shown[number - bool(title)], small)

    film = Film(len(shown) + bool(title), draw)
    temporary = target.with_name(f".tmp-{uuid4().hex}.{kind}")
    try:
        if kind == "gif":
            film.save(temporary, "GIF", save_all=True, duration=FRAME_MS, loop=0, optimize=False)
        else:
            film.save(temporary, "WEBP", save_all=True, duration=FRAME_MS, loop=0, quality=70, method=2)
        os.replace(temporary, target)  # noqa: PTH105  (a rename over a link replaces the link)
    finally:
        temporary.unlink(missing_ok=True)
    return True


def _thinned(frames: Sequence[Frame]) -> Sequence[Frame]:
    if len(frames) <= MOST_FRAMES:
        return frames
    return [frames[number * len(frames) // MOST_FRAMES] for number in range(MOST_FRAMES - 1)] + [frames[-1]]


def _is_readable(path: Path) -> bool:
    try:
        with Image.open(path) as picture:
            picture.draft("RGB", (WIDTH, PICTURE_HEIGHT))
            picture.load()
    except (OSError, SyntaxError, ValueError, Image.DecompressionBombError):
        return False
    return True


def _title_frame(task: str, lettering: Lettering) -> Image.Image:
    canvas = Image.new("RGB", (WIDTH, PICTURE_HEIGHT + BAND_HEIGHT), _BACKGROUND)
    lines = lettering.wrap(task, WIDTH - 4 * _MARGIN, _MOST_TASK_LINES)
    top = max(_MARGIN, (canvas.height - len(lines) * lettering.line_height) // 2)
    for number, line in enumerate(lines):
        lettering.draw(canvas, (2 * _MARGIN, top + number * lettering.line_height), line, _INK)
    return canvas


def _step_frame(frame: Frame, lettering: Lettering) -> Image.Image:
    canvas = Image.new("RGB", (WIDTH, PICTURE_HEIGHT + BAND_HEIGHT), _BACKGROUND)
    with Image.open(frame.picture) as picture:
        # A JPEG is read in the size that is needed, not in its own.
        picture.draft("RGB", (WIDTH, PICTURE_HEIGHT))
        shown = picture.convert("RGB")
    shown.thumbnail((WIDTH, PICTURE_HEIGHT))
    canvas.paste(shown, ((WIDTH - shown.width) // 2, (PICTURE_HEIGHT - shown.height) // 2))
    pen = ImageDraw.Draw(canvas)
    pen.rectangle((0, PICTURE_HEIGHT, WIDTH, PICTURE_HEIGHT + BAND_HEIGHT), fill=_BAND)
    number = str(frame.step)
    width = round(max(lettering.measure(number), lettering.size)) + 20
    top = PICTURE_HEIGHT + _MARGIN
    pen.rounded_rectangle((_MARGIN, top, _MARGIN + width, top + 34), 17, fill=_ACCENT)
    inset = round((width - lettering.measure(number)) / 2)
    lettering.draw(canvas, (_MARGIN + inset, top + 5), number, _INK)
    left = 2 * _MARGIN + width
    for row, line in enumerate(lettering.wrap(frame.text, WIDTH - left - _MARGIN, 2)):
        lettering.draw(canvas, (left, top + 3 + row * lettering.line_height), line, _INK)
    return canvas
