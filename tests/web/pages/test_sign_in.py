import re
from pathlib import Path

import httpx
from playwright.sync_api import expect
from pydantic import SecretStr

from tests.web.api.running import RunningServer, run_server
from tests.web.browsing import EMAIL, PASSWORD, Visitor


def csrf_token(html: str) -> str:
    found = re.search(r'name="_csrf_token" value="(\w+)"', html)
    assert found
    return found[1]


def post_form(client: httpx.Client, form_path: str, path: str, **fields: str) -> httpx.Response:
    token = csrf_token(client.get(form_path).text)
    return client.post(path, data={"_csrf_token": token, **fields})


def test_a_wrong_password_is_told_and_the_right_one_opens_the_page_that_was_asked_for(stranger: Visitor) -> None:
    stranger.open("/sessions")
    stranger.sign_in(password="wrong password")
    expect(stranger.page.get_by_role("alert")).to_have_text("E-mail address or password is wrong.")
    stranger.sign_in()
    expect(stranger.page).to_have_url(f"{stranger.url}/sessions")
    expect(stranger.page.get_by_role("heading", name="Sessions", exact=True)).to_be_visible()


def test_signing_out_ends_the_sign_in_on_the_server(stranger: Visitor) -> None:
    eva = stranger
    eva.sign_in()
    eva.page.wait_for_url(f"{eva.url}/")
    cookies = {cookie["name"]: cookie["value"] for cookie in eva.page.context.cookies()}
    with httpx.Client(timeout=30, base_url=eva.url, cookies=cookies) as thief:
        assert thief.get("/sessions").status_code == 200
        eva.page.get_by_role("button", name="Sign out").click()
        expect(eva.page).to_have_url(f"{eva.url}/sign-in")
        assert thief.get("/sessions").status_code == 303


def test_the_cookie_is_out_of_reach_for_scripts_and_other_sites(server: RunningServer) -> None:
    with httpx.Client(timeout=30, base_url=server.url) as client:
        answer = post_form(client, "/sign-in", "/sign-in", email=EMAIL.upper(), password=PASSWORD, next="/sessions")
    assert answer.headers["location"] == "/sessions"
    cookie = answer.headers["set-cookie"]
    assert cookie.startswith("pilothouse=")
    assert "HttpOnly" in cookie
    assert "SameSite=lax" in cookie
    assert "Secure" not in cookie


def test_behind_https_cookies_are_sent_over_https_only(tmp_path: Path) -> None:
    values = {"admin_email": EMAIL, "admin_password": SecretStr(PASSWORD), "public_url": "https://pilot.example"}
    for server in run_server(tmp_path, **values):
        with httpx.Client(timeout=30, base_url=server.url) as client:
            form = client.get("/sign-in")
            assert "Secure" in form.headers["set-cookie"]
            client.cookies.set("pilothouse-form", form.headers["set-cookie"].split(";")[0].split("=")[1])
            fields = {"_csrf_token": csrf_token(form.text), "email": EMAIL, "password": PASSWORD}
            answer = client.post("/sign-in", data=fields)
            assert answer.status_code == 303
            assert "Secure" in answer.headers["set-cookie"]


def test_forms_that_other_sites_made_are_refused(server: RunningServer) -> None:
    with httpx.Client(timeout=30, base_url=server.url) as client:
        client.get("/sign-in")
        for path in ("/sign-in", "/", "/sign-out", "/demonstration", "/setup"):
            answer = client.post(path, data={"email": EMAIL, "password": PASSWORD, "task": "x"})
            assert answer.status_code == 403, path
            assert "Load the page again" in answer.text


def test_after_sign_in_nobody_is_led_to_another_site(server: RunningServer) -> None:
    for target in ("//evil.example", "https://evil.example", "/\\evil.example", "javascript:alert(1)"):
        with httpx.Client(timeout=30, base_url=server.url) as client:
            answer = post_form(client, "/sign-in", "/sign-in", email=EMAIL, password=PASSWORD, next=target)
            assert answer.headers["location"] == "/", target


def test_a_guesser_has_to_wait_even_with_the_right_password(server: RunningServer) -> None:
    with httpx.Client(timeout=30, base_url=server.url) as client:
        for _ in range(8):
            wrong = post_form(client, "/sign-in", "/sign-in", email="nobody@example.com", password="guess")
            assert wrong.status_code == 401
        answer = post_form(client, "/sign-in", "/sign-in", email="nobody@example.com", password="guess")
        assert answer.status_code == 429
        assert "Try again in 15 minutes." in answer.text


def test_a_token_that_was_planted_before_is_not_taken_over(server: RunningServer) -> None:
    with httpx.Client(timeout=30, base_url=server.url, cookies={"pilothouse": "planted"}) as client:
        answer = post_form(client, "/sign-in", "/sign-in", email=EMAIL, password=PASSWORD)
        assert "planted" not in answer.headers["set-cookie"]
    with httpx.Client(timeout=30, base_url=server.url, cookies={"pilothouse": "planted"}) as attacker:
        assert attacker.get("/").status_code == 303


def test_a_sign_in_survives_a_restart_and_the_data_folder_holds_no_token(tmp_path: Path) -> None:
    cookies: dict[str, str] = {}
    for server in run_server(tmp_path, admin_email=EMAIL, admin_password=SecretStr(PASSWORD)):
        with httpx.Client(timeout=30, base_url=server.url) as client:
            post_form(client, "/sign-in", "/sign-in", email=EMAIL, password=PASSWORD)
            cookies = dict(client.cookies)
    stored = b"".join(path.read_bytes() for path in (tmp_path / "data" / "sign-ins").iterdir())
    assert cookies["pilothouse"].encode() not in stored
    for server in run_server(tmp_path, admin_email=EMAIL, admin_password=SecretStr(PASSWORD)):
        assert httpx.get(f"{server.url}/sessions", cookies=cookies, timeout=30).status_code == 200


def test_without_authentication_everybody_is_let_in(tmp_path: Path) -> None:
    for server in run_server(tmp_path, allow_insecure_no_auth=True):
        page = httpx.get(f"{server.url}/", timeout=30)
        assert page.status_code == 200
        assert "Sign out" not in page.text
