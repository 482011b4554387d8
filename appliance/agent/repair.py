"""Reads a model's reply as it was meant, and names the defect when it cannot be: fenced, wrapped, quoted or leaked."""

import json
import re
from typing import Any, cast
from uuid import uuid4

from appliance.actions.registry import ParsedCall, Registry
from appliance.actions.schema import CARD_FIELDS, MAX_CHAIN
from appliance.agent.step import Plan, PlannedAction
from appliance.errors import ActionInvalid, ReplyMalformed
from appliance.events import ActionCall
from appliance.json_texts import objects_in
from appliance.models.base import Reply
from appliance.surrogates import make_whole

_MAX_SENTENCE = 2_000
_REPLY_FIELDS = frozenset({"action", "actions", *CARD_FIELDS})
_FENCED = re.compile(r"```\w*\s*\n(.*?)\n?\s*```", re.DOTALL)
_NAMES = ("name", "type", "action", "tool")
_ARGUMENTS = ("arguments", "parameters", "params", "input", "args")
_LEAKED = re.compile(r"<action>(.*?)(?:</action>|$)|\"?actions?\"?\s*:\s*(\[.*)", re.DOTALL)

Fields = dict[str, Any]


def read_plan(reply: Reply, registry: Registry, *, only_done: bool = False) -> Plan:
    """Return what the reply asks for.

    A call that cannot be run stays in the plan with its defect when others come before it. With `only_done` all
    but the answer is left out. Raises ReplyMalformed, naming the defect, when nothing in the reply can be run.
    """
    try:
        fields = _read_object(reply)
        calls = _find_calls(fields, registry)
    except RecursionError as error:
        raise ReplyMalformed("its JSON is nested too deeply.") from error
    if only_done:
        calls = [call for call in calls if "done" in call][:1]
        if not calls:
            raise ReplyMalformed("it did not call done, and this turn is for handing in the answer only.")
    actions = tuple(_planned(call, registry) for call in calls[:MAX_CHAIN])
    first = actions[0].runnable
    if isinstance(first, ActionInvalid):
        raise ReplyMalformed(f"the first action is not valid. {first.message}")
    see, plan, move = (_sentence(fields.get(name)) for name in CARD_FIELDS)
    return Plan(see, plan, move, actions, left_out=len(calls) - len(actions))


def _read_object(reply: Reply) -> Fields:
    text = make_whole(reply.text.strip())
    if reply.stop == "length":
        raise ReplyMalformed(
            "it was cut off because it was too long. Answer shorter; write long text to a file in parts."
        )
    if not text:
        raise ReplyMalformed("it was empty.")
    for read in (_read_strictly, _read_inside, _read_mended):
        fields = read(text)
        if fields is not None:
            return fields
    if reply.stop == "refusal":
        raise ReplyMalformed("it was a refusal. If the task cannot be done, call done with success false and say why.")
    if "{" not in text:
        raise ReplyMalformed("it holds no JSON object.")
    if _ends_in_string(text):
        raise ReplyMalformed("its JSON ends in the middle of a string.")
    raise ReplyMalformed(f"its JSON cannot be read ({_json_defect(text)}).")


def _read_strictly(text: str) -> Fields | None:
    """Return the object that the whole text is, a code fence around it left out."""
    fenced = _FENCED.fullmatch(text)
    return _unwrap(_decode(fenced[1] if fenced else text))


def _read_inside(text: str) -> Fields | None:
    """Return the first object in the text that looks like a reply, whatever stands around it."""
    for value in objects_in(text):
        fields = _unwrap(value)
        if fields and fields.keys() & _REPLY_FIELDS:
            return fields
    return None


def _read_mended(text: str) -> Fields | None:
    """Return the object after its JSON was mended; an unfinished string is not, since that would invent its end."""
    start = text.find("{")
    if start == -1 or _ends_in_string(text[start:]):
        return None
    import json_repair  # noqa: PLC0415  (replies that need it are rare)

    return _unwrap(json_repair.loads(text[start:]))


def _decode(text: str) -> Any:
    try:
        value = json.loads(make_whole(text), strict=False)
    except ValueError:
        return None
    return _decode(value) if isinstance(value, str) else value


def _unwrap(value: object) -> Fields | None:
    """Return the reply's object out of what was read, or None when it is something else."""
    if isinstance(value, list):
        return (
            {"action": value} if value and all(isinstance(item, dict) for item in cast("list[object]", value)) else None
        )
    if not isinstance(value, dict):
        return None
    fields = cast("Fields", value)
    if len(fields) == 1:
        inner = next(iter(fields.values()))
        inner = _decode(inner) if isinstance(inner, str) else inner
        if isinstance(inner, dict) and _REPLY_FIELDS & cast("Fields", inner).keys():
            return cast("Fields", inner)
    return fields


def _find_calls(fields: Fields, registry: Registry) -> list[Fields]:
    """Return the action objects, wherever the reply has them; there is at least one."""
    given = fields["action"] if fields.get("action") is not None else fields.get("actions")
    if isinstance(given, str):
        given = _decode_loosely(given)
        if given is None:
            raise ReplyMalformed("`action` is a text, not a list of objects.")
    if given is None:
        given = _leaked_calls(fields, registry)
    if isinstance(given, dict):
        given = _split_object(cast("Fields", given))
    if not isinstance(given, list):
        raise ReplyMalformed("it has no `action`, the list of one to eight actions to do.")
    if not given:
        raise ReplyMalformed("`action` is an empty list; name at least one action, or call done.")
    return [_named_call(call) for call in cast("list[object]", given)]


def _split_object(call: Fields) -> list[Fields]:
    """Return an object with several actions as one object for each."""
    if any(name in call and isinstance(call[name], str) for name in _NAMES):
        return [call]
    return [{name: arguments} for name, arguments in call.items()]


def _leaked_calls(fields: Fields, registry: Registry) -> list[Fields] | None:
    """Return actions that stand beside the sentences instead of in `action`, or inside one of them."""
    beside = [
        {name: value} for name, value in fields.items() if name not in CARD_FIELDS and _is_call(name, value, registry)
    ]
    if beside:
        return beside
    for name in CARD_FIELDS:
        match = _LEAKED.search(fields[name]) if isinstance(fields.get(name), str) else None
        found = _decode_loosely(match[1] or match[2]) if match else None
        if isinstance(found, list) and found:
            fields[name] = fields[name][: match.start()].rstrip(' ,"') if match else ""
            return cast("list[Fields]", found)
    return None


def _is_call(name: str, value: object, registry: Registry) -> bool:
    try:
        registry.parse({name: value})
    except ActionInvalid:
        return False
    return True


def _decode_loosely(text: str) -> Any:
    """Return the JSON at the start of the text, whatever follows it, or None."""
    text = make_whole(text.strip())
    try:
        value, _ = json.JSONDecoder(strict=False).raw_decode(text)
    except ValueError:
        return None
    return value


def _named_call(call: object) -> Fields:
    """Return the one-key form of a call that was written as {"name": ..., "arguments": {...}} or as quoted JSON."""
    if isinstance(call, str):
        call = _decode_loosely(call) or {call.strip(): {}}
    if not isinstance(call, dict):
        return {"": call}
    fields = cast("Fields", call)
    if len(fields) < 2:
        return {name: _opened(value) for name, value in fields.items()}
    for key in _NAMES:
        name = fields.get(key)
        if isinstance(name, str):
            rest = {other: value for other, value in fields.items() if other != key}
            inner = next((rest[other] for other in _ARGUMENTS if other in rest and len(rest) == 1), rest)
            return {name: _opened(inner)}
    return fields


def _opened(arguments: object) -> object:
    """Return arguments that were sent as quoted JSON as the object they are."""
    if isinstance(arguments, str) and arguments.lstrip().startswith("{"):
        value = _decode_loosely(arguments)
        return cast("object", value) if isinstance(value, dict) else arguments
    return arguments


def _planned(call: Fields, registry: Registry) -> PlannedAction:
    name, arguments = next(iter(call.items()), ("", None))
    runnable: ParsedCall | ActionInvalid
    try:
        runnable = registry.parse(call)
        name = runnable.name
    except ActionInvalid as defect:
        runnable = defect
    shown = (
        cast("Fields", arguments) if isinstance(arguments, dict) else {} if arguments is None else {"value": arguments}
    )
    return PlannedAction(ActionCall(f"call_{uuid4().hex[:16]}", name, shown), runnable)


def _sentence(value: object) -> str:
    text = value if isinstance(value, str) else "" if value is None else json.dumps(value, ensure_ascii=False)
    return text.strip()[:_MAX_SENTENCE]


def _ends_in_string(text: str) -> bool:
    """Whether the text stops inside a JSON string, so that completing it would invent an end."""
    inside = False
    escaped = False
    for character in text:
        if escaped:
            escaped = False
        elif character == "\\" and inside:
            escaped = True
        elif character == '"':
            inside = not inside
    return inside


def _json_defect(text: str) -> str:
    try:
        json.loads(text[text.index("{") :], strict=False)
    except json.JSONDecodeError as error:
        return f"{error.msg} at character {error.pos}"
    return "not an object"
