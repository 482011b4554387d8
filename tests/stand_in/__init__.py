"""A scripted model server: real HTTP in the three wire formats, answers from a scenario, never from a model.

Use it as `with StandIn([{"navigate": {"url": "…"}}, {"done": {"text": "…"}}]) as stand_in:` (or `async with`), give
`stand_in.anthropic_url`, `.openai_url` or `.compatible_url` to the product, read `stand_in.requests` afterwards.
What a scenario may say (answers, slow ones, every kind of failure) is described in scenario.py, how an element is
named by its text in lookup.py.
"""

from tests.stand_in.scenario import Scenario
from tests.stand_in.server import Received, StandIn

__all__ = ["Received", "Scenario", "StandIn"]
