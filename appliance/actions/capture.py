"""Actions that keep a picture or a PDF of the page."""

import asyncio
import base64
from typing import Any

from appliance.actions.base import Action, ActionContext, Parameters, Receipt
from appliance.browser.cdp import CdpError
from appliance.browser.pdf import clean_pdf, fetch_pdf, shows_pdf
from appliance.errors import ActionFailed
from appliance.words import ReceiptStatus

PDF_SECONDS = 30.0


class TakeScreenshot(Parameters):
    """Parameters of screenshot, which has none."""


class SaveAsPdf(Parameters):
    """Parameters of save_as_pdf."""

    file_name: str | None = None


async def _screenshot(context: ActionContext, _: TakeScreenshot) -> Receipt:
    data = await _captured(context, "Page.captureScreenshot", {"format": "png", "optimizeForSpeed": True})
    saved = context.files.write_bytes(context.files.free_name("screenshot.png"), data)
    return Receipt(ReceiptStatus.OK, f"Saved what is in view of {context.browser.tab.url} as {saved.name}.")


async def _save_as_pdf(context: ActionContext, parameters: SaveAsPdf) -> Receipt:
    wanted = parameters.file_name or await context.browser.tab.run("() => document.title") or "page"
    wanted = context.sensitive.redact(wanted)
    stem = wanted[:-4] if wanted.lower().endswith(".pdf") else wanted
    if await shows_pdf(context.browser.tab):
        data = await fetch_pdf(context.browser.tab)
        saved = context.files.write_bytes(context.files.free_name(f"{stem}.pdf"), data)
        text = f"Saved the PDF at {context.browser.tab.url} as it is, as {saved.name} ({saved.size} bytes)."
        return Receipt(ReceiptStatus.OK, text)
    params = {"printBackground": True, "preferCSSPageSize": True, "displayHeaderFooter": False}
    if context.sensitive:
        # Descriptions for those who cannot see it would hold what the page itself shows as dots.
        params["generateTaggedPDF"] = False
    data = await _captured(context, "Page.printToPDF", params)
    if context.sensitive:
        data = await asyncio.to_thread(clean_pdf, data, context.sensitive.redact)
    saved = context.files.write_bytes(context.files.free_name(f"{stem}.pdf"), data)
    return Receipt(ReceiptStatus.OK, f"Saved {context.browser.tab.url} as {saved.name} ({saved.size} bytes).")


async def _captured(context: ActionContext, method: str, params: dict[str, Any]) -> bytes:
    await context.browser.conceal()
    try:
        answer = await context.browser.tab.send(method, params, timeout=PDF_SECONDS)
    except CdpError as error:
        raise ActionFailed(f"The page could not be kept ({error.message})") from error
    return base64.b64decode(answer["data"])


SCREENSHOT = Action(
    "screenshot",
    "Save a picture of what is in view as a file; you see the page in every step anyway.",
    TakeScreenshot,
    _screenshot,
)
SAVE_AS_PDF = Action(
    "save_as_pdf",
    "Save the whole page as a PDF file; a PDF that the tab shows is saved as it is.",
    SaveAsPdf,
    _save_as_pdf,
    deadline=40.0,
)
