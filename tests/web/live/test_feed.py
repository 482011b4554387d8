import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

import httpx

from appliance.runtime.links import live_url
from tests.system.instance import eventually
from tests.web.api.running import RunningServer
from tests.web.feeding import FedSession, feed_session


def link_of(server: RunningServer, run: FedSession) -> str:
    return live_url("", server.appliance.signer, run.id).split("?")[1]


@dataclass
class Message:
    id: str = ""
    event: str = ""
    data: list[str] = field(default_factory=list)

    @property
    def html(self) -> str:
        return "\n".join(self.data)


@contextmanager
def follow(server: RunningServer, run: FedSession, after: int = 0, last: str = "") -> Iterator[Iterator[Message]]:
    headers = {"Last-Event-ID": last} if last else {}
    with (
        httpx.Client(base_url=server.url, trust_env=False, timeout=20) as client,
        client.stream("GET", f"/live/{run.id}/feed?{link_of(server, run)}&after={after}", headers=headers) as stream,
    ):
        assert stream.status_code == 200, stream.read()
        yield _read(stream.iter_lines())


def _read(lines: Iterator[str]) -> Iterator[Message]:
    message = Message()
    for line in lines:
        name, _, value = line.partition(": ")
        if not line:
            yield message
            message = Message()
        elif name == "id":
            message.id = value
        elif name == "event":
            message.event = value
        elif name == "data":
            message.data.append(value)


def test_a_row_is_on_its_way_within_a_tenth_of_a_second(server: RunningServer) -> None:
    run = feed_session(server, "Be quick")
    with follow(server, run) as messages:
        while 'id="facts"' not in next(messages).html:
            pass
        delays: list[float] = []
        for number in range(7):
            began = time.perf_counter()
            run.notice(f"News {number}.")
            assert f"News {number}." in next(messages).html
            delays.append(time.perf_counter() - began)
            assert 'id="facts"' in next(messages).html
    assert min(delays) < 0.1, delays


def test_a_reader_comes_back_where_it_left(server: RunningServer) -> None:
    run = feed_session(server, "Go on", started=False)
    run.start()
    run.plan()
    with follow(server, run) as messages:
        seen = [next(messages) for _ in range(4)]
    assert [message.id for message in seen] == ["1", "2", "3", "4"]
    run.receive("Clicked.")
    with follow(server, run, after=1, last="4") as messages:
        message = next(messages)
    assert message.id == "5"
    assert 'hx-swap-oob="true"' in message.html
    assert "Clicked." in message.html


def test_the_stream_ends_with_the_session_and_brings_its_result(server: RunningServer) -> None:
    run = feed_session(server, "Come to an end")
    with follow(server, run) as messages:
        run.deliver("Here it is.")
        everything = list(messages)
    assert everything[-1].event == "ended"
    assert "Here it is." in everything[-2].html
    assert 'data-phase="ended"' in everything[-2].html
    for past_the_end in (99, 10**24):
        with follow(server, run, after=past_the_end) as messages:
            assert [message.event for message in messages] == ["", "ended"]


def test_a_deleted_session_ends_its_watchers_stream(server: RunningServer) -> None:
    run = feed_session(server, "Be deleted", started=False)
    with follow(server, run, after=99) as messages:
        next(messages)
        server.do(lambda: server.appliance.sessions.delete(run.id))
        assert [message.event for message in messages][-1] == "ended"


def test_pictures_behind_a_link_carry_it_on(server: RunningServer) -> None:
    run = feed_session(server, "Show pictures")
    run.plan()
    link = link_of(server, run)
    with follow(server, run) as messages:
        html = "".join(next(messages).html for _ in range(4))
    assert f"/live/{run.id}/screenshots/0001.jpg?{link}" in html
    picture = httpx.get(f"{server.url}/live/{run.id}/screenshots/0001.jpg?{link}")
    assert picture.headers["content-type"] == "image/jpeg"
    for name in ("0002.jpg", "..%2fhistory.json", "%2e%2e/history.json"):
        assert httpx.get(f"{server.url}/live/{run.id}/screenshots/{name}?{link}").status_code == 404


def test_a_reader_that_leaves_leaves_nothing_behind(server: RunningServer) -> None:
    run = feed_session(server, "Be left")
    watches = server.appliance.hub._watches
    with follow(server, run) as messages:
        next(messages)
        assert run.id in watches
    eventually(lambda: run.id not in watches, "the watch is gone")
