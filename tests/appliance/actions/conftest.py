"""Hands: a page of the test site in real Chromium, and actions run on it as the agent runs them."""

from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import pytest

from appliance.actions.base import ActionContext, Receipt
from appliance.actions.registry import Registry
from appliance.browser.connection import Browser
from appliance.events import TokenCount
from appliance.models.base import ModelRequest, OnText, Reply
from appliance.words import Effort
from appliance.workspaces.scratchpad import Scratchpad
from tests.appliance.actions.answering import Server
from tests.site import Site

LOOKS = 8


@dataclass
class Answering:
    """A model that gives the answer it was told to give; `asked` are the requests it got.

    `answers` come before it, one after the other; one that is an error is raised.
    """

    answer: str = ""
    stop: Literal["end", "length", "refusal"] = "end"
    name: str = "answering"
    sees_images: bool = False
    context_window: int | None = None
    compacts_itself: bool = False
    asked: list[ModelRequest] = field(default_factory=list[ModelRequest])
    answers: list[str | Exception] = field(default_factory=list[str | Exception])

    async def ask(self, request: ModelRequest, on_text: OnText | None = None) -> Reply:
        self.asked.append(request)
        answer = self.answers.pop(0) if self.answers else self.answer
        if isinstance(answer, Exception):
            raise answer
        return Reply(answer, TokenCount(input=10, output=5), self.name, self.stop)

    def slowness(self, effort: Effort | None) -> float:
        return 1.0

    async def close(self) -> None:
        pass


class Hands:
    """Runs actions on the page that is open, finding elements by their name as a model does."""

    def __init__(self, browser: Browser, site: Site, folder: Path) -> None:
        self.browser = browser
        self.site = site
        self.model = Answering()
        self.registry = Registry()
        self.context = ActionContext(browser, Scratchpad(folder / "scratchpad"), self.model, task="a task")

    async def open(self, page: str) -> None:
        navigation = await self.browser.tab.navigate(self.site.url(f"/{page}"))
        assert navigation.error is None

    async def act(self, name: str, /, **parameters: Any) -> Receipt:
        """Run one action; a name given as `on` becomes the index of the element."""
        if "on" in parameters:
            parameters["index"] = await self.index(parameters.pop("on"))
        return await self.registry.run(self.context, self.registry.parse({name: parameters}))

    async def index(self, name: str) -> int:
        """Return the number of the element with this name, or the first that contains it, once there is one."""
        names: list[str] = []
        for _ in range(LOOKS):
            views = (await self.browser.observe(with_screenshot=False)).elements.values()
            exact = [view.index for view in views if view.name == name]
            near = [view.index for view in views if name in view.name]
            if exact or near:
                return (exact or near)[0]
            names = [view.name for view in views]
            await self.browser.settle(at_least=0.2)
        raise AssertionError(f"no element {name!r} among {names}")

    async def js(self, expression: str) -> Any:
        """Return what an expression has for a value in the page's own world."""
        return await self.browser.tab.evaluate(expression)

    async def text(self, element_id: str = "log") -> str:
        return str(await self.js(f"document.getElementById('{element_id}').textContent"))


@pytest.fixture
def hands(browser: Browser, site: Site, tmp_path: Path) -> Hands:
    return Hands(browser, site, tmp_path)


@pytest.fixture
async def server() -> AsyncIterator[Server]:
    async with Server() as server:
        yield server
