"""How fast a workspace takes and gives a large file, and what memory the server needs for it.

Sent and fetched by a bare socket client, as the client's own cost would hide the server's. The reference is an ASGI
application on the same uvicorn that only reads and sends the same file, or writes what it is sent.
"""

import os
import socket
import tempfile
import time
from pathlib import Path
from urllib.parse import urlsplit

from ops.benchmarks.api import serve
from ops.benchmarks.measures import Figure
from tests.system.instance import Instance

MEGABYTES = 1_000
_PIECE = 1 << 20
_BARE = """
import asyncio, os, socket, sys, tempfile, uvicorn, uvloop
path, size = sys.argv[1], int(sys.argv[2])
async def app(scope, receive, send):
    head = [(b"content-length", str(size if scope["method"] == "GET" else 0).encode())]
    if scope["method"] == "PUT":
        with tempfile.TemporaryFile(dir=os.path.dirname(path), buffering=0) as file:
            while (message := await receive()).get("more_body"):
                file.write(message["body"])
            file.write(message["body"])
    await send({"type": "http.response.start", "status": 200, "headers": head})
    if scope["method"] == "GET":
        with open(path, "rb") as file:
            while piece := await asyncio.to_thread(file.read, 1 << 20):
                await send({"type": "http.response.body", "body": piece, "more_body": True})
    await send({"type": "http.response.body"})
listener = socket.create_server(("127.0.0.1", 0))
print('{"port": %d}' % listener.getsockname()[1], flush=True)
config = uvicorn.Config(app, http="httptools", lifespan="off", log_config=None, access_log=False, server_header=False)
with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
    runner.run(uvicorn.Server(config).serve(sockets=[listener]))
"""


def measure_files() -> list[Figure]:
    """Return milliseconds a megabyte, and the megabytes by which the server's memory grew meanwhile."""
    size = MEGABYTES * 1_000_000
    with tempfile.TemporaryDirectory(prefix="ph-bench-") as folder, Instance() as instance:
        file = Path(folder) / "large.bin"
        with file.open("wb") as out:
            for _ in range(MEGABYTES):
                out.write(os.urandom(1_000_000))
        with serve("-c", _BARE, str(file), str(size)) as bare:
            address = f"http://127.0.0.1:{bare.port}/"
            plain_fetched = min(_fetch(address, size) for _ in range(3))
            plain_sent = min(_send(address, file, size) for _ in range(3))
        files = f"/v3/workspaces/{instance.http.post('/v3/workspaces').json()['id']}/files"
        body = {"files": [{"name": file.name, "size": size}]}
        (target,) = instance.http.post(f"{files}/upload", json=body).json()["files"]
        before = instance.server.memory_info().rss
        sent = min(_send(target["uploadUrl"], file, size) for _ in range(3))
        (listed,) = instance.http.get(files, params={"includeUrls": True}).json()["files"]
        fetched = min(_fetch(listed["url"], size) for _ in range(3))
        grown = (instance.server.memory_info().rss - before) / 1e6
    return [
        _figure("fetching a large file, each megabyte", fetched, plain_fetched),
        _figure("sending a large file, each megabyte", sent, plain_sent),
        Figure("sending and fetching it, memory grown", grown, "MB", 32),
    ]


def _figure(name: str, seconds: float, plain: float) -> Figure:
    """Return the milliseconds of a megabyte; half the speed is twice the time."""
    each, reference = 1_000 * seconds / MEGABYTES, 1_000 * plain / MEGABYTES
    return Figure(name, each, "ms", 2 * reference, reference)


def _fetch(url: str, size: int) -> float:
    """Return the seconds in which the whole file came."""
    place = urlsplit(url)
    begun = time.perf_counter()
    with socket.create_connection((place.hostname, place.port)) as stream:
        head = f"GET {place.path}?{place.query} HTTP/1.1\r\nHost: {place.netloc}\r\nConnection: close\r\n\r\n"
        stream.sendall(head.encode())
        came, room = 0, memoryview(bytearray(_PIECE))
        while got := stream.recv_into(room):
            came += got
    if came < size:
        raise RuntimeError(f"Only {came} bytes came of {url}.")
    return time.perf_counter() - begun


def _send(url: str, file: Path, size: int) -> float:
    """Return the seconds until the server said that it had the whole file."""
    place = urlsplit(url)
    begun = time.perf_counter()
    with socket.create_connection((place.hostname, place.port)) as stream, file.open("rb") as content:
        head = f"PUT {place.path}?{place.query} HTTP/1.1\r\nHost: {place.netloc}\r\nContent-Length: {size}\r\n\r\n"
        stream.sendall(head.encode())
        stream.sendfile(content)
        answer = stream.recv(4_096)
    if b" 200 " not in answer.partition(b"\r\n")[0]:
        raise RuntimeError(f"The server did not take the file: {answer[:200]!r}")
    return time.perf_counter() - begun
