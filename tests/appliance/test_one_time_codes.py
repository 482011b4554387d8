import base64

import pytest

from appliance.one_time_codes import code_now, read_seed

KEYS = {
    "SHA1": b"12345678901234567890",
    "SHA256": b"12345678901234567890123456789012",
    "SHA512": b"1234567890" * 6 + b"1234",
}


@pytest.mark.parametrize(
    ("algorithm", "at", "code"),
    [
        ("SHA1", 59, "94287082"),
        ("SHA256", 59, "46119246"),
        ("SHA512", 59, "90693936"),
        ("SHA1", 1111111109, "07081804"),
        ("SHA256", 2000000000, "90698825"),
        ("SHA512", 20000000000, "47863826"),
    ],
)
def test_codes_are_those_of_the_standard(algorithm: str, at: int, code: str) -> None:
    secret = base64.b32encode(KEYS[algorithm]).decode()
    seed = read_seed(f"otpauth://totp/shop?secret={secret}&algorithm={algorithm}&digits=8")
    assert code_now(seed, at) == code


def test_a_bare_key_gives_six_digits_however_it_is_grouped() -> None:
    secret = base64.b32encode(KEYS["SHA1"]).decode()
    grouped = " ".join(secret[start : start + 4] for start in range(0, len(secret), 4)).lower()
    assert code_now(read_seed(grouped), 59) == code_now(read_seed(secret), 59) == "287082"


@pytest.mark.parametrize(
    "text",
    ["", "1", "otpauth://totp/x", "otpauth://totp/x?secret=AA&digits=x", "otpauth://totp/x?secret=JBSWY3DP&digits=60"],
)
def test_what_is_no_seed_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="it"):
        read_seed(text)
