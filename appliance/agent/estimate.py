"""What a call probably cost that was given up before its reply could tell: providers bill such calls all the same."""

from appliance.events import TokenCount
from appliance.models.base import ModelRequest, Text

_CHARACTERS_PER_TOKEN = 4
_TOKENS_OF_IMAGE = 1_400
"""What a picture of 1280 × 800 costs with the providers that count by area."""
_USUAL_OUTPUT = 300


def estimate(request: ModelRequest, usual_output: int) -> TokenCount:
    """Return the tokens of a request and of a reply of usual length, all at the full rate of uncached input.

    `usual_output` is the average of the replies so far in tokens, 0 when there are none.
    """
    parts = [part for message in request.messages for part in message.parts]
    texts = sum(len(part.text) for part in parts if isinstance(part, Text))
    images = sum(not isinstance(part, Text) for part in parts)
    shape = request.shape.size if request.shape is not None else 0
    characters = len(request.system) + texts + shape
    return TokenCount(
        input=characters // _CHARACTERS_PER_TOKEN + images * _TOKENS_OF_IMAGE,
        output=min(usual_output or _USUAL_OUTPUT, request.max_output_tokens),
    )
