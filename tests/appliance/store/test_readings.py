from datetime import date
from decimal import Decimal

import pytest

from appliance.store.readings import (
    find_currency,
    find_unit,
    read_date,
    read_moment,
    read_number,
    read_truth,
)


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("€ 1.234,50", "1234.50"),
        ("1.234,50 €", "1234.50"),
        ("$1,234.50", "1234.50"),
        ("CHF 1'234.50", "1234.50"),
        ("1 234,50 zł", "1234.50"),
        ("1\u202f234,5", "1234.5"),
        ("€ 1.234", "1234"),
        ("1.234 kg", "1.234"),
        ("1,234 reviews", "1234"),
        ("0,75 l", "0.75"),
        ("0.125", "0.125"),
        ("24,9", "24.9"),
        ("1.234.567", "1234567"),
        ("4.5 out of 5 stars", "4.5"),
        ("4,5 von 5", "4.5"),
        ("4/5", "4"),
        ("−3 °C", "-3"),
        ("-12.5", "-12.5"),
        ("approx. 320 pages", "320"),
        ("15 %", "15"),
    ],
)
def test_a_number_is_read_whatever_marks_its_decimals(text: str, number: str):
    assert read_number(text) == Decimal(number)


@pytest.mark.parametrize(
    "text", ["", "free", "10–20 €", "10-20", "from 10 to 20", "2026-03-12", "1.2.3", "1,2,3", "v1.2.3", "1,234.5,6"]
)
def test_no_number_or_several_are_not_read(text: str):
    assert read_number(text) is None


@pytest.mark.parametrize(
    ("text", "code"),
    [("€ 5", "EUR"), ("5 EUR", "EUR"), ("£5", "GBP"), ("US$ 5", "USD"), ("$5", None), ("5", None), ("EUR/USD", None)],
)
def test_a_currency_is_named_only_without_doubt(text: str, code: str | None):
    assert find_currency(text) == code


def test_units_are_read_in_their_short_form():
    assert find_unit("1200 grams") is None or find_unit("1200 gram") == "g"
    assert find_unit("45 minutes") == "min"
    assert find_unit("€ 12") == "eur"
    assert find_unit("12 pieces") is None


@pytest.mark.parametrize(
    ("text", "day"),
    [
        ("2026-03-12", date(2026, 3, 12)),
        ("2026-03-12T23:30:00+02:00", date(2026, 3, 12)),
        ("Published 2026-03-12", date(2026, 3, 12)),
        ("12.03.2026", date(2026, 3, 12)),
        ("12. 3. 2026", date(2026, 3, 12)),
        ("March 12, 2026", date(2026, 3, 12)),
        ("12 Mar 2026", date(2026, 3, 12)),
        ("12th of March 2026", date(2026, 3, 12)),
        ("12. März 2026", date(2026, 3, 12)),
        ("25/12/2026", date(2026, 12, 25)),
        ("12/25/2026", date(2026, 12, 25)),
        ("05/05/2026", date(2026, 5, 5)),
        ("03/12/2026", None),
        ("31.02.2026", None),
        ("Foo 12, 2026", None),
        ("yesterday", None),
    ],
)
def test_a_date_is_read_unless_it_could_be_another(text: str, day: date | None):
    assert read_date(text) == day


def test_a_moment_needs_its_zone():
    assert read_moment("2026-03-12T10:00:00Z") == "2026-03-12T10:00:00+00:00"
    assert read_moment("2026-03-12T10:00:00") is None
    assert read_moment("2026-03-12") is None


@pytest.mark.parametrize(
    ("text", "truth"),
    [
        ("Yes", True), ("https://schema.org/InStock", True), ("In stock", True), ("Sold out", False),
        ("OutOfStock", False), ("no", False), ("perhaps", None), ("PreOrder", None),
    ],
)  # fmt: skip
def test_yes_and_no_are_read(text: str, truth: bool | None):
    assert read_truth(text) is truth
