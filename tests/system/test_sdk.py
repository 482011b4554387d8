"""The unmodified client of the cloud against a whole appliance."""

import pytest
from browser_use_sdk.v3 import BrowserUse
from pydantic import BaseModel

from tests.stand_in import StandIn
from tests.system.instance import API_KEY, Instance


class Lamp(BaseModel):
    name: str
    maker: str
    price: float


def _shop(instance: Instance) -> str:
    return f"http://127.0.0.1:{instance.port}/demo/"


@pytest.mark.parametrize("model", ["claude-opus-4.7", "gpt-5.5", "house-model"])
def test_run_gives_the_answer_with_every_provider(
    model: str, instance: Instance, stand_in: StandIn, client: BrowserUse
):
    marker = f"RUN-{model.replace('.', '').replace('-', '')}"
    stand_in.add(
        marker,
        [
            {"navigate": {"url": _shop(instance)}},
            {"click": {"index": {"text": "Brass anchor lamp"}}},
            {"done": {"text": "It is a lamp.", "success": True}},
        ],
    )
    result = client.run(f"{marker} Tell what the lamp is.", model=model)
    assert result.output == "It is a lamp."
    session = client.sessions.get(str(result.session.id))
    assert session.status.value == "stopped"
    assert session.is_task_successful
    assert session.step_count == 3
    assert session.total_input_tokens
    messages = client.sessions.messages(str(result.session.id), limit=100).messages
    assert messages[0].role == "user"
    assert any("Halvorsen" in text for request in stand_in.steps for text in request.texts if request.marker == marker)


def test_run_without_any_key_returns_checked_data():
    with Instance({"BROWSE_PRIVATE": ""}) as keyless:
        client = BrowserUse(api_key=API_KEY, base_url=keyless.api_url)
        task = f"Record the lamp at {_shop(keyless)}wares/brass-anchor-lamp"
        result = client.run(task, output_schema=Lamp)
        client.close()
        assert result.output == Lamp(name="Brass anchor lamp", maker="Halvorsen & Lind", price=128.5)
        assert result.session.model.value == "bu-mini"


def test_a_follow_up_in_an_idle_session_knows_the_earlier_answer(
    instance: Instance, stand_in: StandIn, client: BrowserUse
):
    stand_in.add("RUN-first", [{"done": {"text": "The lamp costs 128.50."}}])
    stand_in.add("RUN-second", [{"done": {"text": "As said, 128.50."}}])
    first = client.run("RUN-first What does it cost?", model="claude-opus-4.7", keep_alive=True)
    assert client.sessions.get(str(first.session.id)).status.value == "idle"
    second = client.run("RUN-second Again?", session_id=str(first.session.id))
    assert second.output == "As said, 128.50."
    asked = next(request for request in stand_in.steps if request.marker == "RUN-second")
    assert "The lamp costs 128.50." in asked.text
    client.sessions.stop(str(first.session.id))
    assert client.sessions.get(str(first.session.id)).status.value == "stopped"
