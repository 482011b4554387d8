"""The unmodified client of the cloud against a real server."""

import threading
from collections.abc import Callable
from datetime import timedelta
from decimal import Decimal
from uuid import UUID, uuid4

import pytest
from browser_use_sdk.v3 import AsyncBrowserUse, BrowserUse, BrowserUseError
from pydantic import BaseModel

from appliance.events import ActionCall, ActionFinished, Charge, StepPlanned, TokenCount
from appliance.models.catalog import MODELS, WIRE_MODELS
from appliance.persistence.sessions import change_session
from appliance.words import Ending, FailureKind, Purpose, ReceiptStatus, SessionStatus
from tests.web.api.running import KEY, RunningServer


class Price(BaseModel):
    name: str
    amount: float


def step(number: int) -> StepPlanned:
    return StepPlanned(
        step=number,
        see="A form.",
        plan="Fill it in.",
        move="Type the name.",
        calls=(ActionCall(f"call-{uuid4()}", "input", {"index": 3, "text": "Ada"}),),
        url="http://x.org/",
        title="X",
        tokens=TokenCount(10, 20, 0, 5),
    )


def in_background(work: Callable[[], object]) -> threading.Thread:
    thread = threading.Thread(target=work)
    thread.start()
    return thread


def test_a_session_without_a_task_waits_to_be_given_one(client: BrowserUse) -> None:
    session = client.sessions.create()
    assert session.status.value in ("created", "idle")
    assert session.live_url is not None
    assert session.live_url.startswith("http://127.0.0.1:")
    assert (session.output, session.is_task_successful, session.recording_urls) == (None, None, [])
    assert client.sessions.get(session.id) == session


def test_a_task_that_is_queued_is_created_and_never_idle(client: BrowserUse) -> None:
    session = client.sessions.create("Read the page", model="autopilot", keep_alive=True)
    assert session.status.value == "created"
    assert client.sessions.get(session.id).status.value == "created"
    assert session.title == "Read the page"
    assert session.created_at.utcoffset() == timedelta(0)


def test_the_list_is_newest_first_and_paged(client: BrowserUse) -> None:
    made = [client.sessions.create().id for _ in range(3)]
    first = client.sessions.list(page_size=2)
    second = client.sessions.list(page=2, page_size=2)
    assert [session.id for session in first.sessions] == [made[2], made[1]]
    assert second.sessions[0].id == made[0]
    assert first.total >= 3
    assert (first.page, first.page_size) == (1, 2)
    assert client.sessions.list(page=100_000).sessions == []


def test_a_run_gives_its_text_answer_as_text(client: BrowserUse, server: RunningServer) -> None:
    session = client.sessions.create("What is six times seven?", model="autopilot")
    server.begin(session.id)
    assert client.sessions.get(session.id).status.value == "running"
    server.finish(session.id, output="42")
    ended = client.sessions.get(session.id)
    assert (ended.status.value, ended.output, ended.is_task_successful) == ("stopped", "42", True)


def test_run_waits_for_the_answer_and_parses_it_by_the_schema(client: BrowserUse, server: RunningServer) -> None:
    def work() -> None:
        session_id = wait_for_newest(client, "Find the price")
        server.begin(session_id)
        server.finish(session_id, output={"name": "Lamp", "amount": 12.5})

    background = in_background(work)
    result = client.run("Find the price", output_schema=Price, model="autopilot")
    background.join()
    assert result.output == Price(name="Lamp", amount=12.5)
    assert result.session.output_schema == Price.model_json_schema()


def test_run_with_a_schema_returns_a_failed_result_instead_of_raising(
    client: BrowserUse, server: RunningServer
) -> None:
    def work() -> None:
        session_id = wait_for_newest(client, "Find nothing")
        failure = {"failure": FailureKind.PROVIDER_RATE_LIMIT, "status_code": 429, "is_successful": False}
        server.finish(session_id, SessionStatus.ERROR, ending=Ending.FAILED, **failure)

    background = in_background(work)
    result = client.run("Find nothing", output_schema=Price, model="autopilot")
    background.join()
    assert (result.output, result.session.status.value) == (None, "error")
    with server.client() as http:
        raw = http.get(f"/v3/sessions/{result.session.id}").json()
    assert (raw["failureKind"], raw["failureStatusCode"]) == ("provider_rate_limit", 429)


def test_stream_yields_every_message_once_in_order_and_a_follow_up_only_its_own(
    client: BrowserUse, server: RunningServer
) -> None:
    def work(task: str, steps: int) -> Callable[[], None]:
        def go() -> None:
            session_id = wait_for_newest(client, task)
            server.begin(session_id)
            for number in range(1, steps + 1):
                planned = step(number)
                server.append(session_id, planned)
                receipt = ActionFinished(number, planned.calls[0].call_id, "input", ReceiptStatus.OK, "Typed.", 5)
                server.append(session_id, receipt)
            server.finish(session_id, SessionStatus.IDLE, output=f"answer to {task}")

        return go

    background = in_background(work("first task", 60))
    stream = client.stream("first task", model="autopilot", keep_alive=True)
    first = list(stream)
    background.join()
    assert stream.result is not None
    assert stream.result.output == "answer to first task"
    roles = [message.role for message in first if not message.hidden]
    assert roles == ["user", *["assistant", "tool"] * 60, "assistant"]
    assert len({message.id for message in first}) == len(first)

    background = in_background(work("second task", 1))
    stream = client.stream("second task", session_id=stream.result.session.id)
    second = list(stream)
    background.join()
    assert stream.result is not None
    assert stream.result.output == "answer to second task"
    assert [message.role for message in second if not message.hidden] == ["user", "assistant", "tool", "assistant"]


async def test_the_async_client_runs_and_streams_too(server: RunningServer) -> None:
    client = AsyncBrowserUse(api_key=KEY, base_url=f"{server.url}/v3")
    try:
        session = await client.sessions.create("async task", model="autopilot")
        assert (await client.sessions.get(session.id)).status.value == "created"
        server.begin(session.id)
        server.finish(session.id, output="done")
        messages = await client.sessions.messages(session.id)
        assert [message.role for message in messages.messages if not message.hidden] == ["user", "assistant"]
        assert (await client.sessions.list()).total > 0
        await client.sessions.delete(session.id)
        with pytest.raises(BrowserUseError, match="Session not found"):
            await client.sessions.get(session.id)
    finally:
        await client.close()


def test_stopping_the_task_leaves_an_idle_session_and_stopping_the_session_ends_it(client: BrowserUse) -> None:
    session = client.sessions.create("wait", model="autopilot", keep_alive=True)
    stopped = client.sessions.stop(session.id, strategy="task")
    assert (stopped.status.value, stopped.output, stopped.is_task_successful) == ("idle", None, False)
    again = client.sessions.create("once more", session_id=session.id)
    assert (again.id, again.status.value) == (session.id, "created")
    assert client.sessions.stop(session.id).status.value == "stopped"
    assert client.sessions.stop(session.id).status.value == "stopped"


def test_a_busy_or_ended_session_takes_no_task(client: BrowserUse) -> None:
    session = client.sessions.create("wait", model="autopilot", keep_alive=True)
    with pytest.raises(BrowserUseError, match="busy") as busy:
        client.sessions.create("again", session_id=session.id)
    client.sessions.stop(session.id)
    with pytest.raises(BrowserUseError, match="ended") as ended:
        client.sessions.create("again", session_id=session.id)
    assert (busy.value.status_code, ended.value.status_code) == (409, 409)


def test_a_deleted_session_is_gone(client: BrowserUse) -> None:
    session = client.sessions.create("wait", model="autopilot")
    assert client.sessions.delete(session.id) is None
    for call in (client.sessions.get, client.sessions.stop, client.sessions.messages, client.sessions.delete):
        with pytest.raises(BrowserUseError, match="Session not found") as gone:
            call(session.id)
        assert gone.value.status_code == 404
    assert session.id not in [one.id for one in client.sessions.list(page_size=100).sessions]


def test_message_pages_follow_the_client_s_rules(client: BrowserUse, server: RunningServer) -> None:
    session = client.sessions.create("page", model="autopilot", keep_alive=True)
    server.begin(session.id)
    for number in range(1, 31):
        server.append(session.id, step(number))
    everything = client.sessions.messages(session.id, limit=100).messages
    ids = [str(message.id) for message in everything]
    newest = client.sessions.messages(session.id, limit=1)
    assert ([str(message.id) for message in newest.messages], newest.has_more) == (ids[-1:], True)
    default = client.sessions.messages(session.id)
    assert [str(message.id) for message in default.messages] == ids[-10:]
    before = client.sessions.messages(session.id, before=ids[20], limit=5)
    assert ([str(message.id) for message in before.messages], before.has_more) == (ids[15:20], True)
    after = client.sessions.messages(session.id, after=ids[20], limit=5)
    assert ([str(message.id) for message in after.messages], after.has_more) == (ids[21:26], True)
    beyond = client.sessions.messages(session.id, after=ids[-1], limit=5)
    assert (beyond.messages, beyond.has_more) == ([], False)


@pytest.mark.parametrize("amount", ["0.00005", 0.00005, 5, "12.50", 1e-7])
def test_money_limits_come_back_as_plain_decimals(client: BrowserUse, amount: float | str) -> None:
    session = client.sessions.create(max_cost_usd=amount, model="autopilot")
    assert session.max_cost_usd is not None
    assert Decimal(session.max_cost_usd.root) == Decimal(str(amount))


def test_totals_are_plain_decimals_however_small(client: BrowserUse, server: RunningServer) -> None:
    session = client.sessions.create("cheap", model="autopilot")
    server.begin(session.id)
    planned = step(1)
    server.append(session.id, planned, None, [Charge(Purpose.STEP, "m", planned.tokens, Decimal("0.000007"))])
    after = client.sessions.get(session.id)
    assert (after.llm_cost_usd, after.total_cost_usd, after.proxy_cost_usd) == ("0.000007", "0.000007", "0")
    assert (after.total_input_tokens, after.total_output_tokens) == (30, 5)
    assert after.step_count == 1
    assert after.last_step_summary == "Type the name."


def test_every_model_and_every_old_row_has_a_name_that_the_client_knows(
    client: BrowserUse, server: RunningServer
) -> None:
    assert {entry.wire_name for entry in MODELS} <= WIRE_MODELS
    session = client.sessions.create()
    server.write(lambda tx: change_session(tx, session.id, model="gone-9", wire_model="gone-9"))
    assert client.sessions.get(session.id).model.value == "bu-max"
    client.sessions.list(page_size=100)


def test_an_unknown_model_is_refused_by_name_and_poisons_nothing(client: BrowserUse) -> None:
    with pytest.raises(BrowserUseError, match="model") as refused:
        client.sessions.create("x", model="gpt-99")
    assert refused.value.status_code == 422
    assert refused.value.detail["detail"][0]["loc"] == ["body", "model"]
    client.sessions.list(page_size=100)


def test_an_unknown_key_is_refused(server: RunningServer) -> None:
    stranger = BrowserUse(api_key="bu_wrong", base_url=f"{server.url}/v3")
    with pytest.raises(BrowserUseError, match="API key is not known") as refused:
        stranger.sessions.list()
    assert refused.value.status_code == 401
    stranger.close()


def wait_for_newest(client: BrowserUse, task: str) -> UUID:
    """Return the session that was made for the task, once it is there and waits."""
    sleeping = threading.Event()
    for _ in range(500):
        for session in client.sessions.list(page_size=5).sessions:
            newest = client.sessions.messages(session.id, limit=3).messages
            if session.status.value == "created" and any(message.summary == task for message in newest):
                return session.id
        sleeping.wait(0.02)
    raise AssertionError("the session did not come")
