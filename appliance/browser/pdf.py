"""PDF documents that a tab shows in the browser's own viewer: had as they are, and read as text."""

import base64
import io
from collections.abc import Callable
from typing import TYPE_CHECKING

from appliance.browser.cdp import CdpError
from appliance.content import Content
from appliance.errors import ActionFailed

if TYPE_CHECKING:
    from appliance.browser.frames import World
    from appliance.browser.tab import Tab

FETCH_SECONDS = 30.0

_IS_PDF = "() => document.contentType === 'application/pdf'"
# The viewer keeps the file to itself: it is asked for again, as the page asked for it.
_FETCH = """async () => {
  const answer = await fetch(location.href, { credentials: 'include', cache: 'force-cache' });
  if (!answer.ok) throw new Error('the server answers ' + answer.status);
  const reader = new FileReader();
  reader.readAsDataURL(await answer.blob());
  await new Promise((resolve, reject) => { reader.onload = resolve; reader.onerror = reject; });
  return reader.result.slice(reader.result.indexOf(',') + 1);
}"""


async def shows_pdf(tab: "Tab", world: "World | None" = None) -> bool:
    """Whether the tab, or one of its frames, shows a PDF, as far as it answers."""
    try:
        return bool(await tab.run(_IS_PDF, world=world))
    except (ActionFailed, CdpError):
        return False


async def fetch_pdf(tab: "Tab", world: "World | None" = None) -> bytes:
    """Return the PDF that the tab, or one of its frames, shows; raises ActionFailed when it cannot be had."""
    try:
        data = base64.b64decode(await tab.run(_FETCH, timeout=FETCH_SECONDS, world=world))
    except CdpError as error:
        raise ActionFailed(f"The PDF could not be had from its server again: {error.message}") from error
    if not data.startswith(b"%PDF"):
        raise ActionFailed("What the server sends now for this address is no PDF; open it again.")
    return data


def clean_pdf(data: bytes, clean: Callable[[str], str]) -> bytes:
    """Return a PDF with `clean` applied to its title and to the addresses of its links; raises ActionFailed."""
    from pypdf import PdfReader, PdfWriter  # noqa: PLC0415 - heavy, and seldom needed
    from pypdf.errors import PyPdfError  # noqa: PLC0415
    from pypdf.generic import NameObject, TextStringObject  # noqa: PLC0415

    try:
        writer = PdfWriter(clone_from=PdfReader(io.BytesIO(data)))
        title = (writer.metadata.title if writer.metadata else None) or ""
        if clean(title) != title:
            writer.add_metadata({"/Title": clean(title)})
        for page in writer.pages:
            for annotation in page.annotations or ():
                action = annotation.get_object().get("/A", {})
                address = str(action.get("/URI", ""))
                if clean(address) != address:
                    action[NameObject("/URI")] = TextStringObject(clean(address))
        cleaned = io.BytesIO()
        writer.write(cleaned)
    except (PyPdfError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise ActionFailed(f"The PDF could not be freed from secrets and was not kept ({error}).") from error
    return cleaned.getvalue()


def read_pdf(data: bytes, url: str) -> Content:
    """Return the text of a PDF, a heading for each page; raises ActionFailed when it cannot be read."""
    from pypdf import PdfReader  # noqa: PLC0415 - heavy, and most runs see no PDF
    from pypdf.errors import PyPdfError  # noqa: PLC0415

    try:
        reader = PdfReader(io.BytesIO(data))
        pages = [page.extract_text().strip() for page in reader.pages]
        title = (reader.metadata.title if reader.metadata else None) or ""
    except (PyPdfError, ValueError, KeyError, TypeError) as error:
        raise ActionFailed(f"The PDF cannot be read ({error}); save_as_pdf keeps it as it is.") from error
    if not any(pages):
        raise ActionFailed("The PDF holds pictures of pages and no text; look at it instead.")
    markdown = "\n\n".join(f"## Page {number}\n\n{text}" for number, text in enumerate(pages, 1))
    return Content(url, title, markdown)
