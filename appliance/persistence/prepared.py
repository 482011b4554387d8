"""Statements that are compiled once and then handed straight to SQLite's driver.

To run a statement by SQLAlchemy takes it several times what SQLite needs, and to build one anew each time far more
again. What is written with every entry of a feed goes this way; everything else has no need to.
"""

import sqlite3
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from operator import itemgetter
from typing import Any

from sqlalchemy import Insert, SelectBase, Update
from sqlalchemy.engine import Connection, Dialect
from sqlalchemy.exc import DBAPIError
from sqlalchemy.sql.compiler import SQLCompiler
from sqlalchemy.sql.elements import BindParameter
from sqlalchemy.types import TypeEngine

Convert = Callable[[Any], Any]
Values = Mapping[str, Any]


@dataclass(frozen=True)
class _Compiled:
    """The words of a statement, and how values get into the database and out of it again.

    An input is the name of a value and what converts it, or None and a value that the statement brings along.
    """

    text: str
    inputs: tuple[tuple[str | None, Convert | None, Any], ...]
    outputs: tuple[Convert | None, ...]
    make_row: Callable[[Iterable[Any]], Any]


class Prepared:
    """A statement with names for its values: those of its bind parameters and, if it writes, of `columns`.

    Rows have the statement's columns as attributes.
    """

    def __init__(self, statement: SelectBase | Insert | Update, *columns: str) -> None:
        self._statement = statement
        self._columns = columns
        self._compiled: _Compiled | None = None

    def run(self, connection: Connection, values: Values) -> tuple[tuple[Any, ...], int]:
        """Return its rows, all of them, and how many it changed; `values` may hold more than is asked for.

        Raises the errors that SQLAlchemy makes of the driver's, without any values.
        """
        if (compiled := self._compiled) is None:
            compiled = self._compiled = self._compile(connection.dialect)
        given = [
            fixed if name is None else values[name] if convert is None else convert(values[name])
            for name, convert, fixed in compiled.inputs
        ]
        driver: Any = connection.connection.driver_connection
        try:
            cursor: sqlite3.Cursor = driver.execute(compiled.text, given)
            rows = cursor.fetchall() if compiled.outputs else ()
        except sqlite3.Error as error:
            raise _explain(error, compiled.text) from error
        return tuple(_to_row(row, compiled) for row in rows), cursor.rowcount

    def _compile(self, dialect: Dialect) -> _Compiled:
        statement = self._statement
        compiled = statement.compile(dialect=dialect, column_keys=list(self._columns))
        assert isinstance(compiled, SQLCompiler) and compiled.positiontup is not None
        columns = tuple(statement.exported_columns)
        return _Compiled(
            compiled.string,
            tuple(_to_input(compiled.binds[name], dialect) for name in compiled.positiontup),
            tuple(_implement(column.type, dialect).result_processor(dialect, None) for column in columns),
            _make_row_type([str(column.key) for column in columns]),
        )


def _to_input(bind: BindParameter[Any], dialect: Dialect) -> tuple[str | None, Convert | None, Any]:
    convert = _implement(bind.type, dialect).bind_processor(dialect)
    if bind.required:
        return bind.key, convert, None
    return None, None, bind.value if convert is None else convert(bind.value)


def _make_row_type(names: Sequence[str]) -> Callable[[Iterable[Any]], Any]:
    """Return a kind of tuple whose values have these names."""
    named = {name: property(itemgetter(place)) for place, name in enumerate(names)}
    return type("PreparedRow", (tuple,), {"__slots__": (), **named})


def _implement(kind: TypeEngine[Any], dialect: Dialect) -> TypeEngine[Any]:
    return kind.dialect_impl(dialect)


def _to_row(row: tuple[Any, ...], compiled: _Compiled) -> Any:
    return compiled.make_row(
        [value if convert is None else convert(value) for value, convert in zip(row, compiled.outputs, strict=True)]
    )


def _explain(error: sqlite3.Error, text: str) -> BaseException:
    """Return the error as SQLAlchemy would raise it."""
    return DBAPIError.instance(text, None, error, sqlite3.Error, hide_parameters=True)
