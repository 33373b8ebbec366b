"""Formats that a program names for its sources: `_ktype=JSON AND _vtype=JSON` in WHERE, or SET (both legacy)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal as OneOf

from lsql_runner.errors import LsqlError
from lsql_runner.formats.catalog import Format, known_formats, parse_format, readable_as
from lsql_runner.spans import Span
from lsql_runner.sql import ast

_WORDS: dict[str, OneOf["key", "value"]] = {"_ktype": "key", "_vtype": "value"}


@dataclass(frozen=True, slots=True)
class Decoder:
    """One condition that names a format instead of filtering records."""

    name: str
    format: str
    span: Span


@dataclass(frozen=True, slots=True)
class SourceFormats:
    """The formats that the program names for a topic; None where it leaves them to the catalog."""

    key: Format | None = None
    value: Format | None = None


def decoder_conditions(where: ast.Expression | None) -> list[Decoder]:
    """The decoders among the AND-ed conditions of a WHERE."""
    found = [_decoder(condition) for condition in _conditions(where)]
    return [decoder for decoder in found if decoder is not None]


def without_decoders(where: ast.Expression | None) -> ast.Expression | None:
    """The WHERE with its decoders taken out; None if nothing is left."""
    left = tuple(c for c in _conditions(where) if _decoder(c) is None)
    if not left:
        return None
    return left[0] if len(left) == 1 else ast.Logical("AND", left, left[0].span.to(left[-1].span))


def _conditions(where: ast.Expression | None) -> tuple[ast.Expression, ...]:
    if where is None:
        return ()
    return where.operands if isinstance(where, ast.Logical) and where.op == "AND" else (where,)


def _decoder(condition: ast.Expression) -> Decoder | None:
    match condition:
        case ast.Binary("=", ast.NamePath(head, ()), right) if head.name.lower() in _WORDS and not head.quoted:
            match right:
                case ast.NamePath(word, ()):
                    return Decoder(head.name.lower(), word.name.upper(), condition.span)
                case ast.StringLiteral(text):
                    return Decoder(head.name.lower(), text.upper(), condition.span)
    return None


def source_formats(program: ast.Program) -> dict[str, SourceFormats]:
    """By topic, what the program says of its formats; the catalog's maker asks before it samples.

    Raises:
        LsqlError: FORMAT_UNSUPPORTED for a format that this version does not read.
    """
    key = value = None
    for statement in program.settings:
        if statement.key.lower() == "_ktype":
            key = readable_format(statement.value.upper(), "key", statement.value_span)
        if statement.key.lower() == "_vtype":
            value = readable_format(statement.value.upper(), "value", statement.value_span)
    found: dict[str, SourceFormats] = {}
    for select in all_selects(program):
        formats = {"_ktype": key, "_vtype": value}
        for decoder in decoder_conditions(select.where):
            formats[decoder.name] = readable_format(decoder.format, _WORDS[decoder.name], decoder.span)
        found[select.source.name.name] = SourceFormats(formats["_ktype"], formats["_vtype"])
    return found


def readable_format(name: str, part: OneOf["key", "value"], span: Span) -> Format:
    """The format called `name`, as `JSON` or `TW[STRING]`, of a source's keys or values.

    Raises:
        LsqlError: FORMAT_UNSUPPORTED.
    """
    form = parse_format(name)
    if form is None or form.name not in readable_as(part):
        raise LsqlError("FORMAT_UNSUPPORTED", span, format=name, known=known_formats(readable_as(part)))
    return form


def all_selects(program: ast.Program) -> list[ast.Select]:
    """Every SELECT of a program, WITH queries included."""
    found = [table.select for table in program.shared_tables]
    for insert in program.inserts:
        found += [table.select for table in insert.tables]
        found.append(insert.select)
    return found


def source_topics(program: ast.Program) -> dict[str, Span]:
    """The topics that a program reads, each with the first place that names it; WITH names are not topics."""
    found: dict[str, Span] = {}
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
                    found.setdefault(source.name.name, source.name.span)
    return found
