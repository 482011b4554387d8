"""Puzzles of pictures to be picked that are open in a page: recognised only."""

from appliance.captcha.base import Captcha, Clues, Strategy, Traces


def make_strategy(kind: str, title: str, selector: str, advice: str) -> Strategy:
    """Return the strategy for a puzzle whose visible elements a selector finds."""

    def find(traces: Traces) -> Captcha | None:
        is_open = any(one.is_visible for one in traces.matching(selector))
        return Captcha(traces.document) if is_open else None

    return Strategy(kind=kind, title=title, clues=Clues(elements=(selector,)), find=find, advice=advice)
