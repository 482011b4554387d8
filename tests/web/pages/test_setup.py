import re
from collections.abc import Iterator

import httpx
import pytest
from playwright.sync_api import Browser, expect

from tests.system.instance import Instance
from tests.web.browsing import EMAIL, PASSWORD, visit


@pytest.fixture
def fresh() -> Iterator[Instance]:
    """A server that nobody has set up."""
    with Instance({"API_KEY": ""}, command=("serve",)) as instance:
        yield instance


def test_the_first_start_makes_one_account_with_the_token_of_the_log(fresh: Instance, browser: Browser) -> None:
    url = f"http://127.0.0.1:{fresh.port}"
    found = re.search(rf"Setup: .*{url}/setup\?token=([\w-]+)", fresh.log)
    assert found, fresh.log
    with visit(browser, url) as visitor:
        page = visitor.page
        visitor.open("/sessions")
        expect(page).to_have_url(f"{url}/setup")
        page.get_by_label("Setup token").fill("a wrong token")
        page.get_by_label("E-mail address").fill(EMAIL)
        page.get_by_label("Password").fill(PASSWORD)
        page.get_by_role("button", name="Make my account").click()
        expect(page.get_by_role("alert")).to_contain_text("This is not the setup token.")
        visitor.open(f"/setup?token={found[1]}")
        page.get_by_label("E-mail address").fill(EMAIL)
        page.get_by_label("Password").fill(PASSWORD)
        page.get_by_role("button", name="Make my account").click()
        expect(page.get_by_role("heading", name="Your account is ready")).to_be_visible()
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        key = page.get_by_label("Your API key").inner_text().strip()
        assert f'api_key="{key}"' in page.get_by_label("A request with the Python client").inner_text()
        assert key in page.get_by_label("A request with curl").inner_text()
        page.get_by_role("link", name="Start the first task").click()
        expect(page.get_by_role("button", name="Run the demonstration")).to_be_visible()
    assert httpx.get(f"{url}/v3/sessions", headers={"Authorization": f"Bearer {key}"}).status_code == 200
    assert key not in fresh.log
    assert httpx.get(f"{url}/setup?token={found[1]}").headers["location"] == "/"
    assert PASSWORD not in fresh.log
