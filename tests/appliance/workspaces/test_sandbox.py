"""What scripts can do in their process, and what they cannot do to anything outside of it."""

import asyncio
import json
import os
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest

from appliance.workspaces.sandbox import Sandbox
from appliance.workspaces.sandbox_program.users import FIRST_UID, LAST_UID
from appliance.workspaces.sandbox_start import Direct
from appliance.workspaces.sandboxes import Sandboxes
from tests.appliance.workspaces.machine import Machine

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="only root can start programs as another user")


def is_there(path: str) -> bool:
    return Path(path).exists()


def resident_kilobytes(pid: int) -> int:
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmRSS"))


async def test_the_value_of_the_last_expression_is_shown_and_variables_last(machine: Machine) -> None:
    assert await machine.value("x = [1, 2]\nx") == "[1, 2]"
    assert await machine.value("{'sum': sum(x)}") == '{"sum": 3}'
    assert await machine.value("x = None") is None


async def test_a_script_may_await_at_top_level_and_call_without_awaiting(machine: Machine) -> None:
    assert await machine.value("import asyncio\nawait asyncio.sleep(0)\nawait add_item({'a': 1})") == "did add_item"
    assert await machine.value("add_item({'b': 2}, index=1)") == "did add_item"
    assert await machine.value("browser.url()") == "did browser.url"
    assert machine.asked[:2] == [("add_item", {"item": {"a": 1}}), ("add_item", {"item": {"b": 2}, "index": 1})]


async def test_what_is_printed_is_kept_also_when_the_process_dies(machine: Machine) -> None:
    outcome = await machine.run("print('before', 1)\nimport os, sys\nprint('err', file=sys.stderr)\nos._exit(3)")
    assert outcome.printed == "before 1\nerr\n"
    assert outcome.lost == "its process ended with code 3"
    assert await machine.value("1 + 1") == "2"


async def test_an_error_names_the_line_of_the_script(machine: Machine) -> None:
    error = await machine.error("def f():\n    return 1 / 0\n\nf()")
    assert "line 4" in error
    assert "line 2, in f" in error
    assert error.endswith("ZeroDivisionError: division by zero")
    assert "SyntaxError" in await machine.error("def f(:\n")


async def test_a_script_runs_as_a_user_of_its_own_without_groups_or_environment(machine: Machine) -> None:
    code = "import os\n[os.getuid(), os.geteuid(), os.getgid(), os.getgroups(), sorted(os.environ)]"
    uid, *_ = found = json.loads(await machine.value(code) or "")
    assert FIRST_UID <= uid <= LAST_UID
    assert found == [uid, uid, uid, [], ["LC_CTYPE"]]
    other = Machine(Sandbox(Direct()))
    try:
        assert await other.value("import os\nos.getuid()") != str(uid)
    finally:
        await other.sandbox.close()


async def test_a_script_cannot_read_the_servers_environment_or_data(machine: Machine, tmp_path: Path) -> None:
    secret = tmp_path / "secret.key"
    secret.write_text("top secret")
    secret.chmod(0o600)
    for path in (f"/proc/{os.getpid()}/environ", f"/proc/{os.getpid()}/mem", str(secret), "/etc/shadow"):
        assert "PermissionError" in await machine.error(f"import io\nio.open({path!r}).read()")
    assert "PermissionError" in await machine.error(f"import os\nos.listdir({str(tmp_path)!r})")


async def test_a_script_writes_nothing_to_the_disk(machine: Machine) -> None:
    for code in (
        "io.open('/tmp/pilothouse-script', 'w')",
        "os.mkdir('/tmp/pilothouse-script')",
        "os.memfd_create('m')",
    ):
        assert "Error" in await machine.error(f"import io, os\n{code}")
    assert not is_there("/tmp/pilothouse-script")


async def test_a_script_has_no_network(machine: Machine) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        address = server.getsockname()
        code = f"import socket\nsocket.create_connection({address!r})"
        assert "PermissionError: [Errno 1]" in await machine.error(code)
    for kind in ("socket.AF_UNIX", "socket.AF_INET6", "socket.AF_NETLINK", "socket.AF_VSOCK"):
        assert "PermissionError" in await machine.error(f"import socket\nsocket.socket({kind}, socket.SOCK_DGRAM)")
    # The same, past everything that Python might stand in the way of.
    assert await machine.value("import ctypes\nctypes.CDLL(None).syscall(41, 2, 1, 0)") == "-1"


async def test_a_script_starts_and_touches_no_process(machine: Machine) -> None:
    for code in (
        "os.fork()",
        "os.execv('/bin/true', ['true'])",
        "subprocess.run(['true'])",
        f"os.kill({os.getpid()}, 0)",
        "os.kill(os.getppid(), 9)",
        "os.setuid(0)",
        "os.setsid()",
    ):
        assert "PermissionError" in await machine.error(f"import os, subprocess\n{code}")


async def test_a_script_locks_no_file_and_has_nobody_told_of_signals(machine: Machine) -> None:
    code = "import fcntl, io, os\nfile = io.open('/usr/lib/os-release')\n"
    for doing in (
        "fcntl.lockf(file, fcntl.LOCK_SH)",
        f"fcntl.fcntl(file, fcntl.F_SETOWN, {os.getpid()})",
        "fcntl.fcntl(file, fcntl.F_SETSIG, 9)",
        "fcntl.fcntl(os.open('/usr/lib', os.O_RDONLY), fcntl.F_NOTIFY, fcntl.DN_ACCESS)",
    ):
        assert "PermissionError: [Errno 1]" in await machine.error(code + doing)
    assert await machine.value("os.set_blocking(file.fileno(), False)\nos.get_inheritable(os.dup(file.fileno()))") == (
        "false"
    )


async def test_a_fork_bomb_and_many_threads_are_contained(machine: Machine) -> None:
    assert "PermissionError" in await machine.error("import os\nwhile True:\n    os.fork()")
    code = (
        "import threading\nend = threading.Event()\nstarted = 0\ntry:\n    while started < 500:\n"
        "        threading.Thread(target=end.wait, daemon=True).start()\n        started += 1\n"
        "except RuntimeError:\n    pass\nend.set()\nstarted"
    )
    assert 0 < int(await machine.value(code) or "0") < 50


async def test_a_memory_hog_gets_an_error_and_the_next_script_works(machine: Machine) -> None:
    error = await machine.error("rows = []\nwhile True:\n    rows.append(bytearray(10_000_000))")
    assert error == "MemoryError: the script needed more memory than it may have."
    assert await machine.value("rows.clear()\n1") == "1"


@pytest.mark.parametrize(
    "code",
    [
        "while True:\n    pass",
        "import time\ntime.sleep(600)",
        "import signal\nfor n in (1, 2, 15):\n    signal.signal(n, signal.SIG_IGN)\nwhile True:\n    pass",
        "import asyncio\nawait asyncio.sleep(600)",
    ],
    ids=["busy", "asleep", "ignores signals", "awaits"],
)
async def test_a_script_that_takes_too_long_is_ended_with_its_process(machine: Machine, code: str) -> None:
    pid = int(await machine.value("import os\nkept = 1\nos.getpid()") or "0")
    machine.sandbox.cell_seconds = 0.5
    outcome = await machine.run(code)
    assert outcome.lost == "it was not done within 0.5 s"
    assert not is_there(f"/proc/{pid}")
    machine.sandbox.cell_seconds = 60
    assert "NameError" in await machine.error("kept")


async def test_a_busy_script_holds_up_nobody_else(machine: Machine) -> None:
    busy = asyncio.create_task(machine.run("import time\nprint('begun')\nwhile True:\n    pass"))
    other = Machine(Sandbox(Direct()))
    try:
        assert await other.value("6 * 7") == "42"
        assert not busy.done()
    finally:
        await other.sandbox.close()
        busy.cancel()
        await asyncio.gather(busy, return_exceptions=True)
    assert not machine.sandbox.is_running


async def test_a_cancelled_script_is_gone_with_its_process(machine: Machine) -> None:
    pid = int(await machine.value("import os\nos.getpid()") or "0")
    running = asyncio.create_task(machine.run("while True:\n    add_item({})"))
    await machine.was_asked.wait()
    running.cancel()
    await asyncio.gather(running, return_exceptions=True)
    assert not is_there(f"/proc/{pid}")


async def test_cells_of_a_script_each_have_their_time_and_share_its_lines(machine: Machine) -> None:
    assert await machine.value("# %% first\na = 1\n# %% second\na + 1") == "2"
    assert "line 4" in await machine.error("# %%\na = 1\n# %%\n1 / 0\n# %%\nprint('never')")


async def test_what_was_printed_before_a_script_hung_is_kept(machine: Machine) -> None:
    machine.sandbox.cell_seconds = 4.0
    outcome = await machine.run("print('first')\nprint('last')\nwhile True:\n    pass")
    assert outcome.lost
    assert outcome.printed == "first\nlast\n"


async def test_the_library_can_be_used_after_the_door_is_shut(machine: Machine) -> None:
    code = (
        "import csv, decimal, html.parser, sqlite3, statistics, urllib.parse, xml.etree.ElementTree, zoneinfo\n"
        "import asyncio, hashlib, time\n'é'.encode('latin-1')\n"
        "[str(decimal.Decimal('1.10')), await asyncio.to_thread(lambda: time.sleep(0.2) or 3), "
        "urllib.parse.quote('a b')]"
    )
    assert await machine.value(code) == '["1.10", 3, "a%20b"]'


async def test_the_process_is_small(machine: Machine) -> None:
    pid = int(await machine.value("import os\nos.getpid()") or "0")
    assert resident_kilobytes(pid) < 20_000


async def test_where_the_data_could_be_read_there_is_no_sandbox(tmp_path: Path) -> None:
    assert await Sandboxes([tmp_path]).why_not() is None
    assert await Sandboxes([Path("/usr/lib")]).why_not() == (
        'Scripts would reach what they must not: ["/usr/lib"]; let only this server\'s user enter it.'
    )


async def test_switched_off_there_is_no_sandbox_and_a_reason(tmp_path: Path) -> None:
    sandboxes = Sandboxes([tmp_path], is_off=True)
    assert await sandboxes.open() is None
    assert await sandboxes.why_not() == "Scripts are switched off by SANDBOX."


SERVER = """
import asyncio, os
from appliance.workspaces.sandbox import Functions, Sandbox
from appliance.workspaces.sandbox_start import Direct

async def main():
    await Sandbox(Direct()).run("a.py", "await browser.url()\\nwhile True: pass", Functions({}, call))

async def call(name, arguments):
    import glob
    print(*[p.split("/")[2] for p in glob.glob("/proc/[0-9]*/stat") if parent(p) == str(os.getpid())], flush=True)
    return ""

def parent(path):
    try:
        return open(path).read().rpartition(")")[2].split()[1]
    except OSError:
        return ""

asyncio.run(main())
"""


def test_a_script_ends_with_a_server_that_is_killed() -> None:
    server = subprocess.Popen(
        [sys.executable, "-c", SERVER], stdout=subprocess.PIPE, text=True, cwd=Path(__file__).parents[3]
    )
    assert server.stdout is not None
    with server.stdout:
        scripts = [int(pid) for pid in server.stdout.readline().split()]
        assert len(scripts) == 1
        assert is_there(f"/proc/{scripts[0]}")
        server.kill()
        server.wait()
    deadline = time.monotonic() + 30
    while is_there(f"/proc/{scripts[0]}") and time.monotonic() < deadline:
        time.sleep(0.01)
    assert not is_there(f"/proc/{scripts[0]}")


async def test_a_process_is_gone_also_when_waiting_for_its_end_was_cancelled(machine: Machine) -> None:
    pid = int(await machine.value("import os\nos.getpid()") or "0")
    closing = asyncio.create_task(machine.sandbox.close())
    await asyncio.sleep(0)
    closing.cancel()
    with pytest.raises(asyncio.CancelledError):
        await closing
    assert not is_there(f"/proc/{pid}")
