"""CREATE TABLE: the schema of a topic, declared in the program."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Literal as OneOf

from lsql_runner.bind.settings import ProgramSettings
from lsql_runner.bind.source_formats import readable_format, source_topics
from lsql_runner.bind.type_names import type_named
from lsql_runner.errors import LsqlError
from lsql_runner.formats.catalog import Catalog, Format, Serde, TopicSchema
from lsql_runner.formats.spec import FieldNameError, FormatError
from lsql_runner.formats.table import row_of
from lsql_runner.sql import ast
from lsql_runner.types import Array, DataType, Decimal, Field, Struct, describe

_PARTS = ("_key", "_value")


def with_declarations(program: ast.Program, settings: ProgramSettings, catalog: Catalog) -> Catalog:
    """The catalog with the schemas that the program declares. These replace schemas of the catalog.

    Raises:
        LsqlError: as `program_schemas`.
    """
    partitions = {topic: schema.partitions for topic, schema in catalog.schemas.items()}
    declared = program_schemas(program, settings).items()
    schemas = {topic: replace(schema, partitions=partitions.get(topic)) for topic, schema in declared}
    return replace(catalog, schemas={**catalog.schemas, **schemas})


def program_schemas(program: ast.Program, settings: ProgramSettings) -> dict[str, TopicSchema]:
    """The schemas that the program declares, by topic.

    Raises:
        LsqlError: TABLE_*, FIELD_NAME_INVALID, NAME_DUPLICATE, TYPE_UNKNOWN, FORMAT_UNSUPPORTED.
    """
    if not program.declarations:
        return {}
    precision = settings.decimal_precision
    decimal = Decimal(precision, min(settings.decimal_scale, precision))
    sources = source_topics(program)
    schemas: dict[str, TopicSchema] = {}
    for statement in program.declarations:
        topic = statement.topic.name
        if topic in schemas:
            raise LsqlError("NAME_DUPLICATE", statement.topic.span, name=topic)
        if topic not in sources:
            raise LsqlError("TABLE_UNUSED", statement.topic.span, topic=topic)
        key, value = (_serde(statement, part, decimal) for part in ("_key", "_value"))
        schemas[topic] = TopicSchema(topic, key, value, origin="program")
    return schemas


def _serde(statement: ast.CreateTable, part: OneOf["_key", "_value"], decimal: Decimal) -> Serde:
    name = statement.key_format if part == "_key" else statement.value_format
    form = readable_format(str(Format(name.name, name.inner)), "key" if part == "_key" else "value", name.span)
    columns = [column for column in (_Column.of(c, decimal) for c in statement.columns) if column.part == part]
    row = row_of(form)
    if row.one_type is not None:
        return Serde(form, _one_value(statement, columns, form, row.one_type))
    topic = statement.topic.name
    if not columns:
        raise LsqlError("TABLE_COLUMNS_MISSING", name.span, topic=topic, part=part.removeprefix("_"), format=str(form))
    kind = _type(statement, columns)
    if row.from_columns is None:
        raise LsqlError("TABLE_NUMBERS_MISSING", name.span, topic=topic)
    try:
        return row.from_columns(form, kind)
    except FieldNameError as error:
        raise LsqlError(
            "FIELD_NAME_INVALID", columns[0].source.span, field=error.field, format=str(form.bare)
        ) from None
    except FormatError as error:
        raise LsqlError("TABLE_INVALID", columns[0].source.span, topic=topic, reason=error.reason) from None


class _Column:
    """A column: the part of the record that it belongs to, its path in that part, its type."""

    def __init__(self, source: ast.Column, part: str, names: tuple[ast.Ident, ...], kind: DataType) -> None:
        self.source, self.part, self.names, self.type = source, part, names, kind

    @classmethod
    def of(cls, source: ast.Column, decimal: Decimal) -> _Column:
        steps = (source.path.head, *source.path.steps)
        names = tuple(step for step in steps if isinstance(step, ast.Ident))
        if len(names) < len(steps):
            raise LsqlError("TABLE_INDEXED", source.path.span)
        kind = type_named(source.type, decimal)
        for _ in range(source.dimensions):
            kind = Array(kind)
        if names[0].name in _PARTS and not names[0].quoted:
            return cls(source, names[0].name, names[1:], kind)
        return cls(source, "_value", names, kind)


def _one_value(statement: ast.CreateTable, columns: list[_Column], form: Format, kind: DataType) -> DataType:
    """The type of a part whose format has one value. A single column can give it a name, as in `_key.k string`."""
    if not columns:
        return kind
    first, *more = columns
    if more or len(first.names) > 1 or first.type != kind:
        span = (more or columns)[0].source.span
        topic, type_name = statement.topic.name, describe(kind)
        raise LsqlError("TABLE_NOT_SCALAR", span, topic=topic, format=str(form), type=type_name)
    return Struct((Field(first.names[0].name, kind, first.source.nullable),)) if first.names else kind


def _type(statement: ast.CreateTable, columns: list[_Column]) -> DataType:
    if any(not column.names for column in columns):
        if len(columns) > 1:
            part = columns[1].part.removeprefix("_")
            raise LsqlError("TABLE_PART_MIXED", columns[1].source.span, topic=statement.topic.name, part=part)
        return columns[0].type
    return _struct(statement, [(column.names, column) for column in columns])


def _struct(statement: ast.CreateTable, columns: Iterable[tuple[tuple[ast.Ident, ...], _Column]]) -> Struct:
    groups: dict[str, list[tuple[tuple[ast.Ident, ...], _Column]]] = {}
    for names, column in columns:
        groups.setdefault(names[0].name, []).append((names[1:], column))
    fields = []
    for name, below in groups.items():
        if len(below) > 1 and any(not names for names, _ in below):
            raise LsqlError("NAME_DUPLICATE", below[1][1].source.path.span, name=name)
        names, column = below[0]
        if names:
            fields.append(Field(name, _struct(statement, below)))
        else:
            fields.append(Field(name, column.type, column.source.nullable))
    return Struct(tuple(fields))
