"""Pictures of the viewport, small enough to send to a model, with a deadline of their own."""

import asyncio
import base64
import io
from struct import unpack_from
from typing import Any

from appliance.browser.cdp import CdpConnection, CdpError
from appliance.browser.effects import page_function
from appliance.browser.observation import Screenshot
from appliance.browser.tab import Tab
from appliance.errors import ActionFailed

MAX_WIDTH, MAX_HEIGHT = 1280, 800
MAX_BYTES = 60_000
DEADLINE_SECONDS = 5.0
QUALITIES = (80, 65, 50, 40)
SMALL_SCALE, SMALL_QUALITY = 0.5, 55
GLIMPSE = {"format": "jpeg", "quality": SMALL_QUALITY, "maxWidth": 960, "maxHeight": 600}
GLIMPSE_SECONDS = 1.0
THUMBNAIL = 32, 20


class Camera:
    """Takes pictures of one tab; remembers the quality at which its pages stay small."""

    def __init__(self) -> None:
        """Begin with the best quality."""
        self._quality = QUALITIES[0]

    async def take(self, tab: Tab) -> Screenshot:
        """Return a JPEG of the viewport, at most 1280x800 and mostly at most 60 kB.

        Raises ActionFailed when the page gives none within 5 s.
        """
        try:
            async with asyncio.timeout(DEADLINE_SECONDS):
                data = await self._capture(tab)
        except TimeoutError as error:
            raise ActionFailed(f"No screenshot: the page gave none within {DEADLINE_SECONDS:g} s.") from error
        except CdpError as error:
            raise ActionFailed(f"No screenshot: {error.message}") from error
        if len(data) > MAX_BYTES:
            data, self._quality = await asyncio.to_thread(_smaller, data)
        elif len(data) < MAX_BYTES // 2:
            self._quality = QUALITIES[0]
        width, height = _size(data)
        return Screenshot(data, "image/jpeg", width, height, await asyncio.to_thread(thumbnail, data))

    async def _capture(self, tab: Tab) -> bytes:
        metrics = await tab.send("Page.getLayoutMetrics", timeout=DEADLINE_SECONDS)
        view = metrics["cssVisualViewport"]
        width, height = max(view["clientWidth"], 1), max(view["clientHeight"], 1)
        scale = min(1.0, MAX_WIDTH / width, MAX_HEIGHT / height)
        clip = {"x": view["pageX"], "y": view["pageY"], "width": width, "height": height, "scale": scale}
        params = {"format": "jpeg", "quality": self._quality, "clip": clip, "optimizeForSpeed": True}
        answer = await tab.send("Page.captureScreenshot", params, timeout=DEADLINE_SECONDS)
        return base64.b64decode(answer["data"])


async def take_glimpse(cdp: CdpConnection, tab: Tab) -> Screenshot | None:
    """Return a JPEG of what a tab shows at half its size, wherever it is; None when nothing of it is drawn in time.

    It is the first frame of a screencast: the page is not drawn once more for it, and need not be in front.
    """
    frames: asyncio.Future[str] = asyncio.get_running_loop().create_future()

    def take(params: dict[str, Any], session_id: str) -> None:
        if session_id == tab.session_id and not frames.done():
            frames.set_result(params["data"])

    # What was drawn before may be of the page that the tab showed before.
    if not await tab.run(page_function("bulk", "painted"), round(GLIMPSE_SECONDS * 1000)):
        return None
    remove = cdp.on("Page.screencastFrame", take)
    try:
        async with asyncio.timeout(GLIMPSE_SECONDS):
            tab.post("Page.startScreencast", GLIMPSE)
            data = base64.b64decode(await frames)
    except TimeoutError:
        return None
    finally:
        remove()
        tab.post("Page.stopScreencast", {})
    return Screenshot(data, "image/jpeg", *_size(data))


async def take_small(tab: Tab) -> Screenshot:
    """Return a JPEG of what is in view at half its size: a third of the work of a full one. Raises as `Camera.take`."""
    view = await tab.run("() => [innerWidth, innerHeight]")
    clip = {"x": 0, "y": 0, "width": max(view[0], 1), "height": max(view[1], 1), "scale": SMALL_SCALE}
    params = {"format": "jpeg", "quality": SMALL_QUALITY, "clip": clip, "optimizeForSpeed": True}
    try:
        answer = await tab.send("Page.captureScreenshot", params, timeout=DEADLINE_SECONDS)
    except CdpError as error:
        raise ActionFailed(f"No screenshot: {error.message}") from error
    data = base64.b64decode(answer["data"])
    return Screenshot(data, "image/jpeg", *_size(data))


def thumbnail(data: bytes) -> bytes:
    """Return a picture as 32 x 20 shades of grey, a byte each; about 2 ms."""
    from PIL import Image  # noqa: PLC0415 - heavy, and needed with the first picture only

    with Image.open(io.BytesIO(data)) as picture:
        # A JPEG is decoded at an eighth of its size: most of the work is never done.
        picture.draft("L", (THUMBNAIL[0] * 2, THUMBNAIL[1] * 2))
        return picture.convert("L").resize(THUMBNAIL, Image.Resampling.BOX).tobytes()


def _smaller(data: bytes) -> tuple[bytes, int]:
    """Encode a JPEG again until it is small enough; returns it with the quality that did it."""
    from PIL import Image  # noqa: PLC0415 - only needed here, and heavy

    smaller = data
    with Image.open(io.BytesIO(data)) as picture:
        picture.load()
        for quality in QUALITIES[1:]:
            out = io.BytesIO()
            picture.save(out, "JPEG", quality=quality)
            smaller = out.getvalue()
            if len(smaller) <= MAX_BYTES:
                return smaller, quality
    return smaller, QUALITIES[-1]


def _size(data: bytes) -> tuple[int, int]:
    """Return width and height of a JPEG from its frame header."""
    at = 2
    while at + 9 < len(data) and data[at] == 0xFF:
        marker, length = data[at + 1], unpack_from(">H", data, at + 2)[0]
        if 0xC0 <= marker <= 0xCF and marker not in (0xC4, 0xC8, 0xCC):
            height, width = unpack_from(">HH", data, at + 5)
            return width, height
        at += 2 + length
    return 0, 0
