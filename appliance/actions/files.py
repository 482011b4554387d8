"""Actions on the session's own files."""

from pydantic import Field

from appliance.actions.base import Action, ActionContext, Parameters, Receipt
from appliance.actions.portions import portion_end
from appliance.errors import ActionFailed
from appliance.filenames import clean_name
from appliance.words import ReceiptStatus
from appliance.workspaces.scratchpad import MAX_FILE_BYTES, Saved, decode

MAX_READ_CHARACTERS = 60_000


class WriteFile(Parameters):
    """Parameters of write_file."""

    file_name: str
    content: str
    append: bool = False


class ReplaceFile(Parameters):
    """Parameters of replace_file."""

    file_name: str
    old_str: str
    new_str: str


class ReadFile(Parameters):
    """Parameters of read_file."""

    file_name: str
    start_from_char: int = Field(0, ge=0)


async def _write_file(context: ActionContext, parameters: WriteFile) -> Receipt:
    write = context.files.append if parameters.append else context.files.write
    saved = write(parameters.file_name, parameters.content)
    verb = "Appended to" if parameters.append else "Wrote"
    return Receipt(ReceiptStatus.OK, f"{verb} {_named(saved, parameters.file_name)}.")


async def _replace_file(context: ActionContext, parameters: ReplaceFile) -> Receipt:
    count = context.files.replace(parameters.file_name, parameters.old_str, parameters.new_str)
    name = clean_name(parameters.file_name)
    return Receipt(ReceiptStatus.OK, f"Replaced {count} place(s) in {name}{_renamed(name, parameters.file_name)}.")


async def _read_file(context: ActionContext, parameters: ReadFile) -> Receipt:
    name, text = read_text(context, parameters.file_name)
    start = parameters.start_from_char
    if not text:
        raise ActionFailed(f"{name} is empty.")
    if start >= len(text):
        raise ActionFailed(f"{name} has {len(text)} characters; start_from_char is beyond its end.")
    end = portion_end(text, start, MAX_READ_CHARACTERS)
    shown = text[start:end]
    part = ""
    if len(shown) < len(text):
        part = f", {start} to {end} shown" + (f"; go on with start_from_char {end}" if end < len(text) else "")
    return Receipt(ReceiptStatus.OK, f"Read {name} ({len(text)} characters{part}).", carried=shown)


def read_text(context: ActionContext, wanted: str) -> tuple[str, str]:
    """Return name and text of a file that is kept by name, or of a download when there is none of that name."""
    downloads = context.browser.downloads
    name = clean_name(wanted)
    kept = {entry.name for entry in context.files.listing()}
    if wanted in kept or name in kept or not downloads.has(wanted):
        return wanted if wanted in kept else name, context.files.read(wanted)
    path = downloads.path_of(wanted)
    if path.stat().st_size > MAX_FILE_BYTES:
        raise ActionFailed(f"{wanted} has {path.stat().st_size} bytes, too many to be read at once.")
    return wanted, decode(wanted, path.read_bytes())


def _named(saved: Saved, asked: str) -> str:
    return f"{saved.name} ({saved.size} bytes{_renamed(saved.name, asked)})"


def _renamed(name: str, asked: str) -> str:
    return f", asked for as {asked!r}" if name != asked else ""


WRITE_FILE = Action(
    "write_file",
    "Write a text file of your own; append adds at the end instead. todo.md is your plan and always shown.",
    WriteFile,
    _write_file,
    touches_page=False,
    is_desk_work=True,
)
REPLACE_FILE = Action(
    "replace_file",
    "Replace every occurrence of old_str in a file of yours.",
    ReplaceFile,
    _replace_file,
    touches_page=False,
    is_desk_work=True,
)
READ_FILE = Action(
    "read_file",
    "Read a file of yours or a downloaded text file; its text is shown once, in the next step. start_from_char goes on "
    "in a long one.",
    ReadFile,
    _read_file,
    touches_page=False,
    is_desk_work=True,
)
