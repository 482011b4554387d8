"""Scripts are shown while the model writes them, whatever the provider, and only where scripts can be run."""

import asyncio
import json
import os

import pytest

from appliance.agent.writing import Forming, Writing, find_forming
from appliance.browser.connection import Browser
from appliance.models.base import Message, ModelRequest, Purpose, Text
from appliance.workspaces.sandbox import Sandbox
from appliance.workspaces.sandbox_start import Direct
from tests.appliance.agent.conftest import NAMES, Prepare, open_model_of
from tests.appliance.models.asking import SHAPE
from tests.stand_in import StandIn

CODE = 'rows = ["a\\n", "é😀"]\nname = {"name": "not this"}\nprint(f"{rows!r}\\\\")\n' + "# a line\n" * 40
CALL = {"run_code_file": {"name": "rows.py", "code": CODE}}
REPLY = {"what_i_see": 'He said "code": "x"', "plan_to_goal": "b", "next_move": "c", "action": [{"wait": {}}, CALL]}
DONE = {"done": {"text": "It is done."}}


class Screen:
    """Keeps what was shown, and shows it slowly when told to."""

    def __init__(self) -> None:
        self.shown: list[tuple[str, str]] = []
        self.go_on = asyncio.Event()
        self.go_on.set()

    async def show(self, name: str, code: str) -> None:
        self.shown.append((name, code))
        await self.go_on.wait()


@pytest.mark.parametrize("is_ascii", [True, False])
def test_every_beginning_of_a_reply_shows_a_beginning_of_the_script(is_ascii: bool) -> None:
    text = json.dumps(REPLY, ensure_ascii=is_ascii)
    seen = [find_forming(text[:end]) for end in range(len(text) + 1)]
    found = [forming for forming in seen if forming is not None]
    assert {forming.name for forming in found} == {"rows.py"}
    assert all(CODE.startswith(forming.code.rstrip("\N{REPLACEMENT CHARACTER}")) for forming in found)
    assert [len(forming.code) for forming in found] == sorted(len(forming.code) for forming in found)
    assert found[-1] == Forming("rows.py", CODE)


def test_a_name_that_comes_after_the_code_is_found() -> None:
    assert find_forming('{"run_code_file": {"code": "x = 1", "name": "late.py"}') == Forming("late.py", "x = 1")
    assert find_forming('{"run_code_file": {"code": "x = {\\"name\\": 1}') == Forming("script.py", 'x = {"name": 1}')


def test_what_has_no_end_yet_is_passed_over_at_once() -> None:
    begun = '{"run_code_file": {"code": "x = 1", "name": "' + "late" * 2_000
    assert find_forming(begun) == Forming("script.py", "x = 1")
    assert find_forming(begun + "\\u12") == Forming("script.py", "x = 1")


def test_of_a_reply_that_is_begun_again_the_last_script_counts() -> None:
    text = json.dumps({"run_code_file": {"name": "a.py", "code": "a"}})
    assert find_forming(text + '{"run_code_file": {"name": "b.py", "code": "b') == Forming("b.py", "b")


def test_without_a_script_there_is_nothing_to_show() -> None:
    assert find_forming("") is None
    assert find_forming(json.dumps({"action": [DONE]})) is None
    assert find_forming('{"run_code_file": {"name": "a.py"') is None


async def test_what_is_still_being_shown_is_not_overtaken() -> None:
    screen = Screen()
    screen.go_on.clear()
    writing = Writing(screen.show, pause=0.0)
    await writing.take('{"run_code_file": {"name": "a.py", "code": "x')
    for _ in range(1000):
        await writing.take("x")
    finishing = asyncio.create_task(writing.finish())
    await asyncio.sleep(0)
    assert not finishing.done()
    screen.go_on.set()
    await finishing
    assert screen.shown == [("a.py", "x")]


@pytest.mark.parametrize("provider", [name for name in NAMES if name != "autopilot"])
async def test_the_replies_of_every_provider_are_followed(provider: str) -> None:
    stand_in = StandIn([REPLY])
    model = open_model_of(stand_in, provider)
    screen = Screen()
    writing = Writing(screen.show, pause=0.0)
    request = ModelRequest(Purpose.STEP, "You use a browser.", (Message("user", (Text("Go."),)),), shape=SHAPE)
    try:
        await model.ask(request, writing.take)
        await writing.finish()
    finally:
        await model.close()
        await asyncio.to_thread(stand_in.close)
    assert 0 < len(screen.shown[0][1]) < len(CODE)
    assert all(name == "rows.py" and CODE.startswith(code) for name, code in screen.shown)


@pytest.mark.browser
@pytest.mark.skipif(os.geteuid() != 0, reason="only root can start programs as another user")
@pytest.mark.parametrize("provider", ["anthropic", "openai", "compatible"])
async def test_a_run_asks_for_streams_only_where_scripts_can_be_run(
    prepare: Prepare, browser: Browser, provider: str
) -> None:
    sandbox = Sandbox(Direct())
    work = prepare([{"run_code_file": {"name": "sum.py", "code": "21 * 2"}}, DONE], provider=provider)
    work.agent._context.sandbox = sandbox
    try:
        outcome = await work.agent.run()
    finally:
        await sandbox.close()
    assert outcome.is_successful
    assert "42" in work.asked[1].text
    assert [bool(asked.body.get("stream")) for asked in work.asked] == [True, True]
    assert "script_run" in work.notices


@pytest.mark.browser
async def test_a_run_without_scripts_asks_for_whole_replies(prepare: Prepare) -> None:
    work = prepare([DONE])
    await work.agent.run()
    assert [bool(asked.body.get("stream")) for asked in work.asked] == [False]
