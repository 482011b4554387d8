"""Walks a JSON Schema document: references followed, allOf joined, null told from the rest."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, cast
from urllib.parse import quote, unquote

from appliance.errors import SchemaUnusable
from appliance.store.cycles import look_up, without_cycles
from appliance.store.pointers import escape

JSON_KINDS = ("string", "number", "integer", "boolean", "array", "object")
MAX_VISITS = 50_000
"""Parts that are gone through for one schema; unions of unions multiply."""
_ADDRESS = "urn:pilothouse:answer"
_LENIENT = ("uri", "iri", "uri-reference", "iri-reference")
"""Formats that addresses of real pages often miss; such fields are checked against what pages show instead."""


def _accept(_: str) -> bool:
    return True


@dataclass(frozen=True, eq=False)
class Part:
    """A part of the schema that values can be checked against."""

    schema: dict[str, Any]
    registry: Any

    @cached_property
    def validator(self) -> Any:
        """The compiled check; it never fetches anything."""
        import jsonschema_rs  # noqa: PLC0415  (only runs with a schema need it)

        try:
            return jsonschema_rs.validator_for(
                self.schema,
                registry=self.registry,
                offline=True,
                validate_formats=True,
                formats=dict.fromkeys(_LENIENT, _accept),
            )
        except (jsonschema_rs.ValidationError, ValueError) as error:
            raise SchemaUnusable(str(error).splitlines()[0]) from error


@dataclass
class Node:
    """One part of the schema with everything it refers to taken in.

    `places` are the pointers at which each property is described, `items` those of a list's entries, `branches` those
    of the kinds of a union that is more than "or null".
    """

    merged: dict[str, Any] = field(default_factory=dict[str, Any])
    places: dict[str, list[str]] = field(default_factory=dict[str, list[str]])
    required: set[str] = field(default_factory=set[str])
    items: list[str] = field(default_factory=list[str])
    branches: list[str] = field(default_factory=list[str])
    enum: tuple[Any, ...] = ()
    kinds: tuple[str, ...] = ()
    keys: set[str] = field(default_factory=set[str])
    is_open: bool = False

    def with_branch(self, branch: "Node") -> "Node":
        """Return the node as it is when it is of one kind of the union."""
        places = {name: list(pointers) for name, pointers in self.places.items()}
        for name, pointers in branch.places.items():
            places.setdefault(name, []).extend(pointers)
        return replace(
            branch,
            merged={**branch.merged, **self.merged},
            places=places,
            required=self.required | branch.required,
            is_open=self.is_open or branch.is_open,
        )


class Schemas:
    """A schema document whose parts are found by JSON pointer."""

    def __init__(self, document: dict[str, Any], registry: Any) -> None:
        """Take over a document in a registry; use `read`."""
        self._document = document
        self._registry = registry
        self._visits = 0

    @classmethod
    def read(cls, document: dict[str, Any]) -> "Schemas":
        """Return the parts of a document; raises SchemaUnusable when it is no schema or points elsewhere."""
        import jsonschema_rs  # noqa: PLC0415  (only runs with a schema need it)

        plain = {key: value for key, value in document.items() if key != "$id"}
        name = document.get("$id")
        named = [(name, document)] if isinstance(name, str) and "://" in name else []
        try:
            jsonschema_rs.validator_for(document, offline=True)
            plain = without_cycles(plain)
            registry = jsonschema_rs.Registry([(_ADDRESS, plain), *named])
        except (jsonschema_rs.ValidationError, jsonschema_rs.ReferencingError, ValueError) as error:
            raise SchemaUnusable(str(error).splitlines()[0]) from error
        return cls(plain, registry)

    def part(self, *pointers: str) -> Part:
        """Return the part that all the pointers describe together."""
        references = [{"$ref": f"{_ADDRESS}#{_quote(pointer)}"} for pointer in pointers]
        return Part(references[0] if len(references) == 1 else {"allOf": references}, self._registry)

    def any_of(self, pointers: Sequence[str]) -> Part:
        """Return the part that takes what any of the pointers takes."""
        return Part({"anyOf": [{"$ref": f"{_ADDRESS}#{_quote(pointer)}"} for pointer in pointers]}, self._registry)

    def anything(self) -> Part:
        """Return the part that takes every value."""
        return Part({}, self._registry)

    def resolve(self, pointers: Sequence[str]) -> Node:
        """Return what the pointers describe together; a reference that leads back to itself adds nothing."""
        node = Node()
        visited: set[str] = set()
        for pointer in pointers:
            self._visit(pointer, node, visited)
        return node

    def union(self, pointers: Sequence[str]) -> Node:
        """Return what any of the pointers may describe: the first one's words, the choices and kinds of all."""
        nodes = [self.resolve([pointer]) for pointer in pointers]
        first = nodes[0]
        if len(nodes) == 1:
            return first
        enum = tuple(value for node in nodes for value in node.enum) if all(node.enum for node in nodes) else ()
        kinds = tuple(kind for kind in JSON_KINDS if any(kind in self.kinds(node) for node in nodes))
        kept = {key: value for key, value in first.merged.items() if key in ("title", "description")}
        return Node(merged={**kept, "anyOf": [node.merged for node in nodes]}, enum=enum, kinds=kinds)

    def places_of(self, node: Node, name: str) -> list[str]:
        """Return where a property is described: by the part itself, or else by the kinds of its union."""
        inner = (self.places_of(self.resolve([pointer]), name) for pointer in node.branches)
        return node.places.get(name, [])[:1] or [place for places in inner for place in places]

    def kinds(self, node: Node) -> tuple[str, ...]:
        """Return the JSON types, other than null, that a value may have; none when any will do."""
        if node.kinds:
            return node.kinds
        if node.enum:
            return tuple(dict.fromkeys(kind for value in node.enum if (kind := kind_of(value)) != "null"))
        if node.branches:
            inner = [self.kinds(self.resolve([pointer])) for pointer in node.branches]
            return tuple(dict.fromkeys(kind for kinds in inner for kind in kinds)) if all(inner) else ()
        if node.places:
            return ("object",)
        return ("array",) if node.items else ()

    def choices(self, node: Node) -> tuple[Any, ...]:
        """Return the single values that are named as allowed, also by one kind of a union among others."""
        inner = (self.choices(self.resolve([pointer])) for pointer in node.branches)
        return node.enum or tuple(value for values in inner for value in values)

    def _visit(self, pointer: str, node: Node, visited: set[str]) -> None:
        part = self._look_up(pointer)
        if pointer in visited or not isinstance(part, dict):
            return
        visited.add(pointer)
        self._visits += 1
        if self._visits > MAX_VISITS:
            raise SchemaUnusable("its parts refer to each other in too many ways")
        schema = cast("dict[str, Any]", part)
        self._merge(pointer, schema, node)
        reference = schema.get("$ref")
        if isinstance(reference, str) and (reference == "#" or reference.startswith("#/")):
            self._visit(_unquote(reference[1:]), node, visited)
        for number, _ in enumerate(_listed(schema.get("allOf"))):
            self._visit(f"{pointer}/allOf/{number}", node, visited)
        for key in ("anyOf", "oneOf"):
            members = [f"{pointer}/{key}/{number}" for number, _ in enumerate(_listed(schema.get(key)))]
            others = [member for member in members if not self._is_null(member)]
            if members:
                node.keys.discard(key)
            if len(others) == 1:
                self._visit(others[0], node, visited)
            else:
                node.branches += others

    def _is_null(self, pointer: str) -> bool:
        part = self._look_up(pointer)
        if not isinstance(part, dict):
            return False
        schema = cast("dict[str, Any]", part)
        is_const = "const" in schema and schema["const"] is None
        return schema.get("type") == "null" or schema.get("enum") == [None] or is_const

    @staticmethod
    def _merge(pointer: str, schema: dict[str, Any], node: Node) -> None:
        node.keys |= set(schema)
        for key, value in schema.items():
            if key not in ("$ref", "allOf"):
                node.merged.setdefault(key, value)
        for name in cast("dict[str, Any]", schema.get("properties") or {}):
            node.places.setdefault(name, []).append(f"{pointer}/properties/{escape(name)}")
        node.required |= {name for name in _listed(schema.get("required")) if isinstance(name, str)}
        if isinstance(schema.get("items"), dict):
            node.items.append(f"{pointer}/items")
        own = tuple(_listed(schema.get("enum"))) or ((schema["const"],) if "const" in schema else ())
        node.enum = node.enum or own
        types = schema.get("type")
        named = _listed(types) if isinstance(types, list) else [types] if types else []
        node.kinds = node.kinds or tuple(str(kind) for kind in named if kind != "null")
        node.is_open = node.is_open or bool(schema.get("additionalProperties")) or "patternProperties" in schema

    def _look_up(self, pointer: str) -> Any:
        return look_up(self._document, pointer)


def kind_of(value: Any) -> str:
    """Return the JSON type of a value."""
    if isinstance(value, bool):
        return "boolean"
    kinds: tuple[tuple[type[Any], str], ...] = (
        (str, "string"),
        (int, "integer"),
        (float, "number"),
        (list, "array"),
        (type(None), "null"),
    )
    return next((name for kind, name in kinds if isinstance(value, kind)), "object")


def _listed(value: Any) -> list[Any]:
    return cast("list[Any]", value) if isinstance(value, list) else []


def _quote(pointer: str) -> str:
    return quote(pointer, safe="/~$")


def _unquote(pointer: str) -> str:
    return unquote(pointer)
