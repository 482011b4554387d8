"""What a call probably cost whose provider does not say so: it was given up, or its reply does not tell.

Providers bill such calls all the same.
"""

from appliance.events import TokenCount
from appliance.models.base import ModelRequest, Text

_CHARACTERS_PER_TOKEN = 4
_TOKENS_OF_IMAGE = 1_400
"""What a picture of 1280 × 800 costs with the providers that count by area."""
_USUAL_OUTPUT = 300
_MOST_TOKENS = 100_000_000
"""Of a class in one call: more than any model reads or writes."""


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


def believable(told: TokenCount) -> TokenCount:
    """Return what a reply says that it took, each class neither below zero nor beyond what any call takes."""
    classes = (told.input, told.cache_read, told.cache_write, told.output)
    return TokenCount(*(min(max(0, count), _MOST_TOKENS) for count in classes))


def completed(told: TokenCount, request: ModelRequest, text: str) -> TokenCount:
    """Return what a reply says that it took, with an estimate of what it leaves out: the request, or its own text."""
    read = told.input + told.cache_read + told.cache_write
    return TokenCount(
        told.input if read else estimate(request, 0).input,
        told.cache_read,
        told.cache_write,
        told.output or -(-len(text) // _CHARACTERS_PER_TOKEN),
    )
