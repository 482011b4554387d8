import pytest

from appliance.scattered import mask_scattered
from appliance.sensitive import SensitiveData

SECRET = "hunter2-secret"
MARK = "<secret>pin</secret>"


def redact(text: str, value: str = SECRET) -> str:
    return SensitiveData.read({"pin": value}).redact(text)


@pytest.mark.parametrize(
    "text",
    [
        " ".join(SECRET),
        "-".join(SECRET),
        "\n".join(SECRET),
        "\n\n".join(SECRET).replace("-", "\\-"),
        "\n".join(f" - {sign}" for sign in SECRET),
        " | ".join(SECRET),
        "\n".join(f"[{number}]<button>{sign}" for number, sign in enumerate(SECRET, 1)),
        "\n".join(f"*[{number}]<input value={sign} at={8 * number},389>" for number, sign in enumerate(SECRET, 1)),
        "\n".join(f'[{number}]<input value="{sign}">' for number, sign in enumerate(SECRET, 1)),
        "\n".join(f'<input size="1" value="{sign}"> in body > p#boxes > input' for sign in SECRET),
        "\n".join(f'<button class="key">{sign} in body > p#buttons' for sign in SECRET),
        "\n".join(sign for sign in SECRET if sign.isalnum()),
        "HUNTER2 - SECRET",
        "hunt\ner2-sec\nret",
    ],
)
def test_a_secret_whose_signs_stand_apart_is_taken_out(text: str):
    clean = redact(f"Before it\n{text}\nAfter it")
    assert clean.startswith("Before it\n")
    assert clean.endswith("\nAfter it")
    assert clean.count(MARK) == 1
    assert "".join(sign for sign in clean if sign.isalnum()).count("hunter2secret") == 0
    assert clean.count("•") >= len("hunter2secret") - 1
    assert clean.count("\n") == text.count("\n") + 2


def test_the_elements_themselves_stay():
    lines = "\n".join(f"[{number}]<button>{sign}" for number, sign in enumerate(SECRET, 1))
    assert redact(lines).split("\n")[:2] == [f"[1]<button>{MARK}", "[2]<button>•"]


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("123456", "It costs 1,234.56 euros on 12/34/56."),
        ("together", "We want to get her there."),
        ("123456", "[12]<a>3 of 45 6"),
        ("hunter2-secret", "[1]<a>hunter [2]<a>secret"),
        ("ab-12", "a b 1 2"),
    ],
)
def test_ordinary_text_stays_what_it_is(value: str, text: str):
    assert redact(text, value) == text


def test_a_code_in_boxes_of_one_digit_is_taken_out():
    boxes = "\n".join(f"[{number}]<input value={digit} required>" for number, digit in enumerate("904417", 1))
    assert redact(boxes, "904417").count("•") == 5
    assert mask_scattered("4111 1111 1111 1111", [("(card)", "4111111111111111")]) == "(card)••• •••• •••• ••••"


def test_a_scattered_secret_is_known_to_be_in_a_text():
    sensitive = SensitiveData.read({"https://shop.example": {"pin": SECRET}})
    assert sensitive.is_in(" ".join(SECRET))
    assert sensitive.misplaced_in(" ".join(SECRET), "https://evil.example/") == ("pin",)
    assert sensitive.misplaced_in(" ".join(SECRET), "https://shop.example/") == ()
