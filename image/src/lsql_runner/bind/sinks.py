"""INSERTs into sinks."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Literal as OneOf

from lsql_runner.bind.bound import BoundJoin, BoundSelect, BoundSinkInsert, Fields, SinkTarget
from lsql_runner.bind.expr import ColumnRef, Expr, walk
from lsql_runner.bind.projections import default_name
from lsql_runner.bind.settings import ProgramSettings
from lsql_runner.bind.table_rows import IdentityValue, is_row_identity, may_lose_rows, row_identity, scalar_paths
from lsql_runner.errors import LsqlError
from lsql_runner.formats.catalog import Catalog
from lsql_runner.spans import Span
from lsql_runner.sql import ast
from lsql_runner.sql.printer import print_expression
from lsql_runner.types import Struct, describe

DEFAULT_BATCH_ROWS = 1000
_RECORD_KEY = ast.NamePath(ast.Ident("_key", False, Span(0, 0)), (), Span(0, 0))


@dataclass(frozen=True, slots=True, kw_only=True)
class SinkKind:
    """A kind of sink, and its features."""

    name: str
    schemes: tuple[str, ...]
    """The schemes of its addresses."""
    example: str
    """An address."""
    needs_primary_key: bool
    """Whether an INSERT must name the key columns with PK."""
    creates: bool
    """Whether it can create tables."""
    storage_types: tuple[str, ...] = ()
    """The values of STOREAS; the first is the default."""
    formats: tuple[str, ...] = ()
    """The values of WITHFORMAT."""


SINK_KINDS: dict[str, SinkKind] = {
    kind.name: kind
    for kind in (
        SinkKind(
            name="postgresql",
            schemes=("jdbc:postgresql://",),
            example="jdbc:postgresql://db:5432/shop",
            needs_primary_key=False,
            creates=True,
        ),
        SinkKind(
            name="redis",
            schemes=("redis://", "rediss://"),
            example="redis://cache:6379",
            needs_primary_key=True,
            creates=False,
            storage_types=("STRING", "HASH"),
            formats=("JSON",),
        ),
    )
}
"""By name. `GET /stream` and case files use the same names."""


@dataclass(frozen=True, slots=True)
class NamedSink:
    """A configured sink, and the table in it that an INSERT writes to."""

    name: str
    kind: SinkKind
    table: str


def named_sink(target: str, sinks: Mapping[str, str]) -> NamedSink | None:
    """The sink that the target of an INSERT names: `shop` and `shop.orders` name the sink `shop`. None if it is not
    configured.

    Args:
        target: the target as the program writes it.
        sinks: the kinds of the configured sinks, by name.
    """
    head, _, table = target.partition(".")
    name = sink_name(head)
    return NamedSink(name, SINK_KINDS[sinks[name]], table or target) if name in sinks else None


def sink_name(word: str) -> str:
    """The normalized name of a sink, in lower case and with `_` for `-`: `order_cache` for `Order-Cache`."""
    return word.lower().replace("-", "_")


def sink_of(insert: ast.Insert, catalog: Catalog) -> NamedSink | None:
    """The sink that an INSERT writes to; None for a topic.

    Raises:
        LsqlError: SINK_UNKNOWN, TARGET_AMBIGUOUS.
    """
    target = insert.target.name
    sink = named_sink(target, catalog.sinks)
    if insert.kcql is not None:
        if sink is None:
            name = sink_name(target.partition(".")[0])
            raise LsqlError(
                "SINK_UNKNOWN",
                insert.target.span,
                clause=insert.kcql.clauses[0][0],
                sink=name,
                known=", ".join(sorted(catalog.sinks)) or "none",
                variable=f"LSQL_SINK_{name.upper()}_URL",
            )
        return sink
    if sink is not None and catalog.existing is not None and target in catalog.existing:
        raise LsqlError("TARGET_AMBIGUOUS", insert.target.span, target=target, sink=sink.name)
    return sink


def bind_sink_insert(
    insert: ast.Insert, sink: NamedSink, select: BoundSelect, settings: ProgramSettings
) -> BoundSinkInsert:
    """An INSERT into a sink.

    Raises:
        LsqlError: SINK_CLAUSE_UNSUPPORTED, SINK_CLAUSE_VALUE, SINK_CLAUSE_CONFLICT, SINK_FIELDS_MISSING, PK_MISSING,
            PK_UNKNOWN, NAME_DUPLICATE, SINK_ROW_IDENTITY_MISSING, SINK_UPSERT_REQUIRED, PK_NOT_ROW_IDENTITY.
    """
    kcql = insert.kcql or ast.Kcql()
    _check_clauses(insert, kcql, sink)
    span = insert.select.projections[0].span.to(insert.select.projections[-1].span)
    value_type = select.shape.value.type
    if not isinstance(value_type, Struct) or not value_type.fields:
        raise LsqlError("SINK_FIELDS_MISSING", span, sink=sink.name, found=describe(value_type))
    key = _key(insert, kcql, value_type.names)
    if not key and (kcql.upsert or sink.kind.needs_primary_key):
        statement = "UPSERT" if kcql.upsert else "INSERT"
        raise LsqlError(
            "PK_MISSING", insert.target.span, statement=statement, sink=sink.name, known=", ".join(value_type.names)
        )
    storage_type = kcql.store_as.name.upper() if kcql.store_as else next(iter(sink.kind.storage_types), "")
    mode: OneOf["insert", "upsert"] = "upsert" if kcql.upsert or sink.kind.needs_primary_key else "insert"
    if may_lose_rows(select):
        _check_deletes(insert, kcql, key, mode, select)
    target = SinkTarget(
        sink=sink.name,
        kind=sink.kind.name,
        name=insert.target.name,
        table=sink.table,
        mode=mode,
        columns=tuple((f.name, f.type) for f in value_type.fields),
        key=key,
        deletes=mode == "upsert" and (may_lose_rows(select) or _is_computed_from_key(key, select)),
        creates=sink.kind.creates and (kcql.autocreate or settings.topic(insert.target.name).autocreate),
        batch_rows=kcql.batch or DEFAULT_BATCH_ROWS,
        store=storage_type,
    )
    return BoundSinkInsert(target, select)


def _check_clauses(insert: ast.Insert, kcql: ast.Kcql, sink: NamedSink) -> None:
    """Check that the kind of sink supports the clauses of the INSERT."""

    def span_of(clause: str) -> Span:
        span = next((span for name, span in insert.clauses if name == clause), None)
        return kcql.span_of(clause) if span is None else span

    def unsupported(clause: str, known: tuple[str, ...] = ()) -> LsqlError:
        span, name, kind = span_of(clause), sink.name, sink.kind.name
        if known:
            return LsqlError("SINK_CLAUSE_VALUE", span, clause=clause, sink=name, kind=kind, known=", ".join(known))
        return LsqlError("SINK_CLAUSE_UNSUPPORTED", span, clause=clause, sink=name, kind=kind)

    kind, form, store = sink.kind, kcql.value_format, kcql.store_as
    if insert.key_format is not None or insert.value_format is not None:
        raise unsupported("STORE")
    if form is not None and form.name not in kind.formats:
        raise unsupported("WITHFORMAT", kind.formats)
    if store is not None and (store.name.upper() not in kind.storage_types or store.options):
        raise unsupported("STOREAS", kind.storage_types)
    if form is not None and store is not None and store.name.upper() != kind.storage_types[0]:
        raise LsqlError("SINK_CLAUSE_CONFLICT", span_of("WITHFORMAT"), clause="WITHFORMAT", store=store.name.upper())
    if kcql.autocreate and not kind.creates:
        raise unsupported("AUTOCREATE")


def _key(insert: ast.Insert, kcql: ast.Kcql, columns: tuple[str, ...]) -> tuple[str, ...]:
    """The columns that PK names: by their alias, or by the field that they contain."""
    key: list[str] = []
    for path in kcql.key:
        name = path.head.name if not path.steps else ""
        containing = [
            default_name(item) if item.alias is None else item.alias.head.name
            for item in insert.select.projections
            if item.expr == path and (item.alias is None or not item.alias.steps)
        ]
        column = next((column for column in (name, *containing) if column in columns), None)
        if column is None:
            shown = ".".join(
                [path.head.name, *(s.name if isinstance(s, ast.Ident) else f"[{s.position}]" for s in path.steps)]
            )
            raise LsqlError("PK_UNKNOWN", path.span, name=shown, known=", ".join(columns))
        if column in key:
            raise LsqlError("NAME_DUPLICATE", path.span, name=column)
        key.append(column)
    return tuple(key)


def _check_deletes(
    insert: ast.Insert, kcql: ast.Kcql, key: tuple[str, ...], mode: OneOf["insert", "upsert"], select: BoundSelect
) -> None:
    """Check that PK identifies the rows of a table, so that the sink can delete them one by one."""
    values = row_identity(select)
    if values is None:
        raise LsqlError("SINK_ROW_IDENTITY_MISSING", insert.target.span, target=insert.target.name)
    names = _names_of(values, insert.select.group_by)
    if mode == "insert":
        raise LsqlError(
            "SINK_UPSERT_REQUIRED", insert.target.span, target=insert.target.name, identity=", ".join(names)
        )
    if not is_row_identity(values, key, select):
        span = kcql.key[0].span.to(kcql.key[-1].span)
        raise LsqlError("PK_NOT_ROW_IDENTITY", span, key=", ".join(key), identity=", ".join(names), first=names[0])


def _names_of(values: tuple[IdentityValue, ...], group_by: tuple[ast.Expression, ...]) -> list[str]:
    """The values as a SELECT list names them; of a struct, its fields."""
    names: list[str] = []
    for expr, value in zip(group_by or (_RECORD_KEY,), values, strict=True):
        if isinstance(expr, ast.NamePath):
            paths = scalar_paths(value.type)
            inner = [tuple(ast.Ident(str(step), not str(step).isidentifier(), expr.span) for step in p) for p in paths]
            names += [print_expression(replace(expr, steps=(*expr.steps, *steps))) for steps in inner]
        else:
            names.append(print_expression(expr))
    return names


def _is_computed_from_key(key: tuple[str, ...], select: BoundSelect) -> bool:
    """Whether the columns of PK are computed only from the record key, so that a tombstone identifies a row."""
    if select.is_table or isinstance(select.source, BoundJoin) or not isinstance(select.value, Fields):
        return False
    exprs = dict(select.value.fields)
    return all(column in exprs and _reads_only_the_key(exprs[column]) for column in key)


def _reads_only_the_key(expr: Expr) -> bool:
    columns = {part.column for part in walk(expr) if isinstance(part, ColumnRef)}
    return columns == {"key"}
