"""Pictures of a whole display, taken from X itself: they work when the browser does not answer."""

import asyncio
import io

from appliance.errors import DisplayUnavailable

QUALITY = 80
"""Of the JPEG."""


async def grab(display: int) -> bytes:
    """Return what display `:display` shows as JPEG, in screen pixels; needs XAUTHORITY in the environment.

    Raises DisplayUnavailable when there is no such display or it does not let us in.
    """
    return await asyncio.to_thread(_grab, display)


def _grab(display: int) -> bytes:
    from PIL import ImageGrab  # noqa: PLC0415  # heavy, and most servers never need it

    try:
        image = ImageGrab.grab(xdisplay=f":{display}")
    except OSError as error:
        raise DisplayUnavailable(f"No picture of display :{display} could be taken ({error}).") from error
    buffer = io.BytesIO()
    image.convert("RGB").save(buffer, "JPEG", quality=QUALITY)
    return buffer.getvalue()
