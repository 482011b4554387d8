import asyncio
import gc
import os
import socket
import tempfile
from pathlib import Path

import psutil
import pytest
from websockets.asyncio.server import ServerConnection, serve

from appliance.browser.chromium import Chromium, ChromiumOptions, find_chromium
from appliance.browser.connection import Browser
from appliance.browser.policy import Policy
from appliance.errors import BrowserLost, BrowserUnavailable
from tests.site import Site


def _is_alive(pid: int) -> bool:
    return psutil.pid_exists(pid) and psutil.Process(pid).status() != psutil.STATUS_ZOMBIE


async def test_chromium_starts_on_its_display_and_leaves_nothing_behind(display: int, tmp_path: Path) -> None:
    chromium = await Chromium.start(ChromiumOptions("", display, 0, tmp_path / "profile"))
    assert chromium.websocket_url.startswith("ws://127.0.0.1:")
    assert chromium.pgid == chromium.pid
    children = [child.pid for child in psutil.Process(chromium.pid).children(recursive=True)]
    assert children

    await chromium.stop()

    assert chromium.exited.is_set()
    for _ in range(100):
        if not any(map(_is_alive, children)):
            break
        await asyncio.sleep(0.02)
    assert not any(map(_is_alive, [chromium.pid, *children]))
    await chromium.stop()


@pytest.mark.parametrize("depth", [0, 3])
async def test_temporary_files_of_chromium_are_in_one_folder_that_goes_with_it(display: int, depth: int) -> None:
    with tempfile.TemporaryDirectory(prefix="ph-") as root:
        profile = Path(root).joinpath(*["a-long-name-of-a-folder"] * depth, "profile")
        chromium = await Chromium.start(ChromiumOptions("", display, 0, profile))
        temporary = (profile / "SingletonSocket").readlink().parent.parent
        await chromium.stop()
        short = temporary == profile / "tmp"
        assert short == (depth == 0)
        assert short or temporary.name.startswith("chromium-")
        assert not temporary.exists()


async def test_a_program_that_is_not_there_is_one_clear_error(display: int, tmp_path: Path) -> None:
    with pytest.raises(BrowserUnavailable, match="no Chromium at /nowhere/chromium"):
        await Chromium.start(ChromiumOptions("/nowhere/chromium", display, 0, tmp_path))


@pytest.mark.parametrize("crashes", [1, 2])
async def test_chromium_that_crashes_at_its_start_is_started_once_more(
    display: int, tmp_path: Path, crashes: int
) -> None:
    program = tmp_path / "chromium"
    program.write_text(
        f"""#!/bin/sh
        echo x >> "{tmp_path}/starts"
        [ "$(wc -l < "{tmp_path}/starts")" -gt {crashes} ] || kill -TRAP $$
        exec "{find_chromium()}" "$@"
        """
    )
    program.chmod(0o755)
    options = ChromiumOptions(str(program), display, 0, tmp_path / "profile")
    if crashes == 1:
        await (await Chromium.start(options)).stop()
    else:
        with pytest.raises(BrowserUnavailable, match="ended at its start with code -5"):
            await Chromium.start(options)
    assert (tmp_path / "starts").read_text().count("x") == 2


async def test_a_missing_display_is_one_clear_error(tmp_path: Path) -> None:
    with pytest.raises(BrowserUnavailable, match="no X display :9876"):
        await Chromium.start(ChromiumOptions("", 9876, 0, tmp_path))


async def test_a_port_in_use_is_one_clear_error(display: int, tmp_path: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        with pytest.raises(BrowserUnavailable, match=f"Port {port}"):
            await Chromium.start(ChromiumOptions("", display, port, tmp_path))


async def test_a_program_that_dies_at_once_gives_its_last_words(display: int, tmp_path: Path) -> None:
    program = tmp_path / "broken"
    program.write_text("#!/bin/sh\necho 'library missing' >&2\nexit 127\n")
    program.chmod(0o755)
    with pytest.raises(BrowserUnavailable, match=r"code 127: library missing"):
        await Chromium.start(ChromiumOptions(str(program), display, 0, tmp_path / "profile"))


async def test_a_lock_left_by_another_machine_is_no_obstacle_but_a_living_one_is(display: int, tmp_path: Path) -> None:
    (tmp_path / "SingletonLock").symlink_to("oldhost-32")
    (tmp_path / "SingletonCookie").symlink_to("123")
    chromium = await Chromium.start(ChromiumOptions("", display, 0, tmp_path))
    try:
        with pytest.raises(BrowserUnavailable, match=f"process {chromium.pid}"):
            await Chromium.start(ChromiumOptions("", display, 0, tmp_path))
    finally:
        await chromium.stop()


async def test_keys_of_the_environment_do_not_reach_chromium(display: int, tmp_path: Path) -> None:
    os.environ["ANTHROPIC_API_KEY"] = "sk-not-for-chromium"
    try:
        chromium = await Chromium.start(ChromiumOptions("", display, 0, tmp_path))
    finally:
        del os.environ["ANTHROPIC_API_KEY"]
    try:
        assert "ANTHROPIC_API_KEY" not in psutil.Process(chromium.pid).environ()
    finally:
        await chromium.stop()


async def test_a_killed_chromium_is_noticed_at_once(display: int, tmp_path: Path, site: Site) -> None:
    chromium = await Chromium.start(ChromiumOptions("", display, 0, tmp_path))
    browser = await Browser.attach(
        chromium.websocket_url, policy=Policy(private_allowed=("loopback",)), chromium_exited=chromium.exited
    )
    await browser.tab.navigate(site.url("/"))
    going = asyncio.create_task(browser.tab.navigate(site.url("/never")))
    await asyncio.sleep(0.1)

    os.kill(chromium.pid, 9)
    with pytest.raises(BrowserLost):
        await going
    await asyncio.wait_for(browser.lost.wait(), 20)
    with pytest.raises(BrowserLost):
        await browser.observe()
    with pytest.raises(BrowserLost):
        await browser.settle()
    await browser.close()
    await chromium.stop()


async def test_a_browser_that_does_not_answer_cannot_be_attached() -> None:
    with pytest.raises(BrowserUnavailable, match="does not answer"):
        await Browser.attach("ws://127.0.0.1:9/devtools/browser/x", policy=Policy())


async def test_a_browser_that_dies_while_it_is_attached_is_told_once() -> None:
    async def hang_up(connection: ServerConnection) -> None:
        await connection.recv()

    untold: list[str] = []
    asyncio.get_running_loop().set_exception_handler(lambda _, context: untold.append(context["message"]))
    async with serve(hang_up, "127.0.0.1", 0) as server:
        port = next(iter(server.sockets)).getsockname()[1]
        with pytest.raises(BrowserUnavailable, match="could not be attached"):
            await Browser.attach(f"ws://127.0.0.1:{port}/devtools/browser/x", policy=Policy())
    gc.collect()
    assert untold == []


def test_the_program_itself_is_preferred_to_debians_script() -> None:
    assert find_chromium("/usr/bin/chromium") == find_chromium("") == "/usr/lib/chromium/chromium"
