"""Actions that wait, for a time or for something to be there."""

from collections.abc import Awaitable, Callable
from dataclasses import replace

from pydantic import Field

from appliance.actions.base import Action, ActionContext, Parameters, Receipt
from appliance.actions.measured import finish, receipt, sentence
from appliance.browser.cdp import CdpError
from appliance.browser.effects import Watch, page_function
from appliance.errors import ActionInvalid
from appliance.words import ReceiptStatus

MAX_SECONDS = 30.0
NEXT_LOOK_SECONDS = 0.25


class Wait(Parameters):
    """Parameters of wait."""

    seconds: float = Field(3.0, ge=0, le=MAX_SECONDS)


class WaitFor(Parameters):
    """Parameters of wait_for."""

    text: str | None = None
    gone: str | None = None
    url: str | None = None
    download: bool = False
    seconds: float = Field(10.0, gt=0, le=MAX_SECONDS)


async def _wait(context: ActionContext, parameters: Wait) -> Receipt:
    started = context.pause.time()
    watch = await Watch.start(context.browser, follows=False)
    try:
        await context.pause.sleep(parameters.seconds)
    except BaseException:
        watch.stop()
        raise
    effect = await finish(context, watch, settle_seconds=0.5)
    done = receipt(f"Waited {context.pause.time() - started:.1f} s", effect)
    # Waiting is what was asked for; that nothing moved meanwhile is news, not a failure.
    return done if effect.is_visible else replace(done, status=ReceiptStatus.OK, text=done.text)


async def _wait_for(context: ActionContext, parameters: WaitFor) -> Receipt:
    wishes = [parameters.text, parameters.gone, parameters.url, parameters.download or None]
    if sum(wish is not None for wish in wishes) != 1:
        raise ActionInvalid("wait_for needs exactly one of text, gone, url and download.")
    if parameters.download:
        return await _wait_for_download(context, parameters.seconds)
    if parameters.url is not None:
        return await _until(
            context, parameters.seconds, _address_has(parameters.url), f"the address has {parameters.url!r}"
        )
    if parameters.text is not None:
        return await _until(
            context, parameters.seconds, _text_is(parameters.text, True), f'the text "{parameters.text}" is there'
        )
    gone = parameters.gone or ""
    return await _until(context, parameters.seconds, _text_is(gone, False), f'the text "{gone}" is gone')


Test = Callable[[ActionContext, float], Awaitable[bool]]
"""Looks once, waiting in the page for at most so many seconds; returns whether it is so."""


async def _until(context: ActionContext, seconds: float, test: Test, what: str) -> Receipt:
    pause = context.pause
    started = pause.time()
    before = context.browser.tab
    url = before.url
    while (left := started + seconds - pause.time()) > 0:
        await pause.wait()
        if context.browser.dialog is not None:
            break
        if await test(context, left):
            waited = pause.time() - started
            changed = context.browser.tab is not before or context.browser.tab.url != url
            return Receipt(ReceiptStatus.OK, f"After {waited:.1f} s {what}.", ends_chain=changed or waited > 0.1)
    waited = pause.time() - started
    return Receipt(ReceiptStatus.FAILED, f"Waited {waited:.1f} s, and it is not so that {what}.", ends_chain=True)


def _address_has(part: str) -> Test:
    async def test(context: ActionContext, left: float) -> bool:
        tab = context.browser.tab
        if part in tab.url:
            return True
        await tab.activity.wait(min(left, NEXT_LOOK_SECONDS))
        return part in tab.url

    return test


def _text_is(text: str, there: bool) -> Test:
    async def test(context: ActionContext, left: float) -> bool:
        tab = context.browser.tab
        foreign = bool(tab.frames.sessions)
        # Frames of other sites are looked at in turns with the page itself.
        left = min(left, NEXT_LOOK_SECONDS) if foreign else left
        try:
            function = page_function("sight", "waitText")
            is_so = bool(await tab.run(function, text, there, round(left * 1000), timeout=left + 5))
            if not foreign or is_so is there:
                return is_so
            answers = await context.browser.run_everywhere(page_function("sight", "hasText"), text)
            return any(answer.value for answer in answers) is there
        except CdpError:
            # The document went away meanwhile; the next look is at the new one.
            await tab.activity.wait(min(left, NEXT_LOOK_SECONDS))
            return False

    return test


async def _wait_for_download(context: ActionContext, seconds: float) -> Receipt:
    pause = context.pause
    started, download = pause.time(), None
    while download is None and (left := started + seconds - pause.time()) > 0:
        await pause.wait()
        download = await context.browser.downloads.wait_complete(left)
    waited = f"After {pause.time() - started:.1f} s"
    if download is None:
        running = [one.describe() for one in context.browser.downloads.all if one.state == "running"]
        return Receipt(ReceiptStatus.FAILED, sentence(f"{waited} no download has ended", running))
    status = ReceiptStatus.OK if download.state == "complete" else ReceiptStatus.FAILED
    return Receipt(status, sentence(waited, [context.browser.downloads.tell(download)]))


WAIT = Action("wait", "Wait some seconds (3 by default, 30 at most).", Wait, _wait, deadline=MAX_SECONDS + 10)
WAIT_FOR = Action(
    "wait_for",
    "Wait until a text is there, a text is gone, the address has a part, or a download has ended; exactly one of them.",
    WaitFor,
    _wait_for,
    deadline=MAX_SECONDS + 10,
)
