"""The action that ends a run with an answer: a text, or what the answer store holds, once it is complete."""

import json
from typing import Any, cast

from appliance.actions.answers import know_links
from appliance.actions.base import Action, ActionContext, Parameters, Receipt
from appliance.actions.completeness import open_fields, shortcuts, what_lacks
from appliance.errors import ActionFailed, AnswerRefused, AnswerShape, RunDone
from appliance.store.answers import AnswerStore
from appliance.store.sources import trace
from appliance.surrogates import make_whole

MAX_NAMED_DEFECTS = 5
DEADLINE_SECONDS = 120.0
"""It takes seconds to find where the values of thousands of items were read."""
MAX_ATTACHED = 20_000
"""Characters of a file that stand below an answer."""


class Done(Parameters):
    """Parameters of done."""

    text: str | dict[str, Any] | list[Any]
    success: bool = True
    files_to_display: list[str] | None = None


async def _done(context: ActionContext, parameters: Done) -> Receipt:
    store = context.store
    if store is None:
        answer = _plain_answer(context, parameters)
        raise RunDone("The agent handed in its answer.", answer=answer, success=parameters.success)
    if (document := _document_in(context, store, parameters)) is not None:
        await _take_in(context, store, document)
    await store.trace()
    lacking = [] if context.is_delivery else what_lacks(context, store)
    if lacking and context.gate.bounce(store):
        helps = " ".join(shortcuts(context, store))
        raise ActionFailed(
            f"done was not accepted: {' '.join(lacking)} {helps}".strip(),
            lasting=f"done was not accepted: {lacking[0][:200]}",
        )
    if lacking:
        said = f"The answer is handed over incomplete, after {context.gate.bounces} tries that added nothing."
        await context.tell("incomplete", f"{said} {' '.join(lacking)}")
    raise _done_with(store, parameters, is_incomplete=bool(lacking))


def check_answer(context: ActionContext, parameters: Done) -> None:
    """Raise ActionFailed, naming what is wrong, for a done that hands over nothing; changes nothing."""
    store = context.store
    if store is None:
        _plain_answer(context, parameters)
    elif _document_in(context, store, parameters) is None and not store.is_touched:
        raise ActionFailed("nothing was written into the answer; put what you have into text, as JSON of the schema.")


def _done_with(store: AnswerStore, parameters: Done, *, is_incomplete: bool) -> RunDone:
    """Return the ending that hands over what the store holds."""
    answer, fits = store.value, store.is_touched and store.is_valid
    missing = " ".join(open_fields(store))
    lacking = f"The answer is not complete. {missing}" if missing else ""
    if not fits:
        defects = "; ".join(store.defects()) or "nothing was written into it"
        lacking = f"{lacking} It does not fit the output schema: {defects}.".strip()
    text = parameters.text if isinstance(parameters.text, str) else ""
    is_note = not text.lstrip().startswith(("{", "[", "`"))
    return RunDone(
        "The answer was handed in incomplete." if is_incomplete else "The agent handed in its answer.",
        answer=answer,
        success=parameters.success and fits and not is_incomplete,
        note=text.strip() if is_note else "",
        shape=AnswerShape(fits, lacking, trace(answer, store.provenance())),
    )


def _document_in(context: ActionContext, store: AnswerStore, parameters: Done) -> Any:
    """Return the whole answer where the text is one and the store is not filled otherwise, else None.

    Raises ActionFailed when it does not fit the schema.
    """
    if not context.gate.may_replace(store):
        return None
    text = _as_text(parameters)
    if not _without_fence(text).lstrip().startswith(("{", "[")):
        return None
    assert context.output_schema is not None
    return _structured(context.output_schema, text)


async def _take_in(context: ActionContext, store: AnswerStore, document: Any) -> None:
    """Write a whole answer into the store, by the rules of every write; raises ActionFailed naming what was refused."""
    parts: dict[str, Any] = cast("dict[str, Any]", document) if isinstance(document, dict) else {"": document}
    await know_links(context, store, document)
    refused: list[str] = []
    for name, value in parts.items():
        try:
            store.set_field(name, value)
        except AnswerRefused as error:
            refused.append(error.message)
    context.gate.note_filled(store)
    if refused and not (context.is_delivery and store.is_touched):
        raise ActionFailed(
            f"done was not accepted: {' '.join(refused)[:2_000]} Correct it and call done again.",
            lasting="done was not accepted: a part of the answer was refused.",
        )


def _plain_answer(context: ActionContext, parameters: Done) -> Any:
    """Return the answer: the text with the files that belong to it, or the JSON that the output schema asks for.

    Raises ActionFailed naming what is wrong with it.
    """
    text = _as_text(parameters)
    if context.output_schema is None:
        return text + _attached(context, parameters.files_to_display or [])
    return _structured(context.output_schema, text)


def _as_text(parameters: Done) -> str:
    text = parameters.text
    return text if isinstance(text, str) else json.dumps(text, ensure_ascii=False)


def _attached(context: ActionContext, names: list[str]) -> str:
    """Return the text of the named files, to stand below the answer; of what is long or no text, the name alone."""
    parts: list[str] = []
    for name in dict.fromkeys(names):
        try:
            text = context.files.read(name)
        except ActionFailed as error:
            has_file = context.browser.downloads.has(name) or name in {e.name for e in context.files.listing()}
            # An answer is not lost for a file that does not go with it.
            parts.append(f"\n\n{name} (a file)" if has_file else f"\n\n{error.message}")
            continue
        is_short = len(text) <= MAX_ATTACHED
        parts.append(f"\n\n{name}:\n{text.rstrip()}" if is_short else f"\n\n{name} (a file of {len(text)} characters)")
    return "".join(parts)


def _structured(schema: dict[str, Any], text: str) -> Any:
    """Return the answer that the text holds; raises ActionFailed naming what does not fit the schema."""
    import jsonschema_rs  # noqa: PLC0415  (only runs with a schema need it)

    try:
        answer = json.loads(make_whole(_without_fence(text)), parse_constant=_refuse_constant)
    except (ValueError, RecursionError) as error:
        raise ActionFailed(
            f"done was not accepted: text must be the JSON of the output schema, and it is not JSON ({error})."
        ) from error
    try:
        validator = jsonschema_rs.validator_for(schema, offline=True)
    except jsonschema_rs.ValidationError as error:
        raise ActionFailed(
            f"done was not accepted: the output schema itself cannot be used ({error.message})."
        ) from error
    defects = [
        f"{'/'.join(str(part) for part in error.instance_path) or 'the answer'}: {error.message[:200]}"
        for _, error in zip(range(MAX_NAMED_DEFECTS), validator.iter_errors(answer), strict=False)
    ]
    if defects:
        raise ActionFailed(
            f"done was not accepted, the answer does not fit the output schema: {'; '.join(defects)}. Correct it and "
            "call done again.",
            lasting="done was not accepted: the answer did not fit the output schema.",
        )
    return answer


def _refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is no JSON number")


def _without_fence(text: str) -> str:
    """Return the text without a Markdown code fence around it, which models like to add."""
    text = text.strip()
    if text.startswith("```") and text.endswith("```") and "\n" in text:
        return text[text.index("\n") + 1 : -3]
    return text


DONE = Action(
    "done",
    "End the run with your answer in text. success is false if the task could not be done in full. files_to_display "
    "are files of yours that belong to the answer.",
    Done,
    _done,
    deadline=DEADLINE_SECONDS,
    touches_page=False,
)
