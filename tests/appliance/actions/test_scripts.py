"""Scripts of the model's, run by the action, with a real page and the agent's own files before them."""

import json
import os
from collections import Counter
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from appliance.actions.base import Receipt
from appliance.actions.registry import Registry
from appliance.actions.script_calls import ScriptCalls
from appliance.sensitive import SensitiveData
from appliance.store.answers import AnswerStore
from appliance.words import ReceiptStatus
from appliance.workspaces.sandbox import Sandbox
from appliance.workspaces.sandbox_start import Direct
from appliance.workspaces.scratchpad import Saved, Scratchpad
from tests.appliance.actions.conftest import Hands

pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(os.geteuid() != 0, reason="only root can start programs as another user"),
]


class Scripting:
    """Runs scripts with the hands' page and files."""

    def __init__(self, hands: Hands) -> None:
        self.hands = hands
        self.told: list[tuple[str, str]] = []
        hands.context.sandbox = Sandbox(Direct())
        hands.context.tell = self._tell

    async def run(self, code: str, **more: Any) -> Receipt:
        registry = self.hands.registry
        call = registry.parse({"run_code_file": {"name": "work.py", "code": code, **more}})
        return await registry.run(self.hands.context, call)

    async def value(self, code: str) -> str:
        """Return what is shown of the value of a script that went well."""
        receipt = await self.run(code)
        assert receipt.status is ReceiptStatus.OK, receipt
        return (receipt.carried or "").removeprefix("<value>\n").removesuffix("\n</value>")

    async def _tell(self, code: str, text: str) -> None:
        self.told.append((code, text))


@pytest.fixture
async def scripting(hands: Hands) -> AsyncIterator[Scripting]:
    scripting = Scripting(hands)
    yield scripting
    assert hands.context.sandbox is not None
    await hands.context.sandbox.close()


async def test_a_script_is_saved_run_and_told_in_the_feed(scripting: Scripting) -> None:
    receipt = await scripting.run("print('found', 3)\nsum([1, 2])")
    assert receipt.status is ReceiptStatus.OK
    assert receipt.text.startswith("Ran work.py in ")
    assert receipt.carried == "<printed>\nfound 3\n</printed>\n<value>\n3\n</value>"
    assert scripting.hands.context.scratchpad.read("work.py") == "print('found', 3)\nsum([1, 2])"
    assert [code for code, _ in scripting.told] == ["script_run"]
    assert "2 lines" in scripting.told[0][1]
    assert not receipt.is_page_touched


async def test_what_is_long_is_shown_in_part_and_kept_in_a_file(scripting: Scripting) -> None:
    receipt = await scripting.run("print('\\n'.join(f'row {n}' for n in range(2000)))")
    assert "kept in work_printed.txt" in receipt.text
    assert receipt.carried is not None
    assert len(receipt.carried) < 2_300
    assert "row 0\n" in receipt.carried
    assert "row 1999" in receipt.carried
    assert scripting.hands.context.scratchpad.read("work_printed.txt").count("row ") == 2000


async def test_an_error_is_a_failed_receipt_with_the_lines_it_went_through(scripting: Scripting) -> None:
    receipt = await scripting.run("print('so far')\nrows = []\nrows[3]")
    assert receipt.status is ReceiptStatus.FAILED
    assert receipt.text.startswith("work.py failed: IndexError: list index out of range")
    assert receipt.carried is not None
    assert "so far" in receipt.carried
    assert "line 3" in receipt.carried


async def test_the_death_of_the_process_is_told_and_the_next_script_works(scripting: Scripting) -> None:
    assert await scripting.value("kept = 5\nkept") == "5"
    receipt = await scripting.run("import os\nos._exit(7)")
    assert receipt.status is ReceiptStatus.FAILED
    assert "its process ended with code 7; its variables are gone" in receipt.text
    assert await scripting.value("'kept' in globals()") == "false"


async def test_a_script_that_takes_too_long_costs_its_variables_only(scripting: Scripting) -> None:
    assert scripting.hands.context.sandbox is not None
    await scripting.value("save_json('kept.json', [1])")
    scripting.hands.context.sandbox.cell_seconds = 0.3
    receipt = await scripting.run("while True:\n    pass")
    assert "work.py did not end: it was not done within 0.3 s; its variables are gone" in receipt.text
    scripting.hands.context.sandbox.cell_seconds = 60
    assert await scripting.value("read_json('kept.json')") == "[1]"


async def test_javascript_runs_in_the_page_and_in_frames_of_other_sites(scripting: Scripting) -> None:
    await scripting.hands.open("zoo_frames.html")
    assert await scripting.value("await browser.evaluate('document.title')") == "Frames zoo"
    assert await scripting.value("await browser.evaluate('const a = 2; return a * 2')") == "4"
    outer = await scripting.value("await browser.wait_for_frame('?outer')")
    assert "127.0.0.2" in outer
    assert "Inside outer" in await scripting.value("await browser.frame_text('?outer')")
    code = "await browser.frame_evaluate('?outer', 'location.hostname')"
    assert await scripting.value(code) == "127.0.0.2"
    await scripting.value("await browser.frame_evaluate('?outer', 'window.mark = 1; return 1')")
    assert await scripting.value("await browser.frame_evaluate('?outer', 'mark')") == "1"
    await scripting.value("await browser.wait_for_frame('?boxed')")
    assert "Inside boxed" in await scripting.value("await browser.frame_text('?boxed')")
    frames = await scripting.value("[f['url'] for f in await browser.frames()]")
    assert "?outer" in frames
    assert "?boxed" in frames


async def test_a_frame_that_is_not_there_is_named_with_those_that_are(scripting: Scripting) -> None:
    await scripting.hands.open("zoo_frames.html")
    await scripting.value("await browser.wait_for_frame('?outer')")
    receipt = await scripting.run("await browser.frame_text('nowhere')")
    assert "There is no frame with 'nowhere' in its address; there are: " in receipt.text
    assert "?outer" in (receipt.carried or "")
    receipt = await scripting.run("await browser.frame_evaluate('?outer', 'nothing.there')")
    assert "The code failed in the frame: ReferenceError" in receipt.text


async def test_the_linked_data_of_a_frame_is_read(scripting: Scripting) -> None:
    await scripting.hands.open("zoo_frames.html")
    await scripting.value("await browser.wait_for_frame('?outer')")
    thing = json.dumps({"@type": "Product", "name": "Lamp"})
    code = (
        "const s = document.createElement('script'); s.type = 'application/ld+json'; "
        f"s.textContent = {json.dumps(thing)}; document.body.append(s); return 1"
    )
    await scripting.value(f"await browser.frame_evaluate('?outer', {code!r})")
    stated = await scripting.value("await browser.frame_jsonld('?outer')")
    assert json.loads(stated) == [{"@type": "Product", "name": "Lamp"}]
    assert scripting.hands.context.evidence.find("Lamp", None) is not None


async def test_navigation_keeps_to_the_rules_of_the_browser(scripting: Scripting) -> None:
    address = scripting.hands.site.url("/product.html")
    receipt = await scripting.run(f"await browser.navigate({address!r})")
    assert json.loads((receipt.carried or "")[8:-9]) == {"url": address, "status": 200}
    assert receipt.is_page_touched
    receipt = await scripting.run("await browser.navigate('file:///etc/passwd')")
    assert receipt.status is ReceiptStatus.FAILED
    receipt = await scripting.run("await fetch('http://169.254.169.254/')")
    assert receipt.status is ReceiptStatus.FAILED
    assert "169.254.169.254" in receipt.text


async def test_an_address_to_begin_with_is_opened_first(scripting: Scripting) -> None:
    address = scripting.hands.site.url("/product.html")
    receipt = await scripting.run("await browser.url()", url=address)
    assert receipt.carried == f"<value>\n{address}\n</value>"
    receipt = await scripting.run("1", url="http://127.0.0.1:1/")
    assert receipt.status is ReceiptStatus.FAILED
    assert "http://127.0.0.1:1/ was not opened" in receipt.text


async def test_requests_are_made_by_the_server_many_at_once(scripting: Scripting) -> None:
    address = scripting.hands.site.url("/product.html")
    code = (
        f"import asyncio\nfound = await asyncio.gather(*[fetch({address!r}) for _ in range(12)])\n"
        "[len(found), {f.status for f in found} == {200}, '<html' in found[0].text, found[0].ok]"
    )
    assert await scripting.value(code) == "[12, true, true, true]"


async def test_pages_are_read_in_bulk_and_come_as_values(scripting: Scripting) -> None:
    await scripting.hands.open("product.html")
    urls = [scripting.hands.site.url(f"/{name}.html") for name in ("product", "frame")]
    code = (
        f"pages = await browser.read_pages({urls!r})\n[[p['title'] for p in pages], 'Inner text' in pages[1]['text']]"
    )
    title = await scripting.hands.js("document.title")
    assert json.loads(await scripting.value(code)) == [[title, "Inner"], True]
    assert len(await scripting.hands.browser.list_tabs()) == 1


async def test_files_of_the_agent_are_shared_with_scripts(scripting: Scripting) -> None:
    pad = scripting.hands.context.scratchpad
    pad.write("in.csv", "a,b\n1,2\n")
    code = "import csv\nrows = list(csv.reader(open('in.csv')))\nsave_json('out.json', rows)\nrows"
    assert await scripting.value(code) == '[["a", "b"], ["1", "2"]]'
    assert json.loads(pad.read("out.json")) == [["a", "b"], ["1", "2"]]
    receipt = await scripting.run("open('../../secret.key').read()")
    assert receipt.status is ReceiptStatus.FAILED
    assert "There is no file" in receipt.text
    assert await scripting.value(
        "with open('log.txt', 'a') as f:\n    print('x', file=f)\n'log.txt' in list_files()"
    ) == ("true")


async def test_the_clipboard_is_the_one_of_the_actions(scripting: Scripting) -> None:
    await scripting.value("remember('page', 'p. 3')")
    assert scripting.hands.context.clipboard.recall("page") == "p. 3"
    receipt = await scripting.run("recall('nothing')")
    assert "Nothing is remembered as 'nothing'" in receipt.text
    receipt = await scripting.run("remember()")
    assert "remember: key: Field required" in receipt.text


SHOP = {
    "type": "object",
    "required": ["items"],
    "properties": {
        "items": {
            "type": "array",
            "items": {
                "type": "object",
                "required": ["name", "price"],
                "properties": {"name": {"type": "string"}, "price": {"type": "number"}},
            },
        },
        "note": {"type": ["string", "null"]},
    },
}


class CountingScratchpad(Scratchpad):
    """Counts how often each file is written."""

    def __init__(self, root: Path) -> None:
        super().__init__(root)
        self.written: Counter[str] = Counter()

    def write_bytes(self, name: str, data: bytes) -> Saved:
        self.written[name] += 1
        return super().write_bytes(name, data)


async def test_the_file_of_the_answer_is_written_once_for_all_that_a_script_adds(scripting: Scripting) -> None:
    context = scripting.hands.context
    context.output_schema = SHOP
    context.store = AnswerStore.open(SHOP, context.evidence, context.links)
    context.scratchpad = files = CountingScratchpad(context.scratchpad.root)
    adding = "for n in range(20):\n    add_item({'name': f'Lamp {n}', 'price': n})\n"
    assert await scripting.value(f"{adding}len(list_files())") != ""
    assert json.loads(files.read("output.json"))["items"][19] == {"name": "Lamp 19", "price": 19}
    assert files.written["output.json"] == 1
    assert (
        await scripting.value("add_item({'name': 'Last', 'price': 1})\nread_json('output.json')['items'][-1]['name']")
        == "Last"
    )
    await scripting.run("add_item({'name': 'Kept', 'price': 2})\nraise ValueError")
    assert json.loads(files.read("output.json"))["items"][-1]["name"] == "Kept"


async def test_the_answer_is_filled_by_the_rules_of_the_actions(scripting: Scripting) -> None:
    context = scripting.hands.context
    context.output_schema = SHOP
    context.store = AnswerStore.open(SHOP, context.evidence, context.links)
    adding = "for n in range(3):\n    said = add_item({'name': f'Lamp {n}', 'price': n + 0.5})\n"
    code = f"{adding}set_field('note', 'All.')\nsaid"
    assert "3 items" in await scripting.value(code)
    assert context.store.value == {"items": [{"name": f"Lamp {n}", "price": n + 0.5} for n in range(3)], "note": "All."}
    receipt = await scripting.run("add_item({'name': 'Lamp 9', 'price': 'dear'})")
    assert receipt.status is ReceiptStatus.FAILED
    assert "price" in receipt.text
    assert "Refused" in receipt.text
    assert "Lamp 1" in await scripting.value("read_output(1, count=1)")
    assert "add_item takes item" in (await scripting.run("add_item(1, 2)")).text
    assert "2 items" in await scripting.value("update_item(0, {'price': 9})\nremove_items([2])")
    assert [row["price"] for row in context.store.value["items"]] == [9, 1.5]


async def test_secrets_reach_neither_scripts_nor_what_they_leave(scripting: Scripting) -> None:
    context = scripting.hands.context
    context.sensitive = SensitiveData.read({"password": "hunter2-hunter2"})
    await scripting.hands.open("product.html")
    await scripting.hands.js("document.body.append('hunter2-hunter2')")
    receipt = await scripting.run(
        "html = await browser.get_html()\nprint('hunter2-' + 'hunter2')\nsave_json('x.json', 'hunter2-' + 'hunter2')\n"
        "['hunter2-' + 'hunter2' in html, 'password' in html]"
    )
    assert "hunter2-hunter2" not in repr(receipt)
    assert "[false, true]" in (receipt.carried or "")
    assert "hunter2-hunter2" not in context.scratchpad.read("x.json")
    receipt = await scripting.run("'<secret>password</secret>'")
    assert receipt.status is ReceiptStatus.FAILED


async def test_a_script_learns_no_secret_from_what_a_page_fails_with(scripting: Scripting) -> None:
    scripting.hands.context.sensitive = SensitiveData.read({"password": "hunter2-hunter2"})
    await scripting.hands.open("product.html")
    failing = "throw new Error('it is hunter2-hunter2 and no other')"
    code = f"try:\n    await browser.evaluate({failing!r})\nexcept Exception as error:\n    said = str(error)\n"
    told = await scripting.value(f"{code}said[::-1]")
    assert "and no other"[::-1] in told
    assert "hunter2-hunter2"[::-1] not in told


async def test_what_was_printed_is_shown_also_where_no_file_can_be_made(scripting: Scripting) -> None:
    files = scripting.hands.context.scratchpad
    files.write("work.py", "1")
    for number in range(500 - len(files.listing())):
        (files.root / f"full-{number}.txt").touch()
    receipt = await scripting.run("print('begin' + 'x' * 5_000 + 'end')")
    assert receipt.status is ReceiptStatus.OK
    assert "kept in no file (There are 500 files already" in receipt.text
    assert "begin" in (receipt.carried or "")
    assert "end" in (receipt.carried or "")


async def test_what_scripts_read_counts_as_read_but_not_what_they_say(scripting: Scripting) -> None:
    await scripting.hands.open("product.html")
    evidence = scripting.hands.context.evidence
    await scripting.value("await browser.evaluate('\"Invented Name\"')")
    assert evidence.find("Invented Name", None) is None
    await scripting.hands.js("document.body.append('Marked Down')")
    await scripting.value("await browser.evaluate('document.body.lastChild.textContent')")
    assert evidence.find("Marked Down", None) is not None


async def test_without_a_sandbox_the_model_is_not_told_of_scripts(scripting: Scripting) -> None:
    context = scripting.hands.context
    assert "run_code_file" in Registry.for_context(context).describe()
    assert "run_code_file" not in Registry.for_context(replace(context, sandbox=None)).describe()


async def test_a_function_that_is_not_there_is_refused(scripting: Scripting) -> None:
    calls = ScriptCalls(scripting.hands.context)
    with pytest.raises(Exception, match="There is no function"):
        await calls.functions.call("browser.close", {})
    with pytest.raises(Exception, match="code: Field required"):
        await calls.functions.call("browser.evaluate", {})


async def code_tab_says(scripting: Scripting) -> str:
    """Return the text of the code tab, "" when there is none."""
    tab = scripting.hands.browser.code_tab._tab
    return "" if tab is None else str(await tab.run("() => document.body.innerText"))


async def test_a_script_and_what_it_printed_are_shown_in_a_tab_of_its_own(scripting: Scripting) -> None:
    await scripting.hands.open("product.html")
    before = await scripting.hands.browser.list_tabs()
    await scripting.value("total = 6 * 7  # <b>not bold</b>\nprint('The sum is', total)\n'ok'")
    said = await code_tab_says(scripting)
    assert "total = 6 * 7  # <b>not bold</b>" in said
    assert "The sum is 42" in said
    assert "done" in said
    assert await scripting.hands.browser.list_tabs() == before

    seen = await scripting.hands.browser.observe()
    assert len(seen.tabs) == len(before)
    assert seen.screenshot is not None
    assert await code_tab_says(scripting) == ""


async def test_the_page_is_in_front_when_a_script_works_with_it(scripting: Scripting) -> None:
    await scripting.hands.open("product.html")
    frame = "new Promise((done) => requestAnimationFrame(() => done(document.visibilityState)))"
    assert await scripting.value(f"await browser.evaluate({frame!r})") == "visible"
    assert await code_tab_says(scripting) == ""
