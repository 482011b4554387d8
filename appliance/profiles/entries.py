"""Takes jars apart into entries that can be compared, and puts them together again.

A database is one entry where its shape differs between the jars that are compared; else each of its records is.
"""

from collections.abc import Iterable, Mapping
from typing import Any, cast

import msgspec

from appliance.profiles.jar import Cookie, Jar, Origin, make_jar

Entry = Cookie | str | dict[str, Any]
EntryName = tuple[str | bool, ...]
"""("cookie", name, domain, path, top-level site, has cross-site ancestor), ("local" or "session", origin, key),
("database", origin, name), ("record", origin, database, store, key as JSON)."""
DatabaseName = tuple[str, str]


def take_apart(jar: Jar, recordwise: frozenset[DatabaseName]) -> dict[EntryName, Entry]:
    """Return the jar's entries by name; the databases of `recordwise` by record."""
    entries: dict[EntryName, Entry] = {("cookie", *cookie.identity): cookie for cookie in jar.cookies}
    for origin in jar.origins:
        name = origin.origin
        entries.update({("local", name, key): value for key, value in origin.local.items()})
        entries.update({("session", name, key): value for key, value in origin.session.items()})
        for database in origin.databases:
            if (name, database["name"]) not in recordwise:
                entries["database", name, database["name"]] = _in_order(database)
                continue
            for store in database["stores"]:
                for key, record in _keyed(store):
                    entries["record", name, database["name"], store["name"], key] = record
    return entries


def put_together(entries: Mapping[EntryName, Entry], shapes: Mapping[DatabaseName, dict[str, Any]]) -> Jar:
    """Return the jar with these entries; `shapes` are databases whose records are entries of their own."""
    cookies: list[Cookie] = []
    stored: dict[str, dict[str, dict[str, str]]] = {}
    databases: dict[str, list[dict[str, Any]]] = {}
    records: dict[tuple[str | bool, ...], list[tuple[str, dict[str, Any]]]] = {}
    for name, entry in entries.items():
        if isinstance(entry, Cookie):
            cookies.append(entry)
        elif isinstance(entry, str):
            stored.setdefault(str(name[1]), {"local": {}, "session": {}})[str(name[0])][str(name[2])] = entry
        elif name[0] == "database":
            databases.setdefault(str(name[1]), []).append(entry)
        else:
            records.setdefault(name[1:4], []).append((str(name[4]), entry))
    for (origin, database), shape in shapes.items():
        stores = [
            {**store, "records": [record for _, record in sorted(records.get((origin, database, store["name"]), ()))]}
            for store in shape["stores"]
        ]
        databases.setdefault(origin, []).append({**shape, "stores": stores})
    origins = [
        Origin(
            origin,
            stored.get(origin, {}).get("local", {}),
            stored.get(origin, {}).get("session", {}),
            sorted(databases.get(origin, []), key=lambda database: database["name"]),
        )
        for origin in {*stored, *databases}
    ]
    return make_jar(cookies, origins)


def find_recordwise(base: Jar, theirs: Jar, ours: Jar) -> dict[DatabaseName, dict[str, Any]]:
    """Return the databases that can be compared by record: both sides have them in the shape that they had."""
    first, second, before = _databases(theirs), _databases(ours), _databases(base)
    found: dict[DatabaseName, dict[str, Any]] = {}
    for name, database in first.items():
        others = [second.get(name), before.get(name, database)]
        if all(other is not None and _shape(other) == _shape(database) for other in others) and all(
            _has_keys(one) for one in (database, *others) if one is not None
        ):
            found[name] = database
    return found


def write_entry(entry: Entry | None) -> str | None:
    """Return what a person is shown of an entry: text as it is, anything else as JSON."""
    if entry is None or isinstance(entry, str):
        return entry
    return msgspec.json.encode(entry, order="sorted").decode()


def _databases(jar: Jar) -> dict[DatabaseName, dict[str, Any]]:
    return {(origin.origin, database["name"]): database for origin in jar.origins for database in origin.databases}


def _shape(database: dict[str, Any]) -> Any:
    stores = [{key: value for key, value in store.items() if key != "records"} for store in database["stores"]]
    indexes = [{**store, "indexes": sorted(store.get("indexes", ()), key=_text)} for store in stores]
    return database["version"], sorted(indexes, key=_text)


def _in_order(database: dict[str, Any]) -> dict[str, Any]:
    """Return the database with stores and records in one order, so that equal ones are equal."""
    stores = [{**store, "records": sorted(store.get("records", ()), key=_text)} for store in database["stores"]]
    return {**database, "stores": sorted(stores, key=lambda store: store["name"])}


def _has_keys(database: dict[str, Any]) -> bool:
    """Say whether every record has a key, and no other record of its store has the same."""
    for store in database["stores"]:
        keys = [key for key, _ in _keyed(store)]
        if "" in keys or len(set(keys)) < len(keys):
            return False
    return True


def _keyed(store: dict[str, Any]) -> Iterable[tuple[str, dict[str, Any]]]:
    for record in store.get("records", ()):
        yield _key(store, record), record


def _key(store: dict[str, Any], record: dict[str, Any]) -> str:
    """Return the record's key as JSON; empty when it cannot be told."""
    for field in ("key", "keyEncoded"):
        if field in record:
            return _text(record[field])
    paths = store.get("keyPathArray") or [store.get("keyPath")]
    found = [_follow(record, path) for path in paths]
    return "" if None in found else _text(found)


def _follow(record: dict[str, Any], path: str | None) -> Any:
    if path is None:
        return None
    value: Any = record["value"] if "value" in record else record.get("valueEncoded")
    for name in path.split("."):
        if not isinstance(value, dict):
            return None
        value = _step(cast("dict[str, Any]", value), name, is_plain="value" in record)
    return value


def _step(value: dict[str, Any], name: str, *, is_plain: bool) -> Any:
    if is_plain:
        return value.get(name)
    entries: Any = value.get("o")
    if not isinstance(entries, list):
        return None
    members = [cast("dict[str, Any]", entry) for entry in cast("list[Any]", entries) if isinstance(entry, dict)]
    return next((member.get("v") for member in members if member.get("k") == name), None)


def _text(document: Any) -> str:
    return msgspec.json.encode(document, order="sorted").decode()
