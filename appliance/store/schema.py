"""The schema of an answer, read once: which fields there are, what each takes, and where the list of items is."""

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, cast

from appliance.errors import SchemaUnusable
from appliance.store.nodes import JSON_KINDS, Node, Part, Schemas
from appliance.store.roles import OWN_URL, Role, own_url_among, role_of

MAX_CHARACTERS = 1_000_000
MAX_FIELDS = 2_000
MAX_DEPTH = 100
_PLAIN_KEYS = frozenset(
    {
        *("type", "properties", "required", "additionalProperties", "title", "description", "default", "examples"),
        *("$ref", "$defs", "definitions", "$schema", "$id", "$comment", "allOf", "enum", "const", "format", "items"),
        *("nullable", "deprecated", "readOnly", "writeOnly"),
    }
)


@dataclass(frozen=True, eq=False)
class FieldShape:
    """One property of the answer or of its items.

    `schema` is what its value must be, references followed; `kinds` are the JSON types it may have besides null, none
    when any will do; `enum` are the only values allowed, if there are such, `choices` those that are named at all;
    `default` is None where there is none.
    """

    name: str
    schema: dict[str, Any]
    kinds: tuple[str, ...]
    is_required: bool
    is_nullable: bool
    format: str | None
    enum: tuple[Any, ...]
    choices: tuple[Any, ...]
    role: Role
    default: Any
    part: Part

    @cached_property
    def accepts(self) -> Callable[[Any], bool]:
        """Say whether a value fits the field's schema."""
        return self.part.validator.is_valid

    @cached_property
    def only_value(self) -> Any:
        """What the field has without being written: its default, or the one value it may have; None without either."""
        if self.default is not None:
            return self.default
        return self.enum[0] if len(self.enum) == 1 and self.is_required and not self.is_nullable else None

    @cached_property
    def is_choice(self) -> bool:
        """Whether a text may only be one of the choices."""
        return bool(self.choices) and not self.accepts("any text whatever")

    def defects(self, value: Any) -> Iterator[str]:
        """Yield what is wrong with a value, each in half a sentence that begins with the place inside of it."""
        for error in self.part.validator.iter_errors(value):
            place = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in error.instance_path)
            yield f"{place.lstrip('.')} {error.message}".strip()[:300]


@dataclass(frozen=True, eq=False)
class ObjectShape:
    """What the answer's object or one of its items is made of.

    `branches` are the kinds of object that a union allows, each with its own fields; `fields` are then those of all.
    `is_open` says that it may have fields which are not named, `is_closed` that it must not (otherwise nothing is
    said); `has_rules` that there are demands across fields.
    """

    fields: tuple[FieldShape, ...]
    part: Part
    is_open: bool = False
    is_closed: bool = False
    has_rules: bool = False
    branches: tuple["ObjectShape", ...] = ()

    @cached_property
    def by_name(self) -> dict[str, FieldShape]:
        """The fields by name."""
        return {field.name: field for field in self.fields}

    @cached_property
    def required(self) -> frozenset[str]:
        """The names of the fields that every such object has to have."""
        return frozenset(field.name for field in self.fields if field.is_required)

    @cached_property
    def own_url(self) -> FieldShape | None:
        """The field for the address of the object's own page."""
        return next((field for field in self.fields if field.role == OWN_URL), None)

    def own_url_of(self, value: dict[str, Any]) -> str | None:
        """Return the address of the own page of such an object, if it has one."""
        url = value.get(self.own_url.name) if self.own_url is not None else None
        return url if isinstance(url, str) and url else None


@dataclass(frozen=True, eq=False)
class AnswerSchema:
    """The schema of an answer.

    `list_field` is the property that holds the items, "" when the answer itself is their list, None when there is no
    list. `item` is the shape of an item that is an object, `plain_item` that of a plain value.
    """

    document: dict[str, Any]
    root: ObjectShape
    list_field: str | None
    item: ObjectShape | None
    plain_item: FieldShape | None
    whole: Part

    @classmethod
    def read(cls, document: dict[str, Any]) -> "AnswerSchema":
        """Return the schema of a JSON Schema document.

        Raises SchemaUnusable, in words for the caller, for what is no schema, points to other documents or is too
        large.
        """
        _check_size(document)
        try:
            return cls._read(document)
        except RecursionError as error:
            raise SchemaUnusable("a part of it is nothing but itself again") from error

    @classmethod
    def _read(cls, document: dict[str, Any]) -> "AnswerSchema":
        schemas = Schemas.read(document)
        whole = schemas.part("")
        root = schemas.resolve([""])
        if "array" in root.kinds and "object" not in root.kinds:
            if _is_fixed(root):
                return cls(document, ObjectShape((), whole), None, None, None, whole)
            item, plain = _items(schemas, root, "item")
            return cls(document, ObjectShape((), whole), "", item, plain, whole)
        shape = _object(schemas, root, whole)
        name, item, plain = _find_list(schemas, root, shape)
        return cls(document, shape, name, item, plain, whole)

    @property
    def fields(self) -> tuple[FieldShape, ...]:
        """The fields of the answer's own object."""
        return self.root.fields

    @property
    def item_fields(self) -> tuple[FieldShape, ...]:
        """The fields of an item; none when items are plain values."""
        return self.item.fields if self.item is not None else ()

    @property
    def can_be_filled(self) -> bool:
        """Whether there is anything to fill in field by field; else an answer can only be given as a whole."""
        return bool(self.fields) or self.list_field is not None

    @property
    def has_links(self) -> bool:
        """Whether any field is for the address of a page."""
        return any(field.role in (OWN_URL, "url") for field in (*self.fields, *self.item_fields))


def _check_size(document: Any) -> None:
    if not isinstance(document, dict):
        raise SchemaUnusable("it is not a JSON object")
    if _depth(cast("dict[str, Any]", document)) > MAX_DEPTH:
        raise SchemaUnusable(f"it is nested deeper than {MAX_DEPTH} levels")
    try:
        size = len(json.dumps(document))
    except (TypeError, ValueError) as error:
        raise SchemaUnusable("it holds something that is not JSON") from error
    if size > MAX_CHARACTERS:
        raise SchemaUnusable(f"it has {size} characters, and {MAX_CHARACTERS} are the limit")


def _depth(document: dict[str, Any]) -> int:
    """Return how deep it is nested, counted without recursion."""
    level: list[Any] = [document]
    depth = 0
    while level and depth <= MAX_DEPTH:
        depth += 1
        level = [
            inner
            for value in level
            for inner in (
                cast("dict[str, Any]", value).values() if isinstance(value, dict) else cast("list[Any]", value)
            )
            if isinstance(inner, dict | list)
        ]
    return depth


def _object(schemas: Schemas, node: Node, part: Part) -> ObjectShape:
    """Return the shape of an object, its fields in the order the schema names them."""
    nodes = [schemas.resolve([pointer]) for pointer in node.branches]
    parts = [schemas.part(pointer) for pointer in node.branches]
    branches = tuple(
        _object(schemas, node.with_branch(branch), part)
        for branch, part in zip(nodes, parts, strict=True)
        if "object" in schemas.kinds(branch)
    )
    places: dict[str, list[str]] = {name: list(pointers) for name, pointers in node.places.items()}
    if len(places) > MAX_FIELDS:
        raise SchemaUnusable(f"it has {len(places)} fields, and {MAX_FIELDS} are the limit")
    fields = [_field(schemas, name, pointers, node) for name, pointers in places.items()]
    known = set(places)
    for branch in branches:
        for field in branch.fields:
            if field.name not in known:
                known.add(field.name)
                fields.append(_joined(schemas, field.name, node, branches))
    is_closed = node.merged.get("additionalProperties") is False
    if not is_closed:
        # Some are asked for without being described.
        bare = sorted(node.required - known)
        fields += [_shape(schemas, name, schemas.anything(), schemas.resolve([]), True) for name in bare]
    own = own_url_among((field.name, field.role) for field in fields)
    fields = [replace(field, role=OWN_URL) if field.name == own else field for field in fields]
    return ObjectShape(
        tuple(fields),
        part,
        is_open=node.is_open or any(branch.is_open for branch in branches) or not (fields or is_closed),
        is_closed=is_closed,
        has_rules=bool(branches) or bool(node.keys - _PLAIN_KEYS),
        branches=branches,
    )


def _field(schemas: Schemas, name: str, pointers: list[str], owner: Node) -> FieldShape:
    return _shape(schemas, name, schemas.part(*pointers), schemas.resolve(pointers), name in owner.required)


def _joined(schemas: Schemas, name: str, node: Node, branches: tuple[ObjectShape, ...]) -> FieldShape:
    """Return a field that only kinds of a union have: it takes what any of them takes."""
    pointers = schemas.places_of(node, name)
    is_required = name in node.required or all(name in branch.required for branch in branches)
    return _shape(schemas, name, schemas.any_of(pointers), schemas.union(pointers), is_required)


def _shape(schemas: Schemas, name: str, part: Part, node: Node, is_required: bool) -> FieldShape:
    is_nullable = part.validator.is_valid(None)
    enum = tuple(value for value in node.enum if value is not None)
    kinds = tuple(kind for kind in JSON_KINDS if kind in schemas.kinds(node))
    form = node.merged.get("format")
    form = form if isinstance(form, str) else None
    return FieldShape(
        name=name,
        schema={**node.merged},
        kinds=kinds,
        is_required=is_required,
        is_nullable=is_nullable,
        format=form,
        enum=enum,
        choices=tuple(value for value in schemas.choices(node) if value is not None),
        role=role_of(name, kinds, form, bool(enum)),
        default=node.merged.get("default"),
        part=part,
    )


def _find_list(
    schemas: Schemas, root: Node, shape: ObjectShape
) -> tuple[str | None, ObjectShape | None, FieldShape | None]:
    """Return name and shape of the list of items: the first list of objects, else the only field there is."""
    nodes = {name: schemas.resolve(pointers) for name, pointers in root.places.items()}
    # A list without a name could not be told from an answer that is a list itself.
    lists = [field for field in shape.fields if "array" in field.kinds and nodes.get(field.name) and field.name]
    lists = [field for field in lists if not _is_fixed(nodes[field.name])]
    for field in lists:
        item, _ = _items(schemas, nodes[field.name], field.name)
        if item is not None:
            return field.name, item, None
    if len(lists) == len(shape.fields) == 1:
        item, plain = _items(schemas, nodes[lists[0].name], lists[0].name)
        return lists[0].name, item, plain
    return None, None, None


def _is_fixed(node: Node) -> bool:
    """Whether a list takes other things at each of its places, or nothing: it can only be given as a whole."""
    return "prefixItems" in node.merged or node.merged.get("items") is False


def _items(schemas: Schemas, node: Node, name: str) -> tuple[ObjectShape | None, FieldShape | None]:
    """Return the shape of a list's items: that of objects, or that of plain values."""
    part = schemas.part(*node.items) if node.items else schemas.anything()
    inner = schemas.resolve(node.items)
    kinds = schemas.kinds(inner)
    if "object" in kinds:
        return _object(schemas, inner, part), None
    return None, _shape(schemas, name, part, inner, True)
