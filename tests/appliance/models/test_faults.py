"""What goes wrong at a provider and beside it: failures inside an HTTP 200, answers that break off, overflows."""

import asyncio

import pytest

from appliance.errors import ContextOverflow, RunFailed
from appliance.models.failures import Service
from appliance.words import FailureKind
from tests.appliance.models.asking import ALL, CLAUDE, GPT, LOCAL, a_request, opened
from tests.stand_in import StandIn

each_model = pytest.mark.parametrize("name", ALL)
both_ways = pytest.mark.parametrize("streamed", [False, True])
SERVICE = Service("The provider", "", "THE_KEY", "THE_ADDRESS", "")


async def ignore(_: str) -> None:
    pass


async def failure_of(name: str, step: object, *, streamed: bool) -> tuple[RunFailed, int]:
    """How a call ends, and how often the provider was asked."""
    async with StandIn([step]) as stand_in, opened(name, stand_in) as model:
        with pytest.raises(RunFailed) as failed:
            await model.ask(a_request(), ignore if streamed else None)
    return failed.value, len(stand_in.requests)


@each_model
@both_ways
@pytest.mark.parametrize(
    ("word", "kind"),
    [
        ("server_error", FailureKind.PROVIDER_SERVER_ERROR),
        ("overloaded_error", FailureKind.PROVIDER_SERVER_ERROR),
        ("request_timeout", FailureKind.PROVIDER_TIMEOUT),
        ("rate_limit_exceeded", FailureKind.PROVIDER_RATE_LIMIT),
    ],
)
async def test_a_passing_failure_inside_an_answer_can_be_asked_again(
    name: str, word: str, kind: FailureKind, streamed: bool
):
    failure, asked = await failure_of(name, {"__stream_error__": word}, streamed=streamed)
    assert (failure.failure, failure.is_transient, asked) == (kind, True, 1)
    assert "This failure is scripted" in failure.message


@each_model
@both_ways
async def test_a_failure_inside_an_answer_that_stays_is_not_asked_again(name: str, streamed: bool):
    failure, _ = await failure_of(name, {"__stream_error__": "invalid_prompt"}, streamed=streamed)
    assert (failure.failure, failure.is_transient) == (FailureKind.PROVIDER_ERROR, False)


@each_model
async def test_a_stream_that_is_cut_off_can_be_asked_again_and_names_its_cause(name: str):
    step = {"reply": {"done": {"text": "x" * 500}}, "__cut__": 3}
    failure, asked = await failure_of(name, step, streamed=True)
    assert (failure.failure, failure.is_transient, asked) == (FailureKind.PROVIDER_CONNECTION_ERROR, True, 1)
    assert "RemoteProtocolError: peer closed connection" in failure.message


@each_model
async def test_a_whole_answer_that_is_cut_off_is_asked_again_by_the_client_itself(name: str):
    failure, asked = await failure_of(name, {"reply": {"done": {"text": "x"}}, "__cut__": 1}, streamed=False)
    assert (failure.failure, failure.is_transient, asked) == (FailureKind.PROVIDER_CONNECTION_ERROR, False, 3)


@pytest.mark.parametrize("name", [CLAUDE, GPT])
async def test_a_stream_without_its_last_event_is_an_answer_cut_off(name: str):
    events = {
        CLAUDE: 'event: message_start\ndata: {"type": "message_start", "message": {"model": "m", "content": []}}\n\n',
        GPT: 'event: response.created\ndata: {"type": "response.created", "sequence_number": 0, "response": {}}\n\n',
    }

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n")
        writer.write(events[name].encode())
        await writer.drain()
        writer.close()

    async with await asyncio.start_server(serve, "127.0.0.1", 0) as server, StandIn() as stand_in:
        stand_in.port = server.sockets[0].getsockname()[1]
        async with opened(name, stand_in) as model:
            with pytest.raises(RunFailed, match="without its last event") as failed:
                await model.ask(a_request(), ignore)
    assert failed.value.is_transient


@each_model
@both_ways
async def test_a_request_longer_than_the_window_is_an_overflow(name: str, streamed: bool):
    async with StandIn([{"done": {"text": "x"}}], window=100) as stand_in, opened(name, stand_in) as model:
        with pytest.raises(ContextOverflow, match="longer than what the model reads"):
            await model.ask(a_request(system="x" * 101), ignore if streamed else None)
        assert len(stand_in.requests) == 1


@pytest.mark.parametrize(
    "said",
    [
        "prompt is too long: 214512 tokens > 200000 maximum",
        "input length and `max_tokens` exceed context limit: 195000 + 16000 > 200000",
        "Your input exceeds the context window of this model.",
        "This model's maximum context length is 8192 tokens. However, you requested 9021 tokens.",
        "The decoder prompt (length 9021) is longer than the maximum model length of 8192.",
        "the request exceeds the available context size (8192 tokens), try increasing it",
        "request (70494 tokens) exceeds the available context size (67584 tokens)",
        "Trying to keep the first 111490 tokens when context the overflows.",
        "The number of tokens to keep from the initial prompt is greater than the context length.",
        "Context size has been exceeded.",
        "input length exceeds maximum context length",
        "prompt too long; exceeded max context length by 12 tokens",
        "This endpoint's maximum context length is 32768 tokens.",
        "The input token count (1196265) exceeds the maximum number of tokens allowed (1048575).",
        "This model's maximum prompt length is 131072 but the request contains 537812 tokens.",
        "Please reduce the length of the messages or completion.",
        "Input is too long for requested model.",
        "`inputs` tokens + `max_new_tokens` must be <= 4096.",
    ],
)
def test_every_servers_words_for_too_long_are_known(said: str):
    assert SERVICE.overflow(400, "invalid_request_error", said) is not None
    assert SERVICE.overflow(500, "", said) is not None


@pytest.mark.parametrize(
    ("status", "said"),
    [
        (429, "Request too large for gpt-5.5 on tokens per min (TPM): Limit 30000, Requested 50000."),
        (400, "max_tokens: 200000 > 128000, which is the maximum allowed number of output tokens"),
        (400, "image exceeds 5 MB maximum"),
        (400, "messages.0.content: at least one block is required"),
        (404, "model not found"),
        (500, "Internal server error"),
    ],
)
def test_other_refusals_are_no_overflow(status: int, said: str):
    assert SERVICE.overflow(status, "invalid_request_error", said) is None


async def test_a_server_that_answers_an_overflow_with_200_is_understood():
    body = {"error": "Trying to keep the first 9000 tokens when context the overflows."}
    async with StandIn([{"__http__": 200, "body": body}]) as stand_in, opened(LOCAL, stand_in) as model:
        with pytest.raises(ContextOverflow):
            await model.ask(a_request())


def test_a_dropped_connection_names_the_cause_at_its_bottom():
    try:
        try:
            raise OSError(24, "Too many open files")
        except OSError as inner:
            raise RuntimeError("All connection attempts failed") from inner
    except RuntimeError as outer:
        failure = SERVICE.unreachable(outer)
    assert "(OSError: [Errno 24] Too many open files)" in failure.message
