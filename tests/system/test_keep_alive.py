"""Sessions whose browser stays between their tasks, and the blank browser, in a whole appliance."""

from collections.abc import Iterator

import httpx
import psutil
import pytest
from websockets.exceptions import ConnectionClosed
from websockets.sync.client import ClientConnection, connect

from tests.stand_in import StandIn
from tests.system.instance import Instance, eventually

DONE = {"done": {"text": "Done.", "success": True}}


@pytest.fixture
def house(provider_settings: dict[str, str]) -> Iterator[Instance]:
    """An appliance of one slot that tests may damage."""
    with Instance(provider_settings) as instance:
        yield instance


def _browsers(instance: Instance) -> set[psutil.Process]:
    return {process for process in instance.processes() if any("--user-data-dir" in word for word in process.cmdline())}


def _watch(instance: Instance, live_url: str) -> ClientConnection:
    address = httpx.URL(live_url)
    query = address.query.decode()
    return connect(f"ws://127.0.0.1:{instance.port}{address.path}/websocket?{query}", proxy=None, open_timeout=30)


def test_a_parked_browser_is_shown_until_its_session_is_stopped(house: Instance, stand_in: StandIn):
    stand_in.add("RUN-keepshown", [DONE])
    session = house.wait_for(house.create(task="RUN-keepshown Go.", model="house-model", keepAlive=True))
    assert (session["status"], session["lifecycle"]) == ("idle", "parked")
    with _watch(house, session["liveUrl"]) as viewer:
        first = viewer.recv(30)
        assert isinstance(first, bytes)
        assert first.startswith(b"RFB 003")
        house.http.post(f"/v3/sessions/{session['id']}/stop")
        with pytest.raises(ConnectionClosed) as closed:
            while True:
                viewer.recv(30)
        assert closed.value.rcvd is not None
        assert closed.value.rcvd.code == 1000
    eventually(lambda: not _browsers(house), "the browser is gone")


def test_a_conversation_survives_the_death_of_the_server(house: Instance, stand_in: StandIn):
    stand_in.add("RUN-keepbefore", [{"done": {"text": "The lamp costs 128.50."}}])
    session = house.wait_for(house.create(task="RUN-keepbefore Ask.", model="house-model", keepAlive=True))
    parked = _browsers(house)
    assert parked
    house.server.kill()
    eventually(lambda: not any(process.is_running() for process in parked), "the parked browser is ended")
    eventually(house.is_ready, "the server is back", 60)
    found = house.find(session)
    assert (found["status"], found["lifecycle"]) == ("idle", "idle")
    stand_in.add("RUN-keepafter", [DONE])
    again = house.create(task="RUN-keepafter Ask again.", sessionId=session["id"])
    assert house.wait_for(again, "idle")["output"] == "Done."
    asked = next(request for request in stand_in.steps if request.marker == "RUN-keepafter")
    assert "The lamp costs 128.50." in asked.text


def test_an_appliance_that_is_stopped_leaves_neither_parked_nor_blank_browser(provider_settings, stand_in: StandIn):
    with Instance({**provider_settings, "WARM_SLOTS": "1"}, slots=2) as instance:
        stand_in.add("RUN-keepparked", [DONE])
        session = instance.wait_for(instance.create(task="RUN-keepparked Go.", model="house-model", keepAlive=True))
        assert session["lifecycle"] == "parked"
        eventually(lambda: instance.log.count("a blank browser waits") >= 1, "a blank browser waits", 60)
        instance.stop()
        assert instance.processes() == []
        instance.start()
        assert instance.find(session)["lifecycle"] == "idle"
