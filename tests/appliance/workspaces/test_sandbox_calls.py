"""What the process of scripts and the server say to each other, whatever a script makes of it."""

import os
from typing import Any

import pytest

from appliance.workspaces.sandbox import Functions
from tests.appliance.workspaces.machine import Machine

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="only root can start programs as another user")


async def test_many_calls_at_once_all_get_their_answers(machine: Machine) -> None:
    code = "import asyncio\nlen(await asyncio.gather(*[browser.frame_text(str(n)) for n in range(40)]))"
    assert await machine.value(code) == "40"
    assert sorted(int(given["frame"]) for _, given in machine.asked) == list(range(40))


@pytest.mark.parametrize(
    "asking",
    [
        "from concurrent.futures import ThreadPoolExecutor\nwith ThreadPoolExecutor(12) as pool:\n"
        "    said = list(pool.map(add_item, range(60)))",
        "import asyncio\nsaid = await asyncio.gather(*[asyncio.to_thread(add_item, n) for n in range(60)])",
        "import asyncio\nasync def one(n):\n    if n % 2:\n        return await asyncio.to_thread(add_item, n)\n"
        "    await browser.frame_text(str(n))\n    await asyncio.sleep(0)\n    return add_item(n)\n"
        "said = await asyncio.gather(*[one(n) for n in range(60)])",
    ],
    ids=["a pool", "threads that are awaited", "threads beside what is awaited"],
)
async def test_threads_of_a_script_may_call_beside_each_other(machine: Machine, asking: str) -> None:
    machine.sandbox.cell_seconds = 30.0
    assert await machine.value(f"{asking}\nsaid == ['did add_item'] * 60") == "true"
    assert sorted(given["item"] for name, given in machine.asked if name == "add_item") == list(range(60))


async def test_a_number_that_json_has_not_is_an_error_of_the_script_only(machine: Machine) -> None:
    await machine.value("kept = 1")
    assert "ValueError: Out of range float values" in await machine.error("add_item({'price': float('nan')})")
    assert "not JSON serializable" in await machine.error("await browser.frame_text({1, 2})")
    assert await machine.value("kept") == "1"


async def test_what_is_refused_is_an_error_the_script_can_catch(machine: Machine) -> None:
    assert await machine.error("await browser.evaluate('1')") == (
        "File \"script.py\", line 1, in <module>\n    await browser.evaluate('1')\nRefused: The page did not react."
    )
    assert await machine.value("try:\n    await browser.evaluate('1')\nexcept Exception as e:\n    r = str(e)\nr") == (
        "The page did not react."
    )


async def test_files_of_the_agent_are_opened_by_asking_the_server(machine: Machine) -> None:
    await machine.value("with open('a.txt', 'w') as file:\n    file.write('hi')\nsave_json('b.json', [1])")
    assert machine.asked == [
        ("write_file", {"name": "a.txt", "text": "hi", "append": False}),
        ("write_file", {"name": "b.json", "text": "[\n 1\n]", "append": False}),
    ]
    assert await machine.value("open('a.txt').read()") == "did read_file"


@pytest.mark.parametrize(
    ("said", "why"),
    [
        ("b'no json\\n'", "it sent what is no message and was ended"),
        ('b\'{"kind": "ready", "uid": 0, "is_confined": true}\\n\'', "it sent what is no message and was ended"),
        ("b'[' * 100_000 + b'\\n'", "it sent what is no message and was ended"),
        ("b'x' * 100_000", "it sent a line of more than 12000000 bytes and was ended"),
        ('b\'{"kind": "printed", "text": "\' + b\'a\' * 60_000 + b\'"}\\n\'', "it sent more than 60000000 bytes"),
        ('b\'{"kind": "printed", "text": ""}\\n\' * 1000', "it sent more than 60000000 bytes or 100000 lines"),
        (
            'b\'{"kind": "call", "call": 1, "name": "a", "arguments": [1]}\\n\'',
            "it sent what is no message and was ended",
        ),
    ],
    ids=["no json", "out of turn", "deep", "endless line", "flood", "flood of lines", "no arguments"],
)
async def test_hostile_lines_end_the_process_only(machine: Machine, said: str, why: str) -> None:
    find = "next(n for n in range(3, 64) if stat.S_ISSOCK(os.fstat(n).st_mode))"
    code = f"import os, stat\nfd = {find}\nsaid = {said}\n"
    outcome = await machine.run(f"{code}while True:\n    os.write(fd, said)")
    assert outcome.lost.startswith(why)
    assert len(outcome.printed) <= 1_000_000
    assert await machine.value("1") == "1"


async def test_output_without_end_is_cut(machine: Machine) -> None:
    outcome = await machine.run("for n in range(3000):\n    print('x' * 1000)")
    assert len(outcome.printed) == 1_000_000


async def test_a_value_without_end_is_cut(machine: Machine) -> None:
    find = "next(n for n in range(3, 64) if stat.S_ISSOCK(os.fstat(n).st_mode))"
    said = "{'kind': 'finished', 'cell': 1, 'value': 'x' * 3_000_000, 'error': 'y' * 3_000_000}"
    code = f"import json, os, stat\nfd = {find}\nsaid = json.dumps({said}).encode() + b'\\n'\n"
    outcome = await machine.run(f"{code}while said:\n    said = said[os.write(fd, said):]")
    assert len(outcome.value or "") == len(outcome.error or "") == 1_000_000


async def test_a_call_with_too_much_in_it_is_refused_and_a_long_text_is_not(machine: Machine) -> None:
    error = await machine.error("add_item([[]] * 1_000_000)")
    assert error.endswith("Refused: add_item was given too much; write it to a file first.")
    await machine.value("with open('a.txt', 'w') as file:\n    file.write('x' * 5_000_000)")
    assert machine.asked == [("write_file", {"name": "a.txt", "text": "x" * 5_000_000, "append": False})]


async def test_what_the_server_meets_in_a_call_ends_the_script_and_is_raised(machine: Machine) -> None:
    async def fail(name: str, arguments: dict[str, Any]) -> Any:
        raise ConnectionError("the browser went away")

    with pytest.raises(ConnectionError):
        await machine.sandbox.run("script.py", "await browser.url()", Functions({}, fail))
    assert not machine.sandbox.is_running
