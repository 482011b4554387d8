"""Checks what is to be written into an answer: names, types, choices, links; every defect is told at once."""

from difflib import get_close_matches
from typing import Any

from appliance.errors import AnswerRefused
from appliance.store.coercion import coerce, make_plain, same_name
from appliance.store.guards import Guards, Refusal
from appliance.store.nodes import kind_of
from appliance.store.rows import fitting_branches, misfits
from appliance.store.schema import FieldShape, ObjectShape

MAX_DEFECTS = 6
MAX_SHOWN = 100
_LATER = {"required", "dependentRequired", "minProperties", "anyOf", "oneOf", "if", "contains"}
"""Rules that more fields may still fulfil."""


class Checker:
    """Reads values for the fields of objects; what is only doubted is taken when it is given a second time."""

    def __init__(self, guards: Guards) -> None:
        self._guards = guards
        self._doubted: set[tuple[str, str]] = set()

    def check(
        self, shape: ObjectShape, given: dict[str, Any], before: dict[str, Any], page: str | None
    ) -> dict[str, Any]:
        """Return the values to be set, None for a field to be cleared.

        `before` is the object as it stands. Raises AnswerRefused that tells every defect.
        """
        values: dict[str, Any] = {}
        defects: list[str] = []
        refusals: list[Refusal] = []
        for name, value in self._named(shape, given, defects).items():
            field = shape.by_name.get(name)
            if field is None:
                values[name] = value
                continue
            read = coerce(field, value)
            if read is not None and not field.accepts(read):
                defects.append(describe_defect(field, read))
            elif refusal := self._refusal(field, read, page):
                refusals.append(refusal)
            values[name] = read
        if not defects and not refusals:
            defects += self._rules(shape, {**before, **values})
        refuse(defects, refusals)
        return values

    def check_plain(self, field: FieldShape, value: Any, page: str | None) -> Any:
        """Return an item that is a plain value; raises AnswerRefused."""
        read = coerce(field, make_plain(value))
        if read is None or not field.accepts(read):
            raise AnswerRefused(f"{describe_defect(field, read)}.")
        refusal = self._refusal(field, read, page)
        refuse([], [refusal] if refusal else [])
        return read

    def _refusal(self, field: FieldShape, value: Any, page: str | None) -> Refusal | None:
        refusal = self._guards.check(field, value, page)
        if refusal is None or not refusal.is_doubt:
            return refusal
        key = (field.name, str(value))
        if key in self._doubted:
            return None
        self._doubted.add(key)
        return refusal

    @staticmethod
    def _named(shape: ObjectShape, given: dict[str, Any], defects: list[str]) -> dict[str, Any]:
        """Return the values by the names that the schema has for them."""
        names = list(shape.by_name)
        named: dict[str, Any] = {}
        for name, value in given.items():
            known = name if name in shape.by_name else same_name(name, names)
            if known is not None and (known == name or known not in given):
                named[known] = value
            elif shape.is_open:
                named[name] = value
            elif value is not None:
                near = get_close_matches(name, names, n=1)
                hint = f"did you mean {near[0]}?" if near else f"there are {', '.join(names[:20])}"
                defects.append(f"there is no field {name[:80]!r}; {hint}")
        return named

    @staticmethod
    def _rules(shape: ObjectShape, value: dict[str, Any]) -> list[str]:
        """Return which demands across fields the object breaks, whatever else it may still get."""
        if not (shape.has_rules or shape.is_open):
            return []
        there = {name: inner for name, inner in value.items() if inner is not None}
        if shape.branches and not fitting_branches(shape, there):
            best = min(shape.branches, key=lambda branch: len(misfits(branch, there)))
            wrong = ", ".join(misfits(best, there))
            return [f"it fits none of the kinds of object; the nearest cannot have {wrong} so"]
        errors = shape.part.validator.iter_errors(there)
        return [
            f"{'.'.join(map(str, error.instance_path)) or 'the object'}: {error.message[:200]}"
            for error in errors
            if error.kind.name not in _LATER
        ][:MAX_DEFECTS]


def refuse(defects: list[str], refusals: list[Refusal]) -> None:
    """Raise AnswerRefused when there is anything to refuse for."""
    told = [*defects, *(refusal.text.rstrip(".") for refusal in refusals)]
    if told:
        rest = f"; and {len(told) - MAX_DEFECTS} more" if len(told) > MAX_DEFECTS else ""
        links = tuple(refusal.link for refusal in refusals if refusal.link is not None)
        raise AnswerRefused(f"{'; '.join(told[:MAX_DEFECTS])}{rest}.", links=links)


def describe_defect(field: FieldShape, value: Any) -> str:
    """Return what is wrong with a value and what is asked for instead."""
    if value is None:
        return f"{field.name}: there is no value"
    reason = next(iter(field.defects(value)), "it does not fit")
    if field.is_choice:
        choices = ", ".join(map(str, field.choices[:30]))
        near = get_close_matches(str(value), [str(one) for one in field.choices], n=1)
        hint = f"; the nearest is {near[0]}" if near else ""
        return f"{field.name}: {_shown(value)} is none of its choices ({choices}){hint}"
    asked = {
        "number": "give a number such as 12.5, without unit or currency",
        "integer": "give a whole number such as 12",
        "boolean": "give true or false",
        "array": "give a list",
        "object": "give an object",
    }
    wanted = next((asked[kind] for kind in field.kinds if kind in asked and kind_of(value) != kind), "")
    date = "give a date as 2024-12-31" if field.format == "date" else ""
    moment = "give date and time as 2024-12-31T23:59:00Z" if field.format == "date-time" else ""
    hint = "; ".join(part for part in (wanted, date, moment) if part)
    return f"{field.name}: {reason}{'; ' + hint if hint else ''}"


def _shown(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= MAX_SHOWN else f"{text[: MAX_SHOWN - 1]}…"
