"""The action that ends a run with an answer."""

import json
from typing import Any

from appliance.actions.base import Action, ActionContext, Parameters, Receipt
from appliance.errors import ActionFailed, RunDone
from appliance.surrogates import make_whole

MAX_NAMED_DEFECTS = 5
MAX_ATTACHED = 20_000
"""Characters of a file that stand below an answer."""


class Done(Parameters):
    """Parameters of done."""

    text: str | dict[str, Any] | list[Any]
    success: bool = True
    files_to_display: list[str] | None = None


async def _done(context: ActionContext, parameters: Done) -> Receipt:
    answer = read_answer(context, parameters)
    raise RunDone("The agent handed in its answer.", answer=answer, success=parameters.success)


def read_answer(context: ActionContext, parameters: Done) -> Any:
    """Return the answer: the text with the files that belong to it, or the JSON that the output schema asks for.

    Raises ActionFailed naming what is wrong with it.
    """
    text = parameters.text if isinstance(parameters.text, str) else json.dumps(parameters.text, ensure_ascii=False)
    if context.output_schema is None:
        return text + _attached(context, parameters.files_to_display or [])
    return _structured(context.output_schema, text)


def _attached(context: ActionContext, names: list[str]) -> str:
    """Return the text of the named files, to stand below the answer; of what is long or no text, the name alone."""
    parts: list[str] = []
    for name in dict.fromkeys(names):
        try:
            text = context.scratchpad.read(name)
        except ActionFailed as error:
            has_file = context.browser.downloads.has(name) or name in {e.name for e in context.scratchpad.listing()}
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
    "End the run with your answer in text, as JSON if there is an answer schema. success is false if the task could "
    "not be done in full. files_to_display are files of yours that belong to the answer.",
    Done,
    _done,
    touches_page=False,
)
