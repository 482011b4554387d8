"""The web addresses that a task names."""

import re
from urllib.parse import urlsplit

_ADDRESS = re.compile(
    r"https?://[^\s<>\"'`]+|(?<![\w@/.-])(?:[a-z0-9-]+\.)+[a-z]{2,}(?::\d+)?(?:/[^\s<>\"'`]*)?", re.IGNORECASE
)
_WHOLE = re.compile(r"https?://\S+")
_FILE_ENDINGS = (".md", ".txt", ".py", ".js", ".json", ".csv", ".pdf", ".doc", ".docx", ".xls", ".xlsx", ".png", ".jpg")
_CLOSING = {")": "(", "]": "[", "}": "{"}


def find_address(task: str) -> str | None:
    """Return the first web address in the task, with https:// put before a bare host name; None without any."""
    for match in _ADDRESS.finditer(task):
        address = _without_tail(match[0])
        if "://" in address:
            return address
        if not address.lower().endswith(_FILE_ENDINGS):
            return f"https://{address}"
    return None


def without_addresses(task: str) -> str:
    """Return the task's own words: without the addresses that are written out in it."""
    return _WHOLE.sub(" ", task)


def is_same_page(url: str, address: str) -> bool:
    """Say whether both name the same page; the fragment and a slash at the end do not count."""
    one, other = (urlsplit(text) for text in (url, address))
    same_place = (one.scheme, one.netloc.lower(), one.query) == (other.scheme, other.netloc.lower(), other.query)
    return same_place and one.path.rstrip("/") == other.path.rstrip("/")


def _without_tail(address: str) -> str:
    """Drop the punctuation of the sentence around an address, but keep brackets that it opens itself."""
    while address:
        last = address[-1]
        if last in ".,;:!?…”’»*_" or (last in _CLOSING and address.count(last) > address.count(_CLOSING[last])):
            address = address[:-1]
        else:
            break
    return address
