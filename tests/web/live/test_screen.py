"""The whole way of the picture: Chromium paints on Xvfb, x11vnc and the bridge carry it, noVNC draws it on a canvas."""

from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.stand_in import StandIn
from tests.system.instance import Instance
from tests.web.browsing import EMAIL, PASSWORD, visit

pytestmark = pytest.mark.browser
SAMPLE = """() => {
  const canvas = document.querySelector('#stage canvas');
  if (!canvas) return [];
  const copy = new OffscreenCanvas(64, 36).getContext('2d', {willReadFrequently: true});
  copy.drawImage(canvas, 0, 0, 64, 36);
  return [canvas.width, canvas.height, ...copy.getImageData(0, 0, 64, 36).data];
}"""


@pytest.fixture(scope="module")
def stand_in() -> Iterator[StandIn]:
    with StandIn() as stand_in:
        yield stand_in


@pytest.fixture(scope="module")
def instance(stand_in: StandIn) -> Iterator[Instance]:
    settings = {
        "ADMIN_EMAIL": EMAIL,
        "ADMIN_PASSWORD": PASSWORD,
        "COMPATIBLE_BASE_URL": stand_in.compatible_url,
        "COMPATIBLE_MODELS": "house-model",
    }
    with Instance(settings) as instance:
        yield instance


def slowly(step: dict[str, Any]) -> dict[str, Any]:
    return {"reply": step, "__delay__": 1.5}


def wait_for_change(page: Page, before: list[int]) -> list[int]:
    page.wait_for_function(f"(before) => String(({SAMPLE})()) !== before", arg=",".join(map(str, before)))
    return page.evaluate(SAMPLE)


def test_a_person_signs_in_gives_a_task_watches_it_live_and_reads_the_answer(
    instance: Instance, stand_in: StandIn, browser: Browser
) -> None:
    shop = f"http://127.0.0.1:{instance.port}/demo/"
    stand_in.add(
        "RUN-watched",
        [
            slowly({"navigate": {"url": shop}}),
            slowly({"click": {"index": {"text": "Ship's bell, 15 cm"}}}),
            slowly({"done": {"text": "The bell is made by **Halvorsen & Lind**.", "success": True}}),
        ],
    )
    with visit(browser, f"http://127.0.0.1:{instance.port}") as visitor:
        page = visitor.page
        visitor.sign_in()
        page.get_by_label("Task", exact=True).fill("RUN-watched Who makes the ship's bell?")
        page.get_by_label("Model").select_option("house-model")
        page.get_by_role("button", name="Start").click()
        page.wait_for_url("**/sessions/*")
        page.evaluate("window.sameDocument = true")
        page.wait_for_selector("#screen[data-state=live]")
        first = wait_for_change(page, [1920, 1080] + [0] * 64 * 36 * 4)
        assert first[:2] == [1920, 1080]
        second = wait_for_change(page, first)
        page.locator("#stage canvas").click(position={"x": 40, "y": 40})
        page.keyboard.type("nobody reads this")
        expect(page.locator(".row-step").nth(1)).to_be_visible(timeout=30_000)
        wait_for_change(page, second)
        expect(page.locator(".answer .prose strong")).to_have_text("Halvorsen & Lind", timeout=30_000)
        expect(page.locator("#facts")).to_contain_text("delivered")
        expect(page.locator(".call.is-ok")).to_have_count(3)
        expect(page.locator(".spinner")).to_have_count(0)
        expect(page.get_by_alt_text("The last picture of the agent's browser")).to_be_visible()
        assert page.evaluate("window.sameDocument")
        assert visitor.complaints == []


def test_stop_ends_a_run_that_is_being_watched(instance: Instance, stand_in: StandIn, browser: Browser) -> None:
    stand_in.add("RUN-stopped", [{"reply": {"wait": {"seconds": 1}}, "__delay__": 0.3}])
    with visit(browser, f"http://127.0.0.1:{instance.port}") as visitor:
        page = visitor.page
        visitor.sign_in()
        page.get_by_label("Task", exact=True).fill("RUN-stopped Go on and on")
        page.get_by_label("Model").select_option("house-model")
        page.get_by_role("button", name="Start").click()
        page.wait_for_selector("#screen[data-state=live]")
        page.get_by_role("button", name="Stop").click()
        expect(page.locator("#facts")).to_contain_text("stopped", timeout=30_000)
        expect(page.locator("#screen")).to_have_attribute("data-state", "ended")
        expect(page.get_by_role("button", name="Stop")).to_be_hidden()
        assert visitor.complaints == []
