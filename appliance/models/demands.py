"""What a task demands beyond its address: how many rows, how many pages, and what only judgement or hands could do."""

import re

from appliance.models.addresses import without_addresses

_NUMBERS = {
    "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9, "ten": 10,
    "twelve": 12, "fifteen": 15, "twenty": 20, "thirty": 30, "fifty": 50, "hundred": 100,
}  # fmt: skip
_NUMBER = rf"(\d{{1,4}}|{'|'.join(_NUMBERS)})"
_WANTED = (
    re.compile(
        rf"\b(?:first|top|up to|at most|no more than|maximum(?: of)?)\s+{_NUMBER}\b(?!\s+pages?\b)", re.IGNORECASE
    ),
    re.compile(
        rf"\b{_NUMBER}\s+(?:\w+\s+)?(?:items|products|articles|results|rows|records|entries|posts|books|jobs|events|offers"
        r"|listings|wares|things|names|links|hits)\b",
        re.IGNORECASE,
    ),
)
_PAGES = re.compile(
    rf"\b(?:first\s+|up to\s+)?{_NUMBER}\s+pages\b|\bfirst page\b|\bonly (?:this|the first) page\b", re.IGNORECASE
)
_BEYOND = {
    "sign in": r"log ?in|sign ?in|sign up|register(?! of)|password",
    "fill in forms": r"fill (?:in|out)|submit|subscribe|book a|reserve|order (?:a|the|it)|buy|purchase"
    r"|add .{0,30}to (?:the )?(?:cart|basket)",
    "search a site": r"search for|look for|type .{0,30}into",
    "compare or judge": r"cheapest|most expensive|best|worst|compare|recommend|which (?:one|of)|decide|rank"
    r"|sort(?:ed)? by"
    r"|under [$€£]?\d|less than [$€£]?\d|more than [$€£]?\d|relevant|summar(?:ise|ize|y)|translate",
}


def wanted_rows(task: str) -> int | None:
    """Return how many rows a task asks for, None when it names no number."""
    plain = without_addresses(task)
    for pattern in _WANTED:
        if match := pattern.search(plain):
            return _read(match[1]) or None
    return None


def wanted_pages(task: str) -> int | None:
    """Return to how many pages of a list a task keeps, None when it does not say."""
    match = _PAGES.search(without_addresses(task))
    return None if match is None else _read(match[1]) if match[1] else 1


def beyond_reading(task: str) -> tuple[str, ...]:
    """Return what a task seems to ask for that reading pages is not: to sign in, to fill in forms, to judge."""
    plain = without_addresses(task)
    return tuple(name for name, words in _BEYOND.items() if re.search(rf"\b(?:{words})\b", plain, re.IGNORECASE))


def _read(number: str) -> int:
    return int(number) if number.isdigit() else _NUMBERS[number.lower()]
