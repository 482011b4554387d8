"""What holds for every provider, through its own client."""

import asyncio
import json
import socket

import pytest

from appliance.errors import RunFailed
from appliance.events import TokenCount
from appliance.models.base import Text
from appliance.models.providers import ProviderKeys, find_model, open_model
from appliance.words import FailureKind
from tests.appliance.models.asking import (
    ALL,
    CLAUDE,
    GPT,
    KEY,
    LOCAL,
    PICTURE,
    a_request,
    ask_both_ways,
    opened,
    same_json,
)
from tests.stand_in import StandIn

SETTING = {CLAUDE: "ANTHROPIC", GPT: "OPENAI", LOCAL: "COMPATIBLE"}
each_model = pytest.mark.parametrize("name", ALL)


async def failure_of(name: str, stand_in: StandIn, *, streamed: bool = False, **changes: object) -> RunFailed:
    async def listen(_: str) -> None:
        pass

    async with opened(name, stand_in) as model:
        with pytest.raises(RunFailed) as failed:
            await model.ask(a_request(**changes), listen if streamed else None)
    assert KEY not in failed.value.message
    assert failed.value.message.endswith(".")
    return failed.value


@each_model
async def test_a_reply_is_the_same_whole_and_streamed(name: str):
    step = {"what_i_see": "Grüße – “quoted”\nlines", "action": [{"click": {"index": {"text": "Save"}}}]}
    async with StandIn([step]) as stand_in, opened(name, stand_in) as model:
        whole, streamed, pieces = await ask_both_ways(model, a_request())
        assert stand_in.requests[1].body["stream"] is True
        assert "stream" not in stand_in.requests[0].body or not stand_in.requests[0].body["stream"]
    assert json.loads(whole.text) == {**step, "action": [{"click": {"index": 3}}]}
    assert same_json(whole.text, streamed.text)
    assert "".join(pieces) == streamed.text
    assert len(pieces) > 1
    assert (whole.stop, streamed.stop) == ("end", "end")
    assert whole.tokens == streamed.tokens
    assert whole.tokens.output > 0


@each_model
async def test_text_pictures_and_system_prompt_arrive(name: str):
    async with StandIn() as stand_in, opened(name, stand_in) as model:
        assert model.sees_images
        await model.ask(a_request())
    received = stand_in.requests[0]
    assert received.images == [PICTURE]
    assert received.kind == "step"
    assert "You use a browser." in received.text
    assert received.text.index("The task.") < received.text.index("History.") < received.text.index("[3]<button>Save")


@each_model
async def test_without_a_shape_the_reply_is_free_text(name: str):
    async with StandIn({"extracts": ["# Lamps\n\nTen of them."]}) as stand_in, opened(name, stand_in) as model:
        whole, streamed, _ = await ask_both_ways(model, a_request(shape=None))
        assert "tools" not in stand_in.requests[0].body
        assert "json_schema" not in stand_in.requests[0].text
    assert whole.text == streamed.text == "# Lamps\n\nTen of them."


@each_model
async def test_tokens_are_counted_in_four_classes_that_add_up(name: str):
    usage = {"input": 1_200, "cache_read": 500, "cache_write": 300, "output": 20}
    if name == LOCAL:
        usage |= {"input": 1_500, "cache_write": 0}
    step = {"reply": {"done": {"text": "x"}}, "__usage__": usage}
    async with StandIn([step]) as stand_in, opened(name, stand_in) as model:
        whole, streamed, _ = await ask_both_ways(model, a_request())
    assert whole.tokens == streamed.tokens == TokenCount(**usage)


@each_model
async def test_the_model_that_answered_is_named(name: str):
    step = {"reply": {"done": {"text": "x"}}, "__model__": "model-2026-01-01"}
    async with StandIn([step]) as stand_in, opened(name, stand_in) as model:
        whole, streamed, _ = await ask_both_ways(model, a_request())
    assert whole.model_name == streamed.model_name == "model-2026-01-01"


@each_model
async def test_a_cut_reply_says_so(name: str):
    step = {"reply": {"done": {"text": "x" * 300}}, "__truncated__": 40, "__text__": True}
    async with StandIn([step]) as stand_in, opened(name, stand_in) as model:
        whole, streamed, _ = await ask_both_ways(model, a_request())
    assert (whole.stop, streamed.stop) == ("length", "length")
    assert len(whole.text) == len(streamed.text) == 40


@each_model
async def test_a_refusal_says_so(name: str):
    step = {"reply": "I will not do that.", "__refusal__": True}
    async with StandIn([step]) as stand_in, opened(name, stand_in) as model:
        whole, streamed, _ = await ask_both_ways(model, a_request())
    assert (whole.stop, streamed.stop) == ("refusal", "refusal")
    assert whole.text == streamed.text == "I will not do that."


@each_model
async def test_nonsense_is_handed_on_as_it_came(name: str):
    async with StandIn(["Well, let me think about that."]) as stand_in, opened(name, stand_in) as model:
        whole, streamed, _ = await ask_both_ways(model, a_request())
    assert whole.text == streamed.text == "Well, let me think about that."


@each_model
async def test_an_empty_answer_keeps_the_tokens_it_cost(name: str):
    step = {"reply": "", "__text__": True, "__usage__": {"output": 7}}
    async with StandIn([step]) as stand_in, opened(name, stand_in) as model:
        whole, streamed, _ = await ask_both_ways(model, a_request())
        assert len(stand_in.requests) == 2
    assert (whole.text, streamed.text, whole.stop) == ("", "", "end")
    assert whole.tokens.output == streamed.tokens.output == 7


@each_model
async def test_a_wrong_key_names_the_setting_and_not_the_key(name: str):
    body = {"error": {"type": "authentication_error", "message": f"Incorrect API key provided: {KEY}."}}
    async with StandIn([{"__http__": 401, "body": body}]) as stand_in:
        failure = await failure_of(name, stand_in)
        assert len(stand_in.requests) == 1
    assert (failure.failure, failure.status_code) == (FailureKind.PROVIDER_ERROR, 401)
    assert f"check {SETTING[name]}_API_KEY" in failure.message


@each_model
@pytest.mark.parametrize("streamed", [False, True])
async def test_a_rate_limit_is_waited_for_and_then_told(name: str, streamed: bool):
    async with StandIn([{"__http__": 429, "message": "Slow down, sk-live-0123456789."}]) as stand_in:
        failure = await failure_of(name, stand_in, streamed=streamed)
        assert len(stand_in.requests) == 3
    assert (failure.failure, failure.status_code) == (FailureKind.PROVIDER_RATE_LIMIT, 429)
    assert "Slow down" in failure.message
    assert "sk-live" not in failure.message


@each_model
async def test_a_short_fault_is_survived(name: str):
    steps = [{"__http__": 529}, {"__drop__": True}, {"done": {"text": "x"}}]
    async with StandIn(steps) as stand_in, opened(name, stand_in) as model:
        reply = await model.ask(a_request())
    assert "done" in reply.text


@each_model
async def test_a_wait_of_more_than_a_minute_is_not_waited_for(name: str):
    async with StandIn([{"__http__": 429, "retry_after": 3_600}]) as stand_in:
        failure = await failure_of(name, stand_in)
        assert len(stand_in.requests) == 1
    assert failure.failure is FailureKind.PROVIDER_RATE_LIMIT
    assert "try again in 3600 s" in failure.message
    assert failure.retry_after == 3_600


@each_model
async def test_a_server_error_is_the_providers(name: str):
    async with StandIn([{"__http__": 503, "message": "No capacity"}]) as stand_in:
        failure = await failure_of(name, stand_in)
    assert (failure.failure, failure.status_code) == (FailureKind.PROVIDER_SERVER_ERROR, 503)
    assert "No capacity" in failure.message


@each_model
async def test_a_refused_request_is_told_with_the_providers_reason(name: str):
    async with StandIn([{"__http__": 400, "message": "messages: text is not valid"}]) as stand_in:
        failure = await failure_of(name, stand_in)
    assert (failure.failure, failure.status_code) == (FailureKind.PROVIDER_ERROR, 400)
    assert "messages: text is not valid" in failure.message


@each_model
async def test_a_model_the_provider_does_not_have_is_named(name: str):
    async with StandIn([{"__http__": 404, "message": "model not found"}]) as stand_in:
        failure = await failure_of(name, stand_in)
    assert failure.status_code == 404
    assert f"{SETTING[name]}_BASE_URL" in failure.message


@each_model
@pytest.mark.parametrize("streamed", [False, True])
async def test_no_answer_in_time_is_a_timeout(name: str, streamed: bool):
    async with StandIn([{"__hang__": True}]) as stand_in:
        failure = await failure_of(name, stand_in, streamed=streamed, timeout=0.5)
    assert failure.failure is FailureKind.PROVIDER_TIMEOUT
    assert "within 0.5 s" in failure.message


@each_model
async def test_nobody_listening_is_a_connection_error_with_its_cause(name: str):
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        address = f"http://127.0.0.1:{unused.getsockname()[1]}"
        keys = ProviderKeys(KEY, address, KEY, address, address, KEY, (LOCAL,))
        model = open_model(find_model(name, keys), keys)
        with pytest.raises(RunFailed) as failed:
            await model.ask(a_request())
        await model.close()
    assert failed.value.failure is FailureKind.PROVIDER_CONNECTION_ERROR
    assert failed.value.status_code is None
    assert address in failed.value.message
    assert f"{SETTING[name]}_BASE_URL" in failed.value.message
    assert "Connect" in failed.value.message.split("(")[1]


@each_model
async def test_an_address_that_speaks_something_else_is_told(name: str):
    async def serve_page(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        page = b"<html><body>Sign in</body></html>"
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nConnection: close\r\n")
        writer.write(b"Content-Length: %d\r\n\r\n%s" % (len(page), page))
        await writer.drain()
        writer.close()

    server = await asyncio.start_server(serve_page, "127.0.0.1", 0)
    async with server:
        address = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
        keys = ProviderKeys(KEY, address, KEY, address, address, KEY, (LOCAL,))
        for listen in (None, _ignore):
            model = open_model(find_model(name, keys), keys)
            with pytest.raises(RunFailed) as failed:
                await model.ask(a_request(), listen)
            await model.close()
            assert failed.value.failure is FailureKind.PROVIDER_ERROR
            assert f"check {SETTING[name]}_BASE_URL" in failed.value.message


async def _ignore(_: str) -> None:
    pass


@each_model
async def test_a_model_can_be_asked_by_several_at_once_and_after_closing(name: str):
    async with (
        StandIn([{"reply": {"done": {"text": "x"}}, "__delay__": 0.1}]) as stand_in,
        opened(name, stand_in) as model,
    ):
        replies = await asyncio.gather(*(model.ask(a_request(Text(f"RUN-{number}"))) for number in range(4)))
        assert len(replies) == 4
        await model.close()
        assert "done" in (await model.ask(a_request())).text
