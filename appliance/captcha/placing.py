"""Puts a solution into the page as the captcha's own script would, and says where it went."""

import base64
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from appliance.browser.cdp import CdpError
from appliance.browser.effects import page_function
from appliance.browser.element import Element
from appliance.browser.forms import look_at, read_back, take_focus, type_text
from appliance.browser.frames import ScriptFailed
from appliance.browser.observation import ElementView
from appliance.browser.own_world import chain_to, run_in_own_world
from appliance.captcha.base import Captcha, Redemption
from appliance.errors import ActionFailed

if TYPE_CHECKING:
    from appliance.browser.connection import Browser

PICTURE_SECONDS = 5.0
LARGEST_PICTURE = 1_000.0
"""Pixels of either side: a page may have let its picture grow since it was found."""
REDEEM_SECONDS = 10.0

# What the page makes of being scrolled it makes before its next frame; one that is not drawn has none.
_AFTER_A_FRAME = """function() {
  return new Promise((done) => { requestAnimationFrame(() => setTimeout(done)); setTimeout(done, 200); });
}"""


@dataclass(frozen=True)
class Placed:
    """Where a solution went, in clauses for the receipt; none when the page had no place for it."""

    facts: tuple[str, ...]


async def take_picture(browser: "Browser", captcha: Captcha) -> str:
    """Return a captcha's picture as PNG in base64, as the service wants it; raises ActionFailed."""
    element = await _element(browser, captcha, captcha.picture)
    await browser.conceal()
    await element.scroll_into_view()
    await element.call(_AFTER_A_FRAME)
    middle = await element.click_point()
    width, height = await element.call(
        "function() { const b = this.getBoundingClientRect(); return [b.width, b.height]; }"
    )
    if not (0 < width <= LARGEST_PICTURE and 0 < height <= LARGEST_PICTURE):
        raise ActionFailed(f"The captcha's picture is not one, with {width:g} by {height:g} pixels; look at it again.")
    metrics = await browser.tab.send("Page.getLayoutMetrics")
    view = metrics["cssVisualViewport"]
    clip = {
        "x": view["pageX"] + middle.x - width / 2,
        "y": view["pageY"] + middle.y - height / 2,
        "width": width,
        "height": height,
        "scale": 1,
    }
    try:
        params = {"format": "png", "clip": clip}
        answer = await browser.tab.send("Page.captureScreenshot", params, timeout=PICTURE_SECONDS)
    except CdpError as error:
        raise ActionFailed(f"The captcha's picture could not be taken: {error.message}") from error
    return base64.b64encode(base64.b64decode(answer["data"])).decode()


async def place(browser: "Browser", captcha: Captcha, redemption: Redemption) -> Placed:
    """Put the solution into the document of its captcha; raises ActionFailed when that is gone meanwhile."""
    try:
        if redemption.typed is not None:
            return await _type(browser, captcha, redemption.typed)
        if redemption.cookie is not None:
            return await _set_cookie(browser, *redemption.cookie)
        return await _hand_over(browser, captcha, redemption)
    except ScriptFailed as error:
        raise ActionFailed(f"The page could not take the solution: {error.message}") from error
    except CdpError as error:
        raise ActionFailed("The page went away while its captcha was being solved; look at it again.") from error


async def _hand_over(browser: "Browser", captcha: Captcha, redemption: Redemption) -> Placed:
    tab, world = browser.tab, captcha.document.world
    fills = [asdict(fill) for fill in redemption.fills]
    names: list[list[str]] = await tab.run(page_function("captcha", "fill"), fills, world=world)
    overrides = [{"path": one.path, "value": one.value, "promise": one.is_promise} for one in redemption.overrides]
    calls = [{"path": one.path, "given": one.arguments} for one in redemption.calls]
    part = redemption.component
    component = part and {"selector": part.selector, "key": part.key, "given": part.arguments}
    done: dict[str, list[str]] = await run_in_own_world(
        tab,
        world,
        page_function("captcha_own", "redeem"),
        overrides,
        calls,
        list(redemption.succeeds),
        component,
        timeout=REDEEM_SECONDS,
    )
    filled = list(dict.fromkeys(name for one in names for name in one))
    facts: list[str] = []
    if filled:
        facts.append(f"put into {', '.join(filled[:5])}")
    if done["answering"]:
        facts.append(f"{', '.join(done['answering'])} answers with it")
    if done["called"]:
        facts.append(f"the page's {', '.join(done['called'])} was called")
    facts += [f"the page's own function failed, {error}" for error in done["errors"][:2]]
    return Placed(tuple(facts))


async def _type(browser: "Browser", captcha: Captcha, text: str) -> Placed:
    element = await _element(browser, captcha, captcha.answer)
    await element.scroll_into_view()
    field = await look_at(element)
    await take_focus(browser, element, field)
    await type_text(browser, element, field, text, clear=True)
    found = await read_back(element, text)
    return Placed((f'typed "{text}" into the field beside it',) if found.same or found.alike else ())


async def _set_cookie(browser: "Browser", name: str, value: str) -> Placed:
    """Set a cookie as wide as the one of that name which is there already, and load the page anew."""
    tab = browser.tab
    known = (await tab.send("Network.getCookies", {"urls": [tab.url]}))["cookies"]
    formers: list[dict[str, Any]] = [one for one in known if one["name"] == name]
    former = formers[0] if formers else {}
    cookie: dict[str, Any] = {"name": name, "value": value, "url": tab.url, "path": former.get("path", "/")}
    if former.get("domain", "").startswith("."):
        cookie["domain"] = former["domain"]
    answer = await tab.send("Network.setCookie", cookie)
    if not answer.get("success", True):
        return Placed(())
    navigation = await tab.reload()
    facts = [f"set as the cookie {name}", "the page was loaded anew"]
    if navigation.status is not None and navigation.status >= 400:
        facts.append(f"which answers with status {navigation.status}")
    return Placed(tuple(facts))


async def _element(browser: "Browser", captcha: Captcha, reference: int) -> Element:
    chain = await chain_to(browser.tab, captcha.document)
    return Element(browser.tab, ElementView(0, "captcha", "", ""), captcha.document.world, reference, chain)
