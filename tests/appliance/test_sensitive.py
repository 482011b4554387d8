import base64
import html
import json
from typing import Any
from urllib.parse import quote, quote_plus

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from appliance.errors import ActionFailed
from appliance.events import ActionCall, StepPlanned, TokenCount
from appliance.sensitive import SensitiveData, redact_for_log

PASSWORD = 'Kä§tchen & "Co" <7>/+%'
SCOPED = {
    "good.test": {"pw": "of-good-one"},
    "*.good.test": {"pw": "of-subdomains"},
    "http://old.test": {"pw": "of-old-one"},
}


@pytest.mark.parametrize(
    ("document", "text", "url", "filled"),
    [
        ({"pw": "value"}, "<secret>pw</secret>", "https://any.test/", "value"),
        ({"pw": "value"}, "a <SECRET> pw </SECRET> b", "https://any.test/", "a value b"),
        ({"pw": "value"}, "<secret>pw</secret>", "http://127.0.0.1:8000/", "value"),
        ({"pw": "value"}, "<secret>pw</secret>", "http://app.localhost/", "value"),
        ({"a": "one", "b": "two"}, "<secret>a</secret>-<secret>b</secret>", "https://any.test/", "one-two"),
        ({"pw": "value"}, "no placeholder <secret", "http://any.test/", "no placeholder <secret"),
        (SCOPED, "<secret>pw</secret>", "https://good.test/login", "of-good-one"),
        (SCOPED, "<secret>pw</secret>", "https://a.good.test/login", "of-subdomains"),
        (SCOPED, "<secret>pw</secret>", "http://old.test/login", "of-old-one"),
        (
            {"pw": "wide-one", "good.test": {"pw": "narrow-one"}},
            "<secret>pw</secret>",
            "https://good.test",
            "narrow-one",
        ),
    ],
)
def test_a_placeholder_becomes_its_value_where_it_belongs(
    document: dict[str, Any], text: str, url: str, filled: str
) -> None:
    assert SensitiveData.read(document).fill(text, url) == filled


@pytest.mark.parametrize(
    ("document", "url", "why"),
    [
        (SCOPED, "https://evil.test/", "is for good.test"),
        (SCOPED, "https://good.test.evil.test/", "is for good.test"),
        (SCOPED, "https://good.test@evil.test/", "is for good.test"),
        (SCOPED, "http://good.test/", "not encrypted"),
        (SCOPED, "about:blank", "without an address"),
        (SCOPED, "null", "without an address"),
        (SCOPED, "data:text/html,<input>", "without an address"),
        ({"pw": "value"}, "http://any.test/", "not encrypted"),
        ({"other": "value"}, "https://any.test/", 'no secret "pw"'),
        ({}, "https://any.test/", 'no secret "pw"'),
    ],
)
def test_elsewhere_nothing_is_filled_in_and_it_says_why(document: dict[str, Any], url: str, why: str) -> None:
    with pytest.raises(ActionFailed, match=why) as failure:
        SensitiveData.read(document).fill("x <secret>pw</secret>", url)
    assert "value" not in failure.value.message
    assert "of-" not in failure.value.message


def test_without_domains_of_its_own_a_secret_goes_where_the_task_may_go() -> None:
    secrets = SensitiveData.read({"pw": "value"}, ("good.test", "http://plain.test"))
    assert [secrets.names_for(url) for url in ("https://good.test/", "http://plain.test/")] == [("pw",), ("pw",)]
    assert [secrets.names_for(url) for url in ("https://evil.test/", "http://good.test/", "nonsense")] == [()] * 3


def test_a_seed_becomes_the_code_of_the_moment_which_is_kept_out_of_texts_too() -> None:
    secrets = SensitiveData.read({"shop_bu_2fa_code": "JBSW Y3DP EHPK 3PXP"})
    code = secrets.fill("<secret>shop_bu_2fa_code</secret>", "https://shop.test/")
    assert code.isdecimal()
    assert len(code) == 6
    assert code not in secrets.redact(f"code={code}&x")


@pytest.mark.parametrize(
    "document",
    [
        {"pw": ""},
        {"pw": "ab"},
        {"": "value"},
        {"<b>": "value"},
        {"pw": "x" * 10_001},
        {"pw": "a <secret>b</secret>"},
        {"shop_bu_2fa_code": "not base32!"},
        {"exa mple": {"pw": "value"}},
        {"*": {"pw": "value"}},
        {"https://a.test/login": {"pw": "value"}},
        {str(number): "value" for number in range(201)},
    ],
)
def test_what_cannot_be_kept_is_refused_without_repeating_it(document: dict[str, str]) -> None:
    with pytest.raises(ValueError, match=r".") as refusal:
        SensitiveData.read(document)
    assert "value of" in str(refusal.value) or "value" not in str(refusal.value)
    assert "base32!" not in str(refusal.value)


SPELLINGS = {
    "plain": str,
    "upper": str.upper,
    "component": lambda text: quote(text, safe="!~*'()"),
    "all": lambda text: quote(text, safe=""),
    "lower hex": lambda text: quote(text, safe="").lower(),
    "form": quote_plus,
    "twice": lambda text: quote(quote(text, safe=""), safe=""),
    "markup": html.escape,
    "text": lambda text: html.escape(text, quote=False),
    "apostrophe": lambda text: html.escape(text).replace("&#x27;", "&#39;"),
    "json": lambda text: json.dumps(text)[1:-1],
    "json unicode": lambda text: json.dumps(text, ensure_ascii=False)[1:-1],
    "python": lambda text: repr(text)[1:-1],
    "base64": lambda text: base64.b64encode(text.encode()).decode(),
    "basic": lambda text: base64.b64encode(f"ann:{text}".encode()).decode(),
}


@pytest.mark.parametrize("spelling", SPELLINGS)
def test_every_spelling_is_taken_out(spelling: str) -> None:
    secrets = SensitiveData.read(
        {"good.test": {"pw": PASSWORD}, "other.test": {"pw": "another-one", "user": "ann@x.test"}}
    )
    spelled = SPELLINGS[spelling](PASSWORD)
    redacted = secrets.redact(f"before {spelled} after another-one, ann@x.test")
    assert "<secret>pw</secret>" in redacted
    assert redacted.startswith("before")
    assert redacted.endswith(" after <secret>pw</secret>, <secret>user</secret>")
    assert spelled not in redacted


VALUES = st.text(st.characters(codec="utf-8", exclude_categories=("C",)), min_size=6, max_size=60)


@given(
    value=VALUES,
    around=st.tuples(st.text(max_size=30), st.text(max_size=30)),
    spelling=st.sampled_from(list(SPELLINGS)),
)
@settings(max_examples=150, deadline=None)
def test_no_value_survives_in_any_text(value: str, around: tuple[str, str], spelling: str) -> None:
    assume(value.strip() and value.lower() not in "<secret>pw</secret>" and "secret>" not in value)
    secrets = SensitiveData.read({"pw": value})
    redacted = secrets.redact(f"{around[0]}{SPELLINGS[spelling](value)}{around[1]}")
    assert value not in redacted
    assert secrets.redact(redacted) == redacted


@given(text=st.text(st.characters(codec="utf-8", exclude_characters="X"), max_size=200))
@settings(max_examples=50, deadline=None)
def test_a_text_without_secrets_stays_as_it_is(text: str) -> None:
    assert SensitiveData.read({"pw": "XXXXXXXX"}).redact(text) == text


def test_short_values_are_taken_out_only_where_they_stand_alone() -> None:
    secrets = SensitiveData.read({"pin": "1234"})
    assert secrets.redact("1234, 12345, a=1234&b, %3D1234, x1234") == (
        "<secret>pin</secret>, 12345, a=<secret>pin</secret>&b, %3D<secret>pin</secret>, x1234"
    )


def test_a_value_that_is_the_word_for_it_does_not_break_the_placeholder() -> None:
    secrets = SensitiveData.read({"secret": "secret", "pw": "<secret"[1:] + "-two"})
    assert secrets.redact("my secret and <secret>secret</secret>") == (
        "my <secret>secret</secret> and <secret>secret</secret>"
    )


def test_what_a_page_cuts_short_of_a_long_value_is_taken_out() -> None:
    value = "-----BEGIN KEY----- abcdefghijklmnopqrstuvwxyz 0123456789"
    secrets = SensitiveData.read({"key": value})
    for part in (value[:40] + "…", value[:20], value[-25:]):
        assert secrets.redact(f"see {part}").startswith("see <secret>key</secret>")


def test_structures_are_redacted_through_and_through() -> None:
    secrets = SensitiveData.read({"pw": "hunter-22"})
    call = ActionCall("1", "input", {"text": "hunter-22", "list": ["x hunter-22", 7, None], "hunter-22": True})
    event = StepPlanned(
        step=1,
        see="hunter-22",
        plan="",
        move="",
        calls=(call,),
        url="https://x/?p=hunter-22",
        title="",
        tokens=TokenCount(),
    )
    redacted = secrets.redact_all(event)
    assert "hunter" not in repr(redacted)
    assert redacted.calls[0].arguments["list"] == ["x <secret>pw</secret>", 7, None]
    assert type(redacted) is StepPlanned


def test_log_lines_are_free_of_the_secrets_of_living_sessions() -> None:
    secrets = SensitiveData.read({"pw": "hunter-22"})
    assert redact_for_log({"event": "typed hunter-22"}) == {"event": "typed <secret>pw</secret>"}
    del secrets


@pytest.mark.parametrize("unseen", ["\u00ad", "\u200b", "\u2060\u200d", "\ufeff"])
def test_characters_that_cannot_be_seen_hide_no_value(unseen: str) -> None:
    sensitive = SensitiveData.read({"pw": PASSWORD, "pin": "4711"})
    parted = unseen.join(PASSWORD.upper())
    assert sensitive.redact(f"It is {parted}, {unseen}really") == f"It is <secret>pw</secret>, {unseen}really"
    other = f"Donau{unseen}dampf"
    assert sensitive.redact(other) == other
