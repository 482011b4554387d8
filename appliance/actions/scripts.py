"""The action that runs a Python script of the model's in the sandbox."""

import asyncio

from pydantic import Field

from appliance.actions.base import Action, ActionContext, Parameters, Receipt
from appliance.actions.script_calls import ScriptCalls
from appliance.browser.code_tab import Stage
from appliance.errors import ActionFailed, MachineFault
from appliance.filenames import clean_name, free_name
from appliance.words import ReceiptStatus
from appliance.workspaces.sandbox import SCRIPT_SECONDS, Sandbox, ScriptRun

INLINE = 2_000
"""Characters of what a script printed, and of its value, that are shown; the rest is in a file."""
SHOWN_ERROR = 3_000
MAX_CODE = 200_000


class RunCodeFile(Parameters):
    """Parameters of run_code_file."""

    name: str = Field(min_length=1)
    code: str = Field(min_length=1, max_length=MAX_CODE)
    url: str | None = None


async def _run_code_file(context: ActionContext, parameters: RunCodeFile) -> Receipt:
    if context.sandbox is None:
        raise ActionFailed("Scripts cannot be run on this machine; use the other actions.")
    name = _script_name(parameters.name)
    context.scratchpad.write(name, parameters.code)
    calls = ScriptCalls(context)
    if parameters.url is not None:
        await calls.functions.call("browser.navigate", {"url": parameters.url})
    showing = asyncio.create_task(_show(context, name, parameters.code, Stage.RUNNING))
    try:
        outcome = await context.sandbox.run(name, parameters.code, calls.functions, context.pause)
        await showing
    except MachineFault as fault:
        raise ActionFailed(f"{name} was not run: {fault.message}") from fault
    finally:
        showing.cancel()
    receipt = _receipt(context, name, context.sensitive.redact_all(outcome), calls)
    if context.browser.code_tab.is_in_front:
        stage = Stage.DONE if receipt.status is ReceiptStatus.OK else Stage.FAILED
        await _show(context, name, parameters.code, stage, receipt.carried or receipt.text)
    if calls.has_touched:
        await context.browser.settle()
    await context.tell("script_run", f"{receipt.text} It has {len(parameters.code.splitlines())} lines.")
    return receipt


async def _show(context: ActionContext, name: str, code: str, stage: Stage, output: str = "") -> None:
    await context.browser.code_tab.show(name, context.sensitive.redact(code), stage, output)


def _script_name(wanted: str) -> str:
    name = clean_name(wanted)
    return name if name.endswith(".py") else f"{name}.py"


def _receipt(context: ActionContext, name: str, outcome: ScriptRun, calls: ScriptCalls) -> Receipt:
    facts: list[str] = []
    shown: list[str] = []
    for what, text in (("printed", outcome.printed), ("value", outcome.value or "")):
        if text.strip():
            facts.append(_kept(context, name, what, text, shown))
    if outcome.error is not None:
        shown.append(f"<error>\n{outcome.error[-SHOWN_ERROR:]}\n</error>")
    said = f": {'; '.join(facts)}" if facts else ""
    carried = "\n".join(shown) or None
    is_fine = outcome.error is None and not outcome.lost
    if is_fine:
        text = f"Ran {name} in {outcome.duration:.1f} s{said or ': it printed nothing and has no value'}."
    elif outcome.lost:
        text = (
            f"{name} did not end: {outcome.lost}; its variables are gone, files and the browser stay as they are{said}."
        )
    else:
        text = f"{name} failed: {_last_line(outcome.error or '')}{said}."
    status = ReceiptStatus.OK if is_fine else ReceiptStatus.FAILED
    return Receipt(
        status, text, carried=carried, ends_chain=calls.has_touched or not is_fine, is_page_touched=calls.has_touched
    )


def _kept(context: ActionContext, name: str, what: str, text: str, shown: list[str]) -> str:
    """Add what is shown of a text, which is kept in a file when that is not all; returns what to say of it."""
    verb = "it printed" if what == "printed" else "its value has"
    if len(text) <= INLINE:
        shown.append(f"<{what}>\n{text.rstrip()}\n</{what}>")
        return f"{verb} {len(text)} characters"
    stem, half = name.removesuffix(".py"), INLINE // 2
    try:
        saved = context.scratchpad.write(free_name(context.scratchpad.root, f"{stem}_{what}.txt"), text).name
        whole, kept = f"all of it is in {saved}", f"kept in {saved}"
    except ActionFailed as error:
        whole, kept = "which are lost", f"kept in no file ({error.message.rstrip('.')})"
    middle = f"… ({len(text) - 2 * half} characters more, {whole}) …"
    shown.append(f"<{what}>\n{text[:half]}\n{middle}\n{text[-half:]}\n</{what}>")
    return f"{verb} {len(text)} characters, {kept}"


def _last_line(error: str) -> str:
    lines = error.strip().splitlines()
    return lines[-1][:300].rstrip(".") if lines else "without a word"


def has_sandbox(context: ActionContext) -> bool:
    """Whether scripts can be run in this run."""
    return isinstance(context.sandbox, Sandbox)


RUN_CODE_FILE = Action(
    "run_code_file",
    "Save a Python script among your files and run it at once; variables last from script to script. To be awaited: "
    "fetch(url, method, headers, body) with .status .text .json(), and browser.evaluate(js) get_html() frames() "
    "navigate(url) read_pages(urls) frame_text(f) frame_jsonld(f) frame_evaluate(f, js) wait_for_frame(f), f being a "
    "part of a frame's address. Also read_json, save_json, open, list_files, remember, recall. What is printed and the "
    "last expression's value are shown. No network or processes of its own; 120 s per cell (begun by # %%), 300 s in "
    "all.",
    RunCodeFile,
    _run_code_file,
    deadline=SCRIPT_SECONDS + 60,
    touches_page=False,
    is_desk_work=True,
    needs=has_sandbox,
)
