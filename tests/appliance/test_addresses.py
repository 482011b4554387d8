from ipaddress import IPv4Address, IPv6Address

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from appliance.addresses import DomainPattern, parse_address, shown
from appliance.browser.policy import Policy
from appliance.errors import ActionRefused


@pytest.mark.parametrize(
    ("url", "plain"),
    [
        ("HTTP://Good.Test/", "http://good.test"),
        ("http://good.test.:80/a?b#c", "http://good.test"),
        ("https://u:p@good.test:8443/", "https://good.test:8443"),
        ("  http:\\\\good.test\\a", "http://good.test"),
        ("ht\ttp://go\nod.test", "http://good.test"),
        ("http:good.test", "http://good.test"),
        ("http:////good.test", "http://good.test"),
        ("http://a@b@good.test/", "http://good.test"),
        ("http://g%6fod.test/", "http://good.test"),
        ("http://ｇｏｏｄ．ｔｅｓｔ/", "http://good.test"),
        ("http://good。test/", "http://good.test"),
        ("http://bücher.test/", "http://xn--bcher-kva.test"),
        ("http://faß.test/", "http://xn--fa-hia.test"),
        ("http://☕.test/", "http://xn--53h.test"),
        ("http://0x7f.1/", "http://127.0.0.1"),
        ("http://017700000001/", "http://127.0.0.1"),
        ("http://2130706433:81/", "http://127.0.0.1:81"),
        ("http://①②⑦.0.0.1/", "http://127.0.0.1"),
        ("http://[::FFFF:7F00:1]/", "http://[::ffff:7f00:1]"),
        ("ws://good.test/", "ws://good.test"),
        ("wss://good.test:443/", "wss://good.test"),
    ],
)
def test_an_address_is_read_as_a_browser_reads_it(url: str, plain: str) -> None:
    assert str(parse_address(url)) == plain


@pytest.mark.parametrize(
    "url",
    [
        "",
        "good.test",
        "http://",
        "http:///",
        "http://a b/",
        "http://x:1x/",
        "http://x:99999/",
        "http://x:" + "9" * 5000,
        "http://[::1/",
        "http://%00/",
    ],
)
def test_what_is_no_address_is_refused(url: str) -> None:
    with pytest.raises(ActionRefused):
        parse_address(url)


@pytest.mark.parametrize(
    ("text", "pattern"),
    [
        ("Good.Test", DomainPattern("good.test")),
        ("good.test.", DomainPattern("good.test")),
        ("*.bücher.test", DomainPattern("xn--bcher-kva.test", covers_subdomains=True)),
        ("good.test:80", DomainPattern("good.test", port=80)),
        ("HTTPS://good.test/", DomainPattern("good.test", scheme="https")),
        ("https://*.good.test:8443", DomainPattern("good.test", covers_subdomains=True, scheme="https", port=8443)),
        ("[::1]:8080", DomainPattern("::1", port=8080)),
        ("http://0x7f.1", DomainPattern("127.0.0.1", scheme="http")),
    ],
)
def test_a_pattern_is_read_and_written_in_one_plain_form(text: str, pattern: DomainPattern) -> None:
    assert DomainPattern.parse(text) == pattern
    assert DomainPattern.parse(str(pattern)) == pattern


@pytest.mark.parametrize(
    "text",
    [
        "",
        "*",
        "*.",
        "a.*.test",
        "*good.test",
        "ftp://good.test",
        "good.test/login",
        "u@good.test",
        "good.test?x",
        "a b",
        "*.1.2.3.4",
        "good.test:x",
    ],
)
def test_what_is_no_pattern_says_why(text: str) -> None:
    with pytest.raises(ValueError, match=r"it |its |star"):
        DomainPattern.parse(text)


@pytest.mark.parametrize(
    ("pattern", "yes", "no"),
    [
        (
            "good.test",
            ["http://good.test", "https://good.test:8443", "wss://good.test"],
            ["http://a.good.test", "http://good.test.evil.test"],
        ),
        ("*.good.test", ["http://a.good.test", "https://a.b.good.test"], ["http://good.test", "http://xgood.test"]),
        ("good.test:8080", ["http://good.test:8080"], ["http://good.test", "https://good.test"]),
        ("https://good.test", ["https://good.test", "wss://good.test"], ["http://good.test", "ws://good.test"]),
        ("10.0.0.1", ["http://10.0.0.1", "http://167772161"], ["http://10.0.0.10", "http://10.0.0.1.evil.test"]),
    ],
)
def test_a_pattern_covers_what_it_says(pattern: str, yes: list[str], no: list[str]) -> None:
    read = DomainPattern.parse(pattern)
    assert all(read.matches(parse_address(url)) for url in yes)
    assert not any(read.matches(parse_address(url)) for url in no)


def test_an_address_in_a_message_has_neither_password_nor_query() -> None:
    assert shown("http://ann:secret@good.test/a?key=secret#secret") == "http://good.test/a"


NAMES = st.from_regex(r"[a-z][a-z0-9-]{0,10}[a-z]\.(test|example)", fullmatch=True)
PARTS = st.text(st.characters(codec="ascii", exclude_characters="/?#\\"), max_size=12)


@given(host=NAMES, before=PARTS, after=st.text(st.characters(codec="utf-8"), max_size=20))
@settings(max_examples=200, deadline=None)
def test_nothing_before_or_behind_the_host_changes_it(host: str, before: str, after: str) -> None:
    assert parse_address(f"http://{before}@{host}/{after}").host == host
    assert parse_address(f"http://{host}/{after}@good.test").host == host


@given(host=NAMES, choice=st.randoms(use_true_random=False))
@settings(max_examples=100, deadline=None)
def test_encoding_and_case_do_not_change_the_host(host: str, choice) -> None:
    spell = (str, str.upper, lambda one: f"%{ord(one):02x}", lambda one: chr(ord(one) + 0xFEE0))
    spelled = "".join(choice.choice(spell)(letter) for letter in host)
    assert parse_address(f"https://{spelled}/").host == host


@given(number=st.integers(0, 2**32 - 1), digits=st.sampled_from(["{}", "0x{:x}", "0{:o}", "0X{:X}"]))
@settings(max_examples=200, deadline=None)
def test_every_spelling_of_an_ip_address_is_judged_alike(number: int, digits: str) -> None:
    spellings = [f"http://{IPv4Address(number)}/", f"http://{digits.format(number)}/"]
    spellings.append(f"http://[{IPv6Address(0xFFFF00000000 + number)}]/")
    assert len({_judged(url) for url in spellings}) == 1


def _judged(url: str) -> bool:
    try:
        Policy(private_allowed=("10.0.0.0/9",)).check_url(url)
    except ActionRefused:
        return False
    return True


@given(text=st.text(max_size=60))
@settings(max_examples=300, deadline=None)
def test_any_text_is_judged_without_a_fault(text: str) -> None:
    for url in (text, f"http://{text}", f"http://{text}/"):
        if _judged(url):
            address = parse_address(url) if not url.strip().lower().startswith(("about:", "data:", "blob:")) else None
            assert address is None or address.host
