"""Playwright's model of the same browser, started only when an action wants it."""

from typing import TYPE_CHECKING, Any, cast

from appliance.errors import ActionFailed, BrowserUnavailable

if TYPE_CHECKING:
    from playwright.async_api import Browser as PlaywrightBrowser
    from playwright.async_api import Dialog, Page, Playwright


class PageModel:
    """A Playwright connection beside ours."""

    def __init__(self, playwright: "Playwright", browser: "PlaywrightBrowser") -> None:
        """Take over an open connection; use `attach`."""
        self._playwright = playwright
        self._browser = browser
        for context in browser.contexts:
            # With a listener Playwright leaves native dialogs alone; without one it would dismiss them by itself.
            context.on("dialog", _leave)

    @classmethod
    async def attach(cls, websocket_url: str) -> "PageModel":
        """Start Playwright and attach it; raises BrowserUnavailable."""
        from playwright.async_api import Error, async_playwright  # noqa: PLC0415 - heavy, and seldom needed

        playwright = await async_playwright().start()
        try:
            browser = await playwright.chromium.connect_over_cdp(websocket_url, timeout=10_000)
        except Error as error:
            await playwright.stop()
            raise BrowserUnavailable(f"Playwright could not attach to the browser: {error.message}") from error
        return cls(playwright, browser)

    async def page(self, target_id: str) -> "Page":
        """Return the page of a target; raises ActionFailed when Playwright does not know it."""
        for context in self._browser.contexts:
            for page in context.pages:
                session = await context.new_cdp_session(page)
                # Playwright types the answer of a protocol command as a bare dict.
                info = cast(dict[str, Any], await session.send("Target.getTargetInfo"))  # pyright: ignore[reportUnknownMemberType]
                await session.detach()
                if info["targetInfo"]["targetId"] == target_id:
                    return page
        raise ActionFailed("Playwright does not know this tab.")

    async def close(self) -> None:
        """Detach Playwright; the browser stays."""
        await self._browser.close()
        await self._playwright.stop()


def _leave(dialog: "Dialog") -> None:
    del dialog
