"""What is measured: a whole appliance of its own beside a scripted model server, at work on an ordinary page."""

import time
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any

from tests.loopback import serve_pages
from tests.stand_in import StandIn
from tests.system.instance import Instance

MODEL = "gpt-5.4-mini"


def make_appliance(stand_in: StandIn) -> Instance:
    """Return an appliance with one slot that asks the stand-in; it runs as long as it is entered."""
    return Instance({"OPENAI_API_KEY": "none", "OPENAI_BASE_URL": stand_in.openai_url, "LOG_LEVEL": "warning"})


def run_task(appliance: Instance, task: str, model: str = MODEL) -> dict[str, Any]:
    """Submit the task and return the finished session; asks for it as seldom as a client would."""
    session = appliance.create(task=task, model=model)
    deadline = time.monotonic() + 120
    while session["status"] in ("created", "running"):
        if time.monotonic() > deadline:
            raise TimeoutError("The run did not end within 120 s.")
        time.sleep(0.5)
        session = appliance.find(session)
    return session


def make_page(nodes: int) -> bytes:
    """Return an ordinary page of about so many nodes, with a button that counts its clicks."""
    row = (
        '<div><a href="#{0}">Link {0}</a><button>Row {0}</button><input value="{0}"><p>Text <b>of</b> row {0}</p></div>'
    )
    rows = "".join(row.format(number) for number in range(nodes // 9))
    count = "document.getElementById('n').textContent = ++window.n"
    head = "<!doctype html><title>Bench</title><script>window.n = 0</script>"
    return f'{head}<button onclick="{count}">Count</button> <output id="n">0</output>{rows}'.encode()


def serve_page(page: bytes | Callable[[str], bytes]) -> AbstractContextManager[str]:
    """Serve the page, or what the function returns for a path, at a loopback port and yield the port's address."""
    return serve_pages((lambda _: page) if isinstance(page, bytes) else page)
