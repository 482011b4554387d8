"""How the store keeps an item, or the answer's own fields: values, origins, what is filled, absent and missing."""

from dataclasses import dataclass, field
from typing import Any

from appliance.store.coverage import FieldState
from appliance.store.evidence import Provenance
from appliance.store.schema import FieldShape, ObjectShape


@dataclass(frozen=True)
class Origin:
    """Where a value came from: the page it was written from, if that is known, and what had been read by then."""

    page: str | None
    mark: int


@dataclass(eq=False)
class Row:
    """An item, or the fields of the answer itself, as it is kept.

    `key` stays the same while other rows go. `page` is the address it was drafted from. `absent` are the reasons by
    field, `origins` and `traced` what is known of where the values were read, by field.
    """

    key: int
    value: dict[str, Any]
    page: str | None = None
    absent: dict[str, str] = field(default_factory=dict[str, str])
    origins: dict[str, Origin] = field(default_factory=dict[str, Origin])
    traced: dict[str, dict[str, Provenance]] = field(default_factory=dict[str, dict[str, Provenance]])
    state: FieldState = field(default_factory=FieldState)
    text: bytes | None = None

    def put(self, values: dict[str, Any], origin: Origin | None) -> None:
        """Set the fields, None clearing one; what was known of where they came from no longer holds."""
        for name, value in values.items():
            self.absent.pop(name, None)
            self.origins.pop(name, None)
            self.traced.pop(name, None)
            if value is None:
                self.value.pop(name, None)
                continue
            self.value[name] = value
            if origin is not None:
                self.origins[name] = origin
        self.text = None


def is_filled(value: Any) -> bool:
    """Whether a value says anything: null, an empty text, an empty list and an empty object do not."""
    return value is not None and value not in ("", [], {})


def state_of(shape: ObjectShape, row: Row) -> FieldState:
    """Return the state of a row's fields."""
    filled = frozenset(name for name, value in row.value.items() if name in shape.by_name and is_filled(value))
    absent = frozenset(row.absent) - filled
    return FieldState(filled, absent, required_of(shape, row.value) - filled - absent)


def required_of(shape: ObjectShape, value: dict[str, Any]) -> frozenset[str]:
    """Return the fields that an object has to have, given what it has: rules of the schema may ask for more."""
    if not shape.has_rules:
        return shape.required
    branches = fitting_branches(shape, value)
    inner = [required_of(branch, value) for branch in branches]
    required = frozenset[str].intersection(*inner) if inner else frozenset[str]()
    if not shape.branches:
        required |= {
            str(error.kind.property)
            for error in shape.part.validator.iter_errors(value)
            if error.kind.name == "required" and not list(error.instance_path)
        }
    return (shape.required | required) & frozenset(shape.by_name)


def fitting_branches(shape: ObjectShape, value: dict[str, Any]) -> tuple[ObjectShape, ...]:
    """Return the kinds of object, of those that a union allows, which can have all these fields with these values."""
    return tuple(
        branch
        for branch in shape.branches
        if not misfits(branch, value) and (not branch.branches or fitting_branches(branch, value))
    )


def misfits(branch: ObjectShape, value: dict[str, Any]) -> list[str]:
    """Return the fields that an object of this kind cannot have, or not with such a value."""
    return [name for name, inner in value.items() if inner is not None and not _takes(branch, name, inner)]


def _takes(branch: ObjectShape, name: str, value: Any) -> bool:
    known = branch.by_name.get(name)
    return known.accepts(value) if known is not None else branch.is_open or not branch.is_closed


def written(shape: ObjectShape, row: Row) -> dict[str, Any]:
    """Return the row as it stands in the answer, its fields in the schema's order.

    What is required and not known is null where null is allowed; what was marked absent is null even where it is not,
    or an empty list where that will do.
    """
    whole: dict[str, Any] = {}
    required = shape.required if not shape.has_rules else required_of(shape, row.value)
    for one in shape.fields:
        if one.name in row.value:
            whole[one.name] = row.value[one.name]
        elif one.name in row.absent or (one.name in required and one.is_nullable):
            empty = _nothing(one)
            if empty is not None or one.is_nullable or one.name in required:
                whole[one.name] = empty
    whole.update({name: value for name, value in row.value.items() if name not in whole})
    return whole


def _nothing(one: FieldShape) -> Any:
    """Return what stands for "there is none" in a field."""
    return [] if not one.is_nullable and "array" in one.kinds and one.accepts([]) else None
