import json
import subprocess
import sys
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any

import pytest

from tests.stand_in import Scenario, StandIn
from tests.stand_in.leaks import LEAKS
from tests.stand_in.lookup import NotOnPage, find_index, resolve

STEP_TOOL = {"name": "act", "input_schema": {"type": "object", "properties": {"action": {"type": "array"}}}}

PAGE = """URL: http://127.0.0.2/form
Title: Form
[1]<a href=/>Home
Your e-mail
[2]<input type=email placeholder="you@example.com">
 [3]<button type=submit>Save as draft
*[4]<button type=submit>Save
[5]<button covered-by="a > b">Save
[6]<select value="Red" options="Red | Blue">Colour
Tabs:
ab12 (current) Form http://127.0.0.2/form
cd34 Terms of use http://127.0.0.2/terms"""


def ask(stand_in: StandIn, text: str, *earlier: str) -> Any:
    return post(stand_in, text, *earlier, tools=[STEP_TOOL])["content"][0]["input"]["action"]


def post(stand_in: StandIn, text: str, *earlier: str, **more: Any) -> Any:
    messages = [{"role": "user", "content": [{"type": "text", "text": part} for part in (*earlier, text)]}]
    body = {"model": "m", "max_tokens": 9, "messages": messages, **more}
    address = f"{stand_in.anthropic_url}/v1/messages"
    headers = {"x-api-key": "hidden", "content-type": "application/json"}
    request = urllib.request.Request(address, json.dumps(body).encode(), headers)
    with urllib.request.urlopen(request, timeout=5) as response:
        return json.load(response)


@pytest.mark.parametrize(
    ("selector", "index"),
    [
        ({"text": "Save"}, 4),
        ({"text": "save "}, 4),
        ({"text": "draft"}, 3),
        ({"text": "Save", "nth": 2}, 5),
        ({"label": "Your e-mail"}, 2),
        ({"label": "you@example.com"}, 2),
        ({"label": "colour", "tag": "select"}, 6),
        ({"label": "/"}, 1),
        ({"tag": "button"}, 3),
    ],
)
def test_an_element_is_found_by_what_a_person_sees(selector: dict[str, Any], index: int):
    assert find_index(selector, [PAGE]) == index


def test_only_the_newest_observation_is_searched():
    old = "[9]<button>Save\n[10]<button>Old"
    assert find_index({"text": "Save"}, [old, PAGE, "no elements here"]) == 4
    with pytest.raises(NotOnPage, match=r"\[1\]<a>Home"):
        find_index({"text": "Old"}, [old, PAGE])


def test_selectors_are_replaced_wherever_an_action_wants_a_number_or_a_tab():
    reply = {"action": [{"drag": {"from_index": {"text": "Home"}, "to_index": {"text": "Save"}}}]}
    assert resolve(reply, [PAGE]) == {"action": [{"drag": {"from_index": 1, "to_index": 4}}]}
    assert resolve({"switch": {"tab_id": {"title": "terms"}}}, [PAGE]) == {"switch": {"tab_id": "cd34"}}
    assert resolve({"input": {"index": 2, "text": "x"}}, [PAGE]) == {"input": {"index": 2, "text": "x"}}


def test_who_asks_for_a_verdict_gets_a_review_and_by_default_every_answer_is_right():
    tool = {"name": "review", "input_schema": {"type": "object", "properties": {"verdict": {"type": "boolean"}}}}
    wrong = {"verdict": False, "failure_reason": "One is missing."}
    with StandIn() as stand_in:
        assert post(stand_in, "<answer>", tools=[tool])["content"][0]["input"]["verdict"] is True
        assert stand_in.requests[0].kind == "review"
    with StandIn({"steps": [{"done": {"text": "a"}}], "reviews": [wrong]}) as stand_in:
        assert post(stand_in, "<answer>", tools=[tool])["content"][0]["input"] == wrong


def test_steps_follow_each_other_and_the_last_one_repeats():
    with StandIn([{"click": {"index": {"text": "Save"}}}, {"done": {"text": "Saved."}}]) as stand_in:
        assert ask(stand_in, PAGE) == [{"click": {"index": 4}}]
        assert ask(stand_in, PAGE) == [{"done": {"text": "Saved."}}]
        assert ask(stand_in, PAGE) == [{"done": {"text": "Saved."}}]


def test_tasks_are_kept_apart_by_their_markers():
    with StandIn([{"wait": {}}, {"done": {"text": "x"}}], tasks={"lamp": [{"go_back": {}}]}) as stand_in:
        assert ask(stand_in, "Find a lamp") == [{"go_back": {}}]
        assert ask(stand_in, "Task RUN-one") == [{"wait": {}}]
        assert ask(stand_in, "Task RUN-two") == [{"wait": {}}]
        assert ask(stand_in, "Task RUN-one") == [{"done": {"text": "x"}}]
        stand_in.add("chair", [{"search": {"query": "chair"}}])
        assert ask(stand_in, "Find a chair") == [{"search": {"query": "chair"}}]


def test_what_was_asked_is_recorded_without_keys():
    with StandIn() as stand_in:
        ask(stand_in, "the page", "the task")
        received = stand_in.requests[0]
    assert (received.provider, received.kind, received.number) == ("anthropic", "step", 0)
    assert received.text == "the task\nthe page"
    assert received.path == "/v1/messages"
    assert "x-api-key" not in received.headers
    assert received.headers["content-type"] == "application/json"
    assert received.answered_at is not None
    assert received.answered_at >= received.received_at


def test_a_selector_that_does_not_fit_fails_the_request_and_the_test():
    with (
        pytest.raises(AssertionError, match="Step 1 of the scenario: No element is"),
        StandIn([{"click": {"index": {"text": "Gone"}}}]) as stand_in,
    ):
        with pytest.raises(urllib.error.HTTPError) as failure:
            ask(stand_in, PAGE)
        assert failure.value.code == 400
        failure.value.close()


def test_a_scenario_with_a_misspelt_part_or_no_steps_is_refused():
    with pytest.raises(ValueError, match="not \\['step'\\]"):
        Scenario.read({"step": []})
    with pytest.raises(ValueError, match="not empty"):
        Scenario.read({"steps": []})


def test_goals_and_summaries_take_no_extract():
    scenario = {"extracts": ["An extract."], "goals": ["A goal."], "summaries": ["A summary."]}
    with StandIn(scenario) as stand_in:
        said = [post(stand_in, text)["content"][0]["text"] for text in ("<task>\nX", "<steps>\nY", "Read this.")]
        kinds = [received.kind for received in stand_in.requests]
    assert said == ["A goal.", "A summary.", "An extract."]
    assert kinds == ["goal", "summary", "extract"]


def test_a_request_beyond_the_window_is_refused_and_takes_no_step():
    with StandIn([{"wait": {}}, {"done": {"text": "x"}}], window=50) as stand_in:
        with pytest.raises(urllib.error.HTTPError) as refusal:
            ask(stand_in, "x" * 51)
        assert "prompt is too long" in json.load(refusal.value)["error"]["message"]
        assert ask(stand_in, "short") == [{"wait": {}}]


def test_parallel_calls_are_blocks_of_one_answer():
    steps = [{"__parallel__": [{"wait": {}}, [{"go_back": {}}, {"wait": {}}]]}]
    with StandIn(steps) as stand_in:
        blocks = post(stand_in, "x", tools=[STEP_TOOL])["content"]
    assert [block["input"]["action"] for block in blocks] == [[{"wait": {}}], [{"go_back": {}}, {"wait": {}}]]


@pytest.mark.parametrize("kind", list(LEAKS))
def test_a_leaked_reply_has_its_actions_anywhere_but_where_they_belong(kind: str):
    with StandIn([{"reply": {"wait": {"seconds": 3}}, "__leak__": kind}]) as stand_in:
        answer = post(stand_in, "x", tools=[STEP_TOOL])
    inputs = [block["input"] for block in answer["content"] if isinstance(block.get("input"), dict)]
    assert not any(isinstance(given.get("action"), list) for given in inputs)
    assert '"wait' in json.dumps(answer).replace("\\", "")


async def test_it_can_be_used_from_asynchronous_tests():
    async with StandIn() as stand_in:
        assert stand_in.openai_url.endswith("/v1")
    assert stand_in.closing.is_set()


def test_it_runs_on_its_own_and_logs_what_the_benchmark_joins_on(tmp_path: Path):
    scenario, log = tmp_path / "scenario.json", tmp_path / "log.jsonl"
    scenario.write_text(json.dumps({"steps": [{"done": {"text": "x"}}]}))
    command = [sys.executable, "-m", "tests.stand_in", "--scenario", str(scenario), "--log", str(log)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        address = process.stdout.readline().split()[-1]
        body = json.dumps({"model": "m", "tools": [STEP_TOOL], "messages": [{"role": "user", "content": "RUN-7"}]})
        with urllib.request.urlopen(f"{address}/v1/messages", body.encode(), timeout=5) as response:
            assert response.status == 200
        process.terminate()
        assert process.wait(5) == 0
    line = json.loads(log.read_text())
    assert (line["run"], line["kind"], line["step"], line["stream"]) == ("7", "step", 0, False)
    assert line["t_sent"] >= line["t_recv"]
