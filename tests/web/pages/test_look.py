"""Every page in light, dark and phone width: it answers, nothing complains, nothing sticks out."""

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import httpx
import pytest
from playwright.sync_api import Browser

from appliance.words import FailureKind
from tests.web.api.running import RunningServer
from tests.web.browsing import LOOKS, visit
from tests.web.feeding import feed_session
from web.views import TEMPLATES_DIR

DATA_BLOCK = "application/ld+json"


@pytest.fixture(scope="module")
def paths(server: RunningServer) -> dict[str, str]:
    """The address of every kind of page."""
    running = feed_session(server, "Record every lamp on the list, with maker and price")
    running.plan("Click “Next page”.", "click", "extract")
    running.receive("Clicked.")
    delivered = feed_session(server, "Compare the bells", output_schema={"type": "object"})
    delivered.plan()
    delivered.deliver(
        {"bells": [{"name": "Ship's bell", "price": 74.9, "address": "https://shop.example/" + "b" * 90}]}
    )
    failed = feed_session(server, "Order two bells")
    failed.fail(FailureKind.PROVIDER_TIMEOUT, "No answer within 180 s.")
    text = feed_session(server, "Read the page")
    text.deliver("# Lamp\n\n| a | b |\n| - | - |\n| 1 | 2 |\n\n`code` " + "y" * 200)
    waiting = feed_session(server, "Wait for a slot", started=False)
    return {
        "new task": "/",
        "sessions": "/sessions",
        "usage": "/usage",
        "usage by session": "/usage?days=90&by=session",
        "running": running.path,
        "delivered": delivered.path,
        "failed": failed.path,
        "text": text.path,
        "waiting": waiting.path,
        "live": f"/live/{running.id}",
        "demo": "/demo/",
    }


@pytest.mark.parametrize("look", LOOKS)
def test_every_page_is_whole(
    server: RunningServer, browser: Browser, cookies: Sequence[Any], paths: dict[str, str], look: str
) -> None:
    with visit(browser, server.url, **LOOKS[look]) as visitor:
        assert visitor.open("/sign-in") == 200
        visitor.take_cookies(cookies)
        for name, path in paths.items():
            assert visitor.open(path) == 200, name
            width = visitor.page.evaluate("document.documentElement.scrollWidth")
            assert width <= LOOKS[look]["viewport"]["width"], f"{name} sticks out in {look}: {width}"
        assert visitor.complaints == []


def test_dark_and_light_differ_in_paper_and_ink(server: RunningServer, browser: Browser) -> None:
    colours: set[str] = set()
    for look in ("light", "dark"):
        with visit(browser, server.url, **LOOKS[look]) as visitor:
            visitor.open("/sign-in")
            colours.add(visitor.page.evaluate("getComputedStyle(document.body).backgroundColor"))
            colours.add(visitor.page.evaluate("getComputedStyle(document.body).color"))
    assert len(colours) == 4


def test_without_script_a_task_can_be_written_and_a_session_read(
    server: RunningServer, browser: Browser, cookies: Sequence[Any], paths: dict[str, str]
) -> None:
    with visit(browser, server.url, java_script_enabled=False) as visitor:
        visitor.take_cookies(cookies)
        visitor.open(paths["delivered"])
        assert "Ship's bell" in visitor.page.locator(".answer").inner_text()
        visitor.open("/")
        visitor.page.get_by_label("Task", exact=True).fill("Without any script")
        visitor.page.get_by_label("Model").select_option("autopilot")
        visitor.page.get_by_role("button", name="Start").click()
        assert visitor.page.locator("h1").inner_text() == "Without any script"


def test_pages_forbid_script_and_style_of_others_and_frames(server: RunningServer, cookies: Sequence[Any]) -> None:
    jar = {cookie["name"]: cookie["value"] for cookie in cookies}
    for path in ("/", "/sessions", "/sign-in", "/sessions/00000000-0000-7000-8000-000000000000"):
        headers = httpx.get(server.url + path, cookies=jar).headers
        policy = headers["content-security-policy"]
        assert "default-src 'none'; script-src 'self'; style-src 'self'" in policy, path
        assert "unsafe" not in policy
        assert "frame-ancestors 'none'" in policy
        assert headers["x-frame-options"] == "DENY"
        assert headers["cache-control"] == "no-store"
        assert headers["x-content-type-options"] == "nosniff"


@pytest.mark.parametrize("path", sorted(TEMPLATES_DIR.rglob("*.html")), ids=lambda path: path.name)
def test_templates_hold_no_script_or_style_and_are_short(path: Path) -> None:
    text = path.read_text()
    assert "<style" not in text
    assert not re.search(r"\s(style|on[a-z]+)\s*=\s*[\"'{]", text), "an inline style or handler"
    for attributes in re.findall(r"<script\b([^>]*)>", text):
        assert "src=" in attributes or DATA_BLOCK in attributes
    assert "http://" not in re.sub(r'startswith\(\("http://", "https://"\)\)', "", text).replace('xmlns="http://', "")
    assert len(text.splitlines()) <= 200


def test_static_files_are_kept_for_ever_under_their_version_and_checked_without(server: RunningServer) -> None:
    with httpx.Client(base_url=server.url) as client:
        found = re.search(r'href="(/static/v-\w+/css/base\.css)"', client.get("/sign-in").text)
        assert found
        versioned = client.get(found[1])
        assert versioned.headers["cache-control"] == "public, max-age=31536000, immutable"
        assert versioned.headers["content-type"].startswith("text/css")
        plain = client.get("/static/css/base.css")
        assert plain.headers["cache-control"] == "no-cache"
        again = client.get("/static/css/base.css", headers={"If-None-Match": plain.headers["etag"]})
        assert (again.status_code, again.content) == (304, b"")
        assert client.get("/static/v-of-yesterday/css/base.css").headers["cache-control"] == "no-cache"
        for path in ("/static/", "/static/../web/app.py", "/static/%2e%2e/pyproject.toml", "/static/vendor/.complete"):
            assert client.get(path).status_code == 404, path
