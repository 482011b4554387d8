"""What the scripted model is told to do in many tests."""

from tests.site import Site

Action = dict[str, object]


def navigate(site: Site, path: str = "/agent_cart.html") -> Action:
    return {"navigate": {"url": site.url(path)}}


def click(text: str, nth: int = 1) -> Action:
    return {"click": {"index": {"text": text, "nth": nth}}}
