"""Actions on the answer that a run fills in; each write is checked and told with what is still missing."""

import json
from collections.abc import Callable, Iterator
from typing import Annotated, Any, cast

from pydantic import BeforeValidator, Field, model_validator

from appliance.actions.base import Action, ActionContext, Parameters, Receipt
from appliance.actions.rows import read_rows
from appliance.errors import ActionFailed, AnswerRefused
from appliance.store.answers import AnswerStore, Written
from appliance.store.coercion import read_json
from appliance.words import ReceiptStatus

DEFAULT_COUNT = 20
MAX_COUNT = 200
MAX_CHARACTERS = 24_000
MAX_TEXT = 300
MAX_HITS = 25
_AROUND = 60


def _parsed(value: Any) -> Any:
    """Return a list or object that was written as JSON text."""
    if isinstance(value, str) and value.lstrip()[:1] in ("[", "{"):
        try:
            return read_json(value)
        except ValueError:
            return value
    return value


def _listed(value: Any) -> Any:
    value = _parsed(value)
    return [value] if isinstance(value, int | str | dict) else value


def _as_fields(value: Any) -> Any:
    """Return fields as they are, and a plain value as that of a plain item."""
    value = _parsed(value)
    return cast("dict[str, Any]", value) if isinstance(value, dict) else {"value": value}


Index = Annotated[int, Field(ge=0)]
Indices = Annotated[list[Index], BeforeValidator(_listed)]


class AddItem(Parameters):
    """Parameters of add_item."""

    item: Any

    @model_validator(mode="before")
    @classmethod
    def _wrap(cls, value: Any) -> Any:
        """Take the fields themselves for the item, too."""
        is_whole = not isinstance(value, dict) or "item" in value
        return cast("Any", value if is_whole else {"item": value})


class UpdateItem(Parameters):
    """Parameters of update_item."""

    index: Index
    fields: Annotated[dict[str, Any], BeforeValidator(_as_fields)]


class UpdateItems(Parameters):
    """Parameters of update_items."""

    updates: Annotated[list[dict[str, Any]], BeforeValidator(_listed)]


class SetField(Parameters):
    """Parameters of set_field."""

    field: str
    value: Any


class RemoveItems(Parameters):
    """Parameters of remove_items."""

    indices: Indices


class MarkAbsent(Parameters):
    """Parameters of mark_absent."""

    field: str
    reason: str
    index: Annotated[list[Index], BeforeValidator(_listed)] | None = None


class ReadOutput(Parameters):
    """Parameters of read_output."""

    start: int = Field(0, ge=0, alias="from")
    count: int = Field(DEFAULT_COUNT, ge=1, le=MAX_COUNT)


class SearchOutput(Parameters):
    """Parameters of search_output."""

    query: str = Field(min_length=1)


class FromFile(Parameters):
    """Parameters of the actions that take rows out of a file."""

    name: str


async def _add_item(context: ActionContext, parameters: AddItem) -> Receipt:
    return await _write(context, parameters.item, lambda store: store.add_item(parameters.item))


async def _update_item(context: ActionContext, parameters: UpdateItem) -> Receipt:
    fields = parameters.fields
    return await _write(context, fields, lambda store: store.update_item(parameters.index, fields))


async def _update_items(context: ActionContext, parameters: UpdateItems) -> Receipt:
    return await _write(context, parameters.updates, lambda store: store.update_items(parameters.updates))


async def _set_field(context: ActionContext, parameters: SetField) -> Receipt:
    value = parameters.value
    return await _write(context, value, lambda store: store.set_field(parameters.field, value))


async def _remove_items(context: ActionContext, parameters: RemoveItems) -> Receipt:
    return await _write(context, None, lambda store: store.remove_items(parameters.indices))


async def _mark_absent(context: ActionContext, parameters: MarkAbsent) -> Receipt:
    return await _write(
        context, None, lambda store: store.mark_absent(parameters.field, parameters.reason, parameters.index)
    )


async def _add_items_from_file(context: ActionContext, parameters: FromFile) -> Receipt:
    rows = read_rows(context, parameters.name, _store(context).schema.list_field)
    return await _write(context, rows, lambda store: store.load_rows(rows))


async def _update_items_from_file(context: ActionContext, parameters: FromFile) -> Receipt:
    rows = read_rows(context, parameters.name, _store(context).schema.list_field)
    return await _write(context, rows, lambda store: store.update_rows(rows))


async def _read_output(context: ActionContext, parameters: ReadOutput) -> Receipt:
    store = _store(context)
    rows = store.items
    lines = [f"{name}: {_shown(value)}" for name, value in _own_fields(store).items()]
    first, last = parameters.start, min(parameters.start + parameters.count, len(rows))
    if rows and first >= len(rows):
        raise ActionFailed(f"There are {len(rows)} items, numbered 0 to {len(rows) - 1}; {first} is beyond them.")
    room = MAX_CHARACTERS - sum(map(len, lines))
    for index in range(first, last):
        line = f"{index}: {_shown(rows[index])}"
        room -= len(line)
        if room < 0 and index > first:
            last = index
            break
        lines.append(line)
    part = f", {first} to {last - 1} shown" if len(rows) > last - first else ""
    more = f"; go on with from {last}" if last < len(rows) else ""
    text = f"The answer has {len(rows)} item(s){part}{more}. {store.coverage_line}"
    return Receipt(ReceiptStatus.OK, text, carried="\n".join(lines) or None)


async def _search_output(context: ActionContext, parameters: SearchOutput) -> Receipt:
    store = _store(context)
    wanted = parameters.query.lower()
    hits = [
        f"{index}: {place} {_around(text, wanted)}"
        for index, row in enumerate(store.items)
        for place, text in _texts(row, "")
        if wanted in text.lower()
    ]
    hits += [
        f"{name}{place} {_around(text, wanted)}"
        for name, value in _own_fields(store).items()
        for place, text in _texts(value, "")
        if wanted in text.lower()
    ]
    if not hits:
        return Receipt(ReceiptStatus.OK, f"Nothing in the answer has {parameters.query[:100]!r}.")
    shown = f", the first {MAX_HITS} are shown" if len(hits) > MAX_HITS else ""
    text = f"{len(hits)} value(s) of the answer have {parameters.query[:100]!r}{shown}."
    return Receipt(ReceiptStatus.OK, text, carried="\n".join(hits[:MAX_HITS]))


async def _write(context: ActionContext, value: Any, write: Callable[[AnswerStore], Written]) -> Receipt:
    """Do one write and return what came of it; a refused one ends no chain, since it changed nothing."""
    store = _store(context)
    await know_links(context, store, value)
    try:
        written = write(store)
    except AnswerRefused as error:
        return Receipt(ReceiptStatus.FAILED, f"Nothing was written. {_capital(error.message)}", lasting=error.message)
    return Receipt(ReceiptStatus.OK, f"{written.text} {written.coverage_line}")


async def know_links(context: ActionContext, store: AnswerStore, value: Any) -> None:
    """Gather the links of the page that is open when the value has an address that no page has shown so far."""
    if context.browser.dialog is not None or not any(not store.knows_link(url) for url in _addresses(value)):
        return
    try:
        found = await context.browser.links()
    except ActionFailed:
        return  # then the address stays unknown, and the write says so
    redact = context.sensitive.redact
    store.evidence.add_links(redact(context.browser.tab.url), frozenset(redact(link.url) for link in found))


def _addresses(value: Any) -> Iterator[str]:
    for _, text in _texts(_parsed(value), ""):
        if "://" in text and not any(sign.isspace() for sign in text.strip()):
            yield text.strip()


def _texts(value: Any, place: str) -> Iterator[tuple[str, str]]:
    """Yield the texts and numbers in a JSON value with their places in it."""
    if isinstance(value, dict):
        for name, inner in cast("dict[str, Any]", value).items():
            yield from _texts(inner, f"{place}.{name}" if place else str(name))
    elif isinstance(value, list):
        for number, inner in enumerate(cast("list[Any]", value)):
            yield from _texts(inner, f"{place}[{number}]")
    elif value is not None:
        yield place, value if isinstance(value, str) else json.dumps(value)


def _own_fields(store: AnswerStore) -> dict[str, Any]:
    value = store.value
    fields = cast("dict[str, Any]", value) if isinstance(value, dict) else {}
    return {name: inner for name, inner in fields.items() if name != store.schema.list_field}


def _shown(value: Any) -> str:
    return json.dumps(_shortened(value), ensure_ascii=False)


def _shortened(value: Any) -> Any:
    """Return the value with its long texts cut."""
    if isinstance(value, str):
        return value if len(value) <= MAX_TEXT else f"{value[: MAX_TEXT - 20]}… ({len(value)} characters)"
    if isinstance(value, dict):
        return {name: _shortened(inner) for name, inner in cast("dict[str, Any]", value).items()}
    return [_shortened(inner) for inner in cast("list[Any]", value)] if isinstance(value, list) else value


def _around(text: str, wanted: str) -> str:
    start = text.lower().find(wanted)
    first, last = max(0, start - _AROUND), min(len(text), start + len(wanted) + _AROUND)
    return f"{'…' if first else ''}{text[first:last]}{'…' if last < len(text) else ''}"


def _capital(text: str) -> str:
    return text if "." in text.split(":", 1)[0] or ":" in text.split(" ", 1)[0] else text[:1].upper() + text[1:]


def _store(context: ActionContext) -> AnswerStore:
    if context.store is None:
        raise ActionFailed("This run has no answer schema to fill; give the answer in done.")
    return context.store


def _has_store(context: ActionContext) -> bool:
    return context.store is not None


def _has_list(context: ActionContext) -> bool:
    return context.store is not None and context.store.has_items


def _action(
    name: str,
    description: str,
    parameters: type[Any],
    run: Callable[[ActionContext, Any], Any],
    needs: Callable[[ActionContext], bool] = _has_store,
) -> Action[Any]:
    return Action(name, description, parameters, run, touches_page=False, is_desk_work=True, needs=needs)


STORE_ACTIONS: tuple[Action[Any], ...] = (
    _action("add_item", "Append one item to the answer's list.", AddItem, _add_item, _has_list),
    _action("update_item", "Set fields of item index (from 0); null clears one.", UpdateItem, _update_item, _has_list),
    _action(
        "update_items", 'The same for several, each {"index": 3, "fields": {…}}.', UpdateItems, _update_items, _has_list
    ),
    _action("set_field", "Set a field of the answer itself, outside the list.", SetField, _set_field),
    _action("remove_items", "Remove items; those after them move up.", RemoveItems, _remove_items, _has_list),
    _action(
        "mark_absent",
        "Say that a value is stated nowhere, after looking where it would be; index: of these items only.",
        MarkAbsent,
        _mark_absent,
    ),
    _action("read_output", "Show the answer as it stands, count items from number from.", ReadOutput, _read_output),
    _action("search_output", "Find a text in the answer.", SearchOutput, _search_output, _has_list),
    _action(
        "add_items_from_file",
        "Append the rows of a JSON or CSV file of yours, such as rows_draft.json.",
        FromFile,
        _add_items_from_file,
    ),
    _action(
        "update_items_from_file",
        "Set fields from the rows of a file, each found by its index, own address, id or title.",
        FromFile,
        _update_items_from_file,
        _has_list,
    ),
)
"""All actions on the answer, for runs whose schema has something to fill."""
