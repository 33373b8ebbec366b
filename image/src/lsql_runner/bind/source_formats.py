"""The source topics of a program, and the formats that it names for them in the legacy dialect.

The formats are named with `_ktype=JSON AND _vtype=JSON` in WHERE, or with SET `_ktype` and SET `_vtype`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal as OneOf

from lsql_runner.errors import LsqlError
from lsql_runner.formats.catalog import Format
from lsql_runner.formats.table import known_formats, parse_format, readable_as
from lsql_runner.spans import Span
from lsql_runner.sql import ast

_PARTS: dict[str, OneOf["key", "value"]] = {"_ktype": "key", "_vtype": "value"}


@dataclass(frozen=True, slots=True)
class FormatCondition:
    """A condition of WHERE that names a format and filters no records."""

    name: str
    """`_ktype` or `_vtype`."""
    format: str
    span: Span


@dataclass(frozen=True, slots=True)
class SourceFormats:
    """The formats that the program names for a topic; None if it names none."""

    key: Format | None = None
    value: Format | None = None


def format_conditions(where: ast.Expression | None) -> list[FormatCondition]:
    """The conditions of a WHERE that name a format. Only conditions that are connected by AND can."""
    named = [_format_condition(condition) for condition in _conditions(where)]
    return [condition for condition in named if condition is not None]


def without_format_conditions(where: ast.Expression | None) -> ast.Expression | None:
    """The WHERE without the conditions that name a format; None if no condition remains."""
    filters = tuple(c for c in _conditions(where) if _format_condition(c) is None)
    if not filters:
        return None
    return filters[0] if len(filters) == 1 else ast.Logical("AND", filters, filters[0].span.to(filters[-1].span))


def _conditions(where: ast.Expression | None) -> tuple[ast.Expression, ...]:
    if where is None:
        return ()
    return where.operands if isinstance(where, ast.Logical) and where.op == "AND" else (where,)


def _format_condition(condition: ast.Expression) -> FormatCondition | None:
    match condition:
        case ast.Binary("=", ast.NamePath(head, ()), right) if head.name.lower() in _PARTS and not head.quoted:
            match right:
                case ast.NamePath(word, ()):
                    return FormatCondition(head.name.lower(), word.name.upper(), condition.span)
                case ast.StringLiteral(text):
                    return FormatCondition(head.name.lower(), text.upper(), condition.span)
    return None


def source_formats(program: ast.Program) -> dict[str, SourceFormats]:
    """The formats that the program names, by topic. Topics that are only joined are not included: no clause names
    their formats.

    A format in WHERE takes precedence over SET, and applies to all SELECTs from the topic.

    Raises:
        LsqlError: FORMAT_UNSUPPORTED for a format that cannot be read; FORMAT_DUPLICATE if the WHERE clauses name
            different formats for a topic.
    """
    key = value = None
    for statement in program.settings:
        if statement.key.lower() == "_ktype":
            key = readable_format(statement.value.upper(), "key", statement.value_span)
        if statement.key.lower() == "_vtype":
            value = readable_format(statement.value.upper(), "value", statement.value_span)
    topics = source_topics(program)
    in_where: dict[str, dict[str, tuple[Format, Span]]] = {}
    for select in all_selects(program):
        topic = select.source.name.name
        named = in_where.setdefault(topic, {})
        for condition in format_conditions(select.where):
            part = _PARTS[condition.name]
            form = readable_format(condition.format, part, condition.span)
            first, place = named.setdefault(part, (form, condition.span))
            if first != form and topic in topics:
                raise LsqlError(
                    "FORMAT_DUPLICATE",
                    condition.span,
                    [("the first", place)],
                    part=part,
                    topic=topic,
                    first=str(first),
                    second=str(form),
                )
    return {
        topic: SourceFormats(
            named["key"][0] if "key" in named else key, named["value"][0] if "value" in named else value
        )
        for topic, named in in_where.items()
        if topic in topics
    }


def readable_format(name: str, part: OneOf["key", "value"], span: Span) -> Format:
    """The format with this name.

    Args:
        name: for example `JSON` or `TW[STRING]`.
        part: the part of the source's records.
        span: the name in the program, for errors.

    Raises:
        LsqlError: FORMAT_UNSUPPORTED.
    """
    form = parse_format(name)
    if form is None or form.name not in readable_as(part):
        raise LsqlError("FORMAT_UNSUPPORTED", span, format=name, known=known_formats(readable_as(part)))
    return form


def all_selects(program: ast.Program) -> list[ast.Select]:
    """All SELECTs of a program, including WITH queries."""
    selects = [table.select for table in program.shared_tables]
    for insert in program.inserts:
        selects += [table.select for table in insert.tables]
        selects.append(insert.select)
    return selects


def source_topics(program: ast.Program) -> dict[str, Span]:
    """The topics that a program reads, each with the span of its first use. Names of WITH queries are not topics."""
    topics: dict[str, Span] = {}
    shared = {table.name.name for table in program.shared_tables}
    for insert in program.inserts:
        local = shared | {table.name.name for table in insert.tables}
        for select in (
            *(t.select for t in program.shared_tables),
            *(t.select for t in insert.tables),
            insert.select,
        ):
            for source in (select.source, *(join.source for join in select.joins)):
                if source.name.name not in local:
                    topics.setdefault(source.name.name, source.name.span)
    return topics
