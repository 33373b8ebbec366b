"""The source topics of a program, and the formats that it names for them in the legacy dialect.

The formats are named with `_ktype=JSON AND _vtype=JSON` in WHERE, or with SET `_ktype` and SET `_vtype`. A condition
without the name or alias of a source, as in `p._vtype=JSON`, is about the source of FROM.
"""

from __future__ import annotations

from collections.abc import Container, Iterable
from dataclasses import dataclass, replace
from typing import Literal as OneOf

from lsql_runner.errors import LsqlError
from lsql_runner.formats.catalog import Format
from lsql_runner.formats.table import known_formats, parse_format, readable_as
from lsql_runner.spans import Span
from lsql_runner.sql import ast

FORMAT_PARTS: dict[str, OneOf["key", "value"]] = {"_ktype": "key", "_vtype": "value"}
"""The part of a record by the name of its format."""


@dataclass(frozen=True, slots=True)
class FormatCondition:
    """A condition of WHERE that names a format and filters no records."""

    source: ast.Source
    name: str
    """`_ktype` or `_vtype`."""
    format: str
    span: Span


@dataclass(frozen=True, slots=True)
class SourceFormats:
    """The formats that the program names for a topic; None if it names none."""

    key: Format | None = None
    value: Format | None = None


def format_conditions(select: ast.Select) -> list[FormatCondition]:
    """The conditions of the WHERE that name a format. Only conditions that are connected by AND can."""
    named = [_format_condition(condition, select) for condition in _conditions(select.where)]
    return [condition for condition in named if condition is not None]


def without_format_conditions(select: ast.Select) -> ast.Expression | None:
    """The WHERE without the conditions that name a format; None if no condition remains."""
    filters = tuple(c for c in _conditions(select.where) if _format_condition(c, select) is None)
    if not filters:
        return None
    return filters[0] if len(filters) == 1 else ast.Logical("AND", filters, filters[0].span.to(filters[-1].span))


def _conditions(where: ast.Expression | None) -> tuple[ast.Expression, ...]:
    if where is None:
        return ()
    return where.operands if isinstance(where, ast.Logical) and where.op == "AND" else (where,)


def _format_condition(condition: ast.Expression, select: ast.Select) -> FormatCondition | None:
    match condition:
        case ast.Binary("=", ast.NamePath(part, ()), named):
            source: ast.Source | None = select.source
        case ast.Binary("=", ast.NamePath(qualifier, (ast.Ident() as part,)), named):
            source = next((s for s in select.sources if qualifier.name in [name.name for name in s.names]), None)
        case _:
            return None
    if source is None or part.quoted or part.name.lower() not in FORMAT_PARTS:
        return None
    match named:
        case ast.NamePath(word, ()):
            return FormatCondition(source, part.name.lower(), word.name.upper(), condition.span)
        case ast.StringLiteral(text):
            return FormatCondition(source, part.name.lower(), text.upper(), condition.span)
    return None


def source_formats(program: ast.Program) -> dict[str, SourceFormats]:
    """The formats that the program names, by topic. SET names formats of topics in a FROM, not of topics that are
    only joined.

    A format in WHERE takes precedence over SET, and applies to all SELECTs from the topic.

    Raises:
        LsqlError: FORMAT_UNSUPPORTED for a format that cannot be read; FORMAT_DUPLICATE if the WHERE clauses name
            different formats for a topic.
    """
    topics = source_topics(program)
    selects = all_selects(program)
    by_set = _formats_of_set(program)
    read = [select.source.name.name for select in selects if isinstance(select.source, ast.SourceName)]
    formats = {topic: by_set for topic in read if topic in topics}
    for (topic, part), (form, _) in _formats_in_where(selects, topics).items():
        known = formats.get(topic, SourceFormats())
        formats[topic] = replace(known, key=form) if part == "key" else replace(known, value=form)
    return formats


def _formats_of_set(program: ast.Program) -> SourceFormats:
    key = value = None
    for statement in program.settings:
        if statement.key.lower() == "_ktype":
            key = readable_format(statement.value.upper(), "key", statement.value_span)
        if statement.key.lower() == "_vtype":
            value = readable_format(statement.value.upper(), "value", statement.value_span)
    return SourceFormats(key, value)


def _formats_in_where(
    selects: Iterable[ast.Select], topics: Container[str]
) -> dict[tuple[str, OneOf["key", "value"]], tuple[Format, Span]]:
    """The formats of the WHERE clauses by topic and part, each with the first condition that names it."""
    formats: dict[tuple[str, OneOf["key", "value"]], tuple[Format, Span]] = {}
    for condition in (condition for select in selects for condition in format_conditions(select)):
        part = FORMAT_PARTS[condition.name]
        form = readable_format(condition.format, part, condition.span)
        if not isinstance(condition.source, ast.SourceName) or condition.source.name.name not in topics:
            continue
        topic = condition.source.name.name
        first, place = formats.setdefault((topic, part), (form, condition.span))
        if first != form:
            raise LsqlError(
                "FORMAT_DUPLICATE",
                condition.span,
                [("the first", place)],
                part=part,
                topic=topic,
                first=str(first),
                second=str(form),
            )
    return formats


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
    """All SELECTs of a program, including WITH queries and subselects."""
    selects = [table.select for table in program.shared_tables]
    for insert in program.inserts:
        selects += [table.select for table in insert.tables]
        selects.append(insert.select)
    return [inner for select in selects for inner in select.with_subselects()]


def source_topics(program: ast.Program) -> dict[str, Span]:
    """The topics that a program reads, each with the span of its first use. Names of WITH queries are not topics."""
    topics: dict[str, Span] = {}
    shared = {table.name.name for table in program.shared_tables}
    _add_topics(topics, [table.select for table in program.shared_tables], shared)
    for insert in program.inserts:
        known = shared | {table.name.name for table in insert.tables} if insert.tables else shared
        _add_topics(topics, [*(table.select for table in insert.tables), insert.select], known)
    return topics


def _add_topics(topics: dict[str, Span], selects: Iterable[ast.Select], queries: Container[str]) -> None:
    """Add the sources of the SELECTs that are not names of WITH queries."""
    for source in (source for select in selects for inner in select.with_subselects() for source in inner.sources):
        if isinstance(source, ast.SourceName) and source.name.name not in queries:
            topics.setdefault(source.name.name, source.name.span)
