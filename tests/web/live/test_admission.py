import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from uuid import uuid4

import httpx
import pytest
from playwright.sync_api import Browser, expect
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.sync.client import connect

from tests.web.api.running import RunningServer
from tests.web.browsing import visit
from tests.web.feeding import feed_session
from tests.web.live.test_feed import link_of


@pytest.mark.parametrize("below", ["", "/feed", "/screenshots/0001.jpg"])
def test_without_sign_in_a_session_opens_to_its_own_link_only(server: RunningServer, below: str) -> None:
    run, other = feed_session(server, "Mine"), feed_session(server, "Another")
    run.plan()
    run.deliver("Done.")
    path = f"{server.url}/live/{run.id}{below}"
    own = link_of(server, run)
    assert httpx.get(f"{path}?{own}").status_code == 200
    tampered = own[:-1] + ("A" if own[-1] != "A" else "B")
    for link in ("", f"?{link_of(server, other)}", f"?{tampered}", "?token="):
        answer = httpx.get(path + link)
        assert answer.status_code == 401, link
        assert "Mine" not in answer.text


def test_the_list_of_all_sessions_is_for_signed_in_people(server: RunningServer) -> None:
    assert httpx.get(f"{server.url}/live/sessions").status_code == 401


def open_socket(server: RunningServer, path: str, origin: str | None) -> int:
    """Return the status or closing code with which the socket is refused, 0 when it is taken."""
    try:
        with connect(f"ws{server.url[4:]}{path}", origin=origin, proxy=None, open_timeout=10) as socket:
            try:
                socket.recv(timeout=0.3)
            except TimeoutError:
                return 0
    except InvalidStatus as refused:
        return refused.response.status_code
    except ConnectionClosed as closed:
        return closed.rcvd.code if closed.rcvd else -1
    return 0


def test_the_picture_is_for_our_own_pages_and_for_programs_with_a_link(server: RunningServer) -> None:
    run = feed_session(server, "Wait and see", started=False)
    path = f"/live/{run.id}/websocket"
    link = link_of(server, run)
    assert open_socket(server, f"{path}?{link}", server.url) == 0
    assert open_socket(server, f"{path}?{link}", None) == 0
    assert open_socket(server, f"{path}?{link}", "https://evil.example") != 0
    assert open_socket(server, path, server.url) != 0
    assert open_socket(server, f"/live/{uuid4()}/websocket?{link}", server.url) != 0


def test_the_picture_of_a_session_that_is_over_ends_at_once(server: RunningServer) -> None:
    run = feed_session(server, "Be over")
    run.deliver("Over.")
    assert open_socket(server, f"/live/{run.id}/websocket?{link_of(server, run)}", server.url) == 1000


@contextmanager
def serve_page(html: str) -> Iterator[str]:
    class Answer(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.send_header("Content-Type", "text/html")
            self.end_headers()
            self.wfile.write(html.encode())

        def log_message(self, *_: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Answer) as site:
        threading.Thread(target=site.serve_forever, args=(0.05,)).start()
        try:
            yield f"http://localhost:{site.server_address[1]}/"
        finally:
            site.shutdown()


def test_another_site_may_put_the_live_page_into_a_frame(server: RunningServer, browser: Browser) -> None:
    run = feed_session(server, "Be embedded")
    run.plan("Look at the frame.")
    address = f"{server.url}/live/{run.id}?{link_of(server, run)}"
    assert "frame-ancestors *" in httpx.get(address).headers["content-security-policy"]
    embedding = f'<!doctype html><iframe width=900 height=600 src="{address}&theme=dark"></iframe>'
    with serve_page(embedding) as other_site, visit(browser, server.url) as visitor:
        visitor.page.goto(other_site)
        frame = visitor.page.frame_locator("iframe")
        expect(frame.get_by_text("Look at the frame.")).to_be_visible()
        expect(frame.locator("html")).to_have_attribute("data-theme", "dark")
        run.plan("Look again.")
        expect(frame.get_by_text("Look again.")).to_be_visible()
        assert frame.get_by_role("button", name="Stop").count() == 0


def test_without_its_surroundings_the_live_page_is_the_picture_alone(server: RunningServer, browser: Browser) -> None:
    run = feed_session(server, "Be plain")
    run.plan()
    with visit(browser, server.url) as visitor:
        visitor.open(f"/live/{run.id}?{link_of(server, run)}&ui=false")
        box = visitor.page.locator("#screen").bounding_box()
        assert box is not None
        assert (box["x"], box["y"], box["width"], box["height"]) == (0, 0, 1440, 900)
        expect(visitor.page.locator(".feed")).to_be_hidden()
        expect(visitor.page.locator(".session-head")).to_be_hidden()


def test_a_dead_link_is_explained_on_a_page_that_may_be_framed(server: RunningServer) -> None:
    answer = httpx.get(f"{server.url}/live/{uuid4()}?token=1.x")
    assert answer.status_code == 401
    assert "This link is wrong or has expired." in answer.text
    assert "frame-ancestors *" in answer.headers["content-security-policy"]
