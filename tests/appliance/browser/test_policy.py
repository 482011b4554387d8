from ipaddress import IPv4Address

import pytest

from appliance.browser.connection import Browser
from appliance.browser.policy import Policy
from appliance.errors import ActionRefused
from tests.appliance.browser.look import line_with
from tests.site import Site

ONLY_GOOD = Policy(allowed_domains=("good.test",))


@pytest.mark.parametrize(
    "url",
    [
        "http://good.test:pw@evil.test/",
        "http://good.test@evil.test/",
        "http://good.test%20@evil.test/",
        "http://good.test%3A@evil.test/",
        "http://evil.test\\@good.test/",
        "http://evil.test#@good.test/",
        "http://evil.test?@good.test/",
        "https:\\\\evil.test/good.test",
        "http:evil.test",
        "ht\ntp://evil.test/",
        "http://good.test.evil.test/",
        "http://xgood.test/",
        "http://sub.good.test/",
    ],
)
def test_no_spelling_makes_another_host_look_like_the_allowed_one(url: str) -> None:
    with pytest.raises(ActionRefused, match="outside the domains"):
        ONLY_GOOD.check_url(url)


@pytest.mark.parametrize(
    "url", ["http://u:p@good.test/", "https://good.test:8443/a", "HTTP://GOOD.test./", "http://good%2Etest/"]
)
def test_the_allowed_host_is_allowed_in_every_spelling(url: str) -> None:
    ONLY_GOOD.check_url(url)


@pytest.mark.parametrize(
    ("pattern", "allowed", "refused"),
    [
        ("*.good.test", "http://a.b.good.test/", "http://good.test/"),
        ("good.test:8080", "http://good.test:8080/", "http://good.test/"),
        ("https://good.test", "https://good.test/", "http://good.test/"),
    ],
)
def test_patterns_narrow_what_is_allowed(pattern: str, allowed: str, refused: str) -> None:
    policy = Policy(allowed_domains=(pattern,))
    policy.check_url(allowed)
    with pytest.raises(ActionRefused):
        policy.check_url(refused)


def test_a_password_in_an_address_is_not_repeated() -> None:
    with pytest.raises(ActionRefused) as refusal:
        ONLY_GOOD.check_url("http://ann:topsecret@evil.test/?key=alsosecret")
    assert "secret" not in refusal.value.message
    with pytest.raises(ActionRefused) as refusal:
        ONLY_GOOD.check_url("ftp://ann:topsecret@evil.test/")
    assert "secret" not in refusal.value.message


@pytest.mark.parametrize(
    "host",
    [
        "127.0.0.1", "127.1", "2130706433", "0x7f000001", "0177.0.0.1", "0x7f.1", "%31%32%37.0.0.1", "１２７.0.0.1",
        "127。0。0。1", "localhost", "LOCALHOST.", "a.localhost", "[::1]", "[::ffff:127.0.0.1]", "0.0.0.0", "[::]",
        "10.1.2.3", "192.168.0.1", "172.31.255.255", "100.64.0.1", "[fd12::1]", "[fec0::1]", "[64:ff9b::7f00:1]",
    ],
)  # fmt: skip
def test_private_ground_is_refused_in_every_spelling(host: str) -> None:
    with pytest.raises(ActionRefused, match="private network"):
        Policy().check_url(f"http://{host}/")


@pytest.mark.parametrize(
    "host",
    [
        "169.254.169.254",
        "2852039166",
        "[::ffff:169.254.169.254]",
        "[fd00:ec2::254]",
        "[fe80::1]",
        "100.100.100.200",
        "192.0.0.192",
    ],
)
def test_metadata_addresses_are_refused_whatever_is_allowed(host: str) -> None:
    policy = Policy(private_allowed=("private", "loopback", "169.254.0.0/16", host))
    with pytest.raises(ActionRefused, match="never opened"):
        policy.check_url(f"http://{host}/latest/meta-data")


def test_our_own_ports_are_refused_whatever_is_allowed() -> None:
    policy = Policy(own_ports=frozenset({8420}), private_allowed=("loopback", "127.0.0.1"))
    policy.check_url("http://127.0.0.1:8421/")
    for url in ("http://127.0.0.1:8420/", "http://localhost:8420/", "http://127.9.9.9:8420/", "http://[::1]:8420/"):
        with pytest.raises(ActionRefused, match="appliance itself"):
            policy.check_url(url)


@pytest.mark.parametrize(
    ("entry", "url"),
    [
        ("loopback", "http://127.0.0.2/"),
        ("private", "http://10.0.0.1/"),
        ("192.168.1.0/24", "http://192.168.1.7/"),
        ("10.0.0.5", "http://10.0.0.5/"),
        ("localhost", "http://localhost/"),
    ],
)
def test_private_ground_opens_as_far_as_the_setting_says(entry: str, url: str) -> None:
    Policy(private_allowed=(entry,)).check_url(url)
    with pytest.raises(ActionRefused):
        Policy(private_allowed=(entry,)).check_url("http://172.16.9.9/" if entry != "private" else "http://127.0.0.1/")


@pytest.mark.parametrize(
    "url",
    [
        "file:///etc/passwd",
        "chrome://settings",
        "about:settings",
        "about:blank.evil",
        "devtools://devtools/",
        "javascript:alert(1)",
        "view-source:http://a.test",
        "filesystem:http://a.test/x",
        "ftp://a.test",
    ],
)
def test_only_web_addresses_are_opened(url: str) -> None:
    with pytest.raises(ActionRefused, match="not a web address"):
        Policy().check_url(url)


@pytest.mark.parametrize("url", ["", "example.com", "http://", "http://[1:2", "http://a b/", "http://x:99999/"])
def test_what_is_no_address_is_refused_with_a_remedy(url: str) -> None:
    with pytest.raises(ActionRefused, match="address"):
        Policy().check_url(url)


@pytest.mark.parametrize(
    "url",
    [
        "https://example.com/",
        "http://8.8.8.8/",
        "http://127.0.0.1.example.com/",
        "about:blank",
        "about:blank#x",
        "about:srcdoc",
        "data:text/html,x",
        "blob:https://a.test/1",
    ],
)
def test_the_open_web_is_allowed(url: str) -> None:
    Policy().check_url(url)


async def test_a_name_is_judged_by_what_it_resolves_to() -> None:
    async def resolve(host: str) -> tuple[IPv4Address, ...]:
        found = {"mixed.example": ("93.184.216.34", "10.0.0.7"), "open.example": ("93.184.216.34",)}
        return tuple(map(IPv4Address, found[host]))

    with pytest.raises(ActionRefused, match="private network"):
        await Policy(resolve=resolve).check_reachable("http://mixed.example/")
    await Policy(resolve=resolve).check_reachable("http://open.example/")
    with pytest.raises(OSError):
        await Policy().check_reachable("http://no-such-name.invalid/")


async def test_refused_addresses_are_not_asked_for_by_navigation_redirect_or_frame(
    browser: Browser, site: Site, policy: Policy
) -> None:
    site.requests.clear()
    metadata = "http://169.254.169.254/latest"

    with pytest.raises(ActionRefused):
        await browser.tab.navigate(metadata)
    await browser.tab.navigate(site.url("/"))
    with pytest.raises(ActionRefused, match="never opened"):
        await browser.tab.navigate(site.url(f"/redirect?to={metadata}"))

    await browser.tab.navigate(site.url("/"))
    await browser.tab.evaluate(
        f"document.body.insertAdjacentHTML('beforeend', '<iframe src=\"{metadata}\" width=300 height=100></iframe>')"
    )
    await browser.settle()
    seen = await browser.observe(with_screenshot=False)
    assert any("never opened" in note for note in seen.notes)
    assert line_with(seen, "It works.")


class TestInTheBrowser:
    @pytest.fixture
    def policy(self, site: Site) -> Policy:
        return Policy(private_allowed=("127.0.0.1", "127.0.0.3"), own_ports=frozenset({1}))

    async def test_links_pop_ups_and_scripts_do_not_get_through(self, browser: Browser, site: Site) -> None:
        forbidden = site.url("/controls.html", host=2)
        await browser.tab.navigate(site.url("/"))
        site.requests.clear()

        for code in (
            f"location.href = '{forbidden}?link'",
            f"window.open('{forbidden}?popup')",
            f"fetch('{forbidden}?fetch', {{mode: 'no-cors'}}).catch(() => 0)",
        ):
            await browser.tab.evaluate(f"void ({code})")
            await browser.settle(1.0)

        assert not [seen for seen in site.requests if seen.host == "127.0.0.2"]
