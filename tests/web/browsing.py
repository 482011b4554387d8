"""A real browser for tests of pages: signs in, and keeps what the console complains about."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from playwright.sync_api import Browser, ConsoleMessage, Page, expect, sync_playwright

CHROMIUM = "/usr/bin/chromium"
EMAIL = "eva@example.com"
PASSWORD = "correct horse battery"
# What takes a moment takes ten on a machine that runs other tests beside.
expect.set_options(timeout=15_000)
LOOKS: dict[str, dict[str, Any]] = {
    "light": {"color_scheme": "light", "viewport": {"width": 1440, "height": 900}},
    "dark": {"color_scheme": "dark", "viewport": {"width": 1440, "height": 900}},
    "phone": {"viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True},
}


def launch() -> Iterator[Browser]:
    """Give a headless browser, for a fixture of a module: while it is there, its thread can run no other loop."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield browser
        browser.close()


@dataclass
class Visitor:
    """One person's browser window."""

    page: Page
    url: str
    complaints: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.page.on("console", self._note)
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.page.set_default_timeout(30_000)

    def _note(self, message: ConsoleMessage) -> None:
        # Chromium drops requests when an interface of the machine comes or goes; that is no fault of a page.
        if message.type in ("error", "warning") and "ERR_NETWORK_CHANGED" not in message.text:
            self.complaints.append(f"{self.page.url}: {message.text}")

    def open(self, path: str) -> int:
        response = self.page.goto(self.url + path)
        assert response is not None
        return response.status

    def take_cookies(self, cookies: Sequence[Any]) -> None:
        self.page.context.add_cookies(cookies)

    def sign_in(self, password: str = PASSWORD, email: str = EMAIL) -> None:
        if "/sign-in" not in self.page.url:
            self.open("/sign-in")
        self.page.get_by_label("E-mail address").fill(email)
        self.page.get_by_label("Password").fill(password)
        self.page.get_by_role("button", name="Sign in").click()


@contextmanager
def visit(browser: Browser, url: str, **look: Any) -> Iterator[Visitor]:
    context = browser.new_context(**(look or LOOKS["light"]))
    try:
        yield Visitor(context.new_page(), url)
    finally:
        context.close()
