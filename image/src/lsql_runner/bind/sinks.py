"""INSERTs into sinks: what is written, and where."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal as OneOf

from lsql_runner.bind.bound import BoundJoin, BoundSelect, BoundSinkInsert, Fields, SinkTarget
from lsql_runner.bind.expr import ColumnRef, Expr, walk
from lsql_runner.bind.settings import ProgramSettings
from lsql_runner.bind.table_rows import can_delete_rows, identity, is_identity
from lsql_runner.errors import LsqlError
from lsql_runner.formats.catalog import Catalog
from lsql_runner.spans import Span
from lsql_runner.sql import ast
from lsql_runner.types import Struct, describe

DEFAULT_BATCH_ROWS = 1000


@dataclass(frozen=True, slots=True, kw_only=True)
class SinkKind:
    """The capabilities of a kind of sink. Everything else is refused before anything runs."""

    name: str
    schemes: tuple[str, ...]
    """The schemes of its addresses."""
    example: str
    needs_key: bool
    """Whether rows must have a key."""
    creates: bool
    """Whether it has tables that can be created."""
    stores: tuple[str, ...] = ()
    """The values of STOREAS; the first is the default."""
    formats: tuple[str, ...] = ()
    """The values of WITHFORMAT."""


KINDS: dict[str, SinkKind] = {
    kind.name: kind
    for kind in (
        SinkKind(
            name="postgresql",
            schemes=("jdbc:postgresql://",),
            example="jdbc:postgresql://db:5432/shop",
            needs_key=False,
            creates=True,
        ),
        SinkKind(
            name="redis",
            schemes=("redis://", "rediss://"),
            example="redis://cache:6379",
            needs_key=True,
            creates=False,
            stores=("STRING", "HASH"),
            formats=("JSON",),
        ),
    )
}
"""By name, as `GET /stream` and case files say it."""


@dataclass(frozen=True, slots=True)
class NamedSink:
    """A configured sink, and the name of the target inside it."""

    name: str
    kind: SinkKind
    inside: str


def named_sink(target: str, sinks: Mapping[str, str]) -> NamedSink | None:
    """The sink that a target names: `shop` or `shop.orders` for the sink `shop`; None where there is none.

    Args:
        target: as the program writes it.
        sinks: the kinds of the configured ones, by name.
    """
    head, _, inside = target.partition(".")
    name = sink_name(head)
    return NamedSink(name, KINDS[sinks[name]], inside or target) if name in sinks else None


def sink_name(word: str) -> str:
    """A sink's name as its variables can hold it: `Order-Cache` is `order_cache`."""
    return word.lower().replace("-", "_")


def sink_of(insert: ast.Insert, catalog: Catalog) -> NamedSink | None:
    """The sink that an INSERT writes to; None for a topic.

    Raises:
        LsqlError: SINK_UNKNOWN, TARGET_AMBIGUOUS.
    """
    target = insert.target.name
    found = named_sink(target, catalog.sinks)
    if insert.kcql is not None:
        if found is None:
            name = sink_name(target.partition(".")[0])
            raise LsqlError(
                "SINK_UNKNOWN",
                insert.target.span,
                clause=insert.kcql.clauses[0][0],
                sink=name,
                known=", ".join(sorted(catalog.sinks)) or "none",
                variable=f"LSQL_SINK_{name.upper()}_URL",
            )
        return found
    if found is not None and catalog.existing is not None and target in catalog.existing:
        raise LsqlError("TARGET_AMBIGUOUS", insert.target.span, target=target, sink=found.name)
    return found


def bind_sink_insert(
    insert: ast.Insert, sink: NamedSink, select: BoundSelect, settings: ProgramSettings
) -> BoundSinkInsert:
    """An INSERT whose target is a sink.

    Raises:
        LsqlError: SINK_CLAUSE_UNSUPPORTED, SINK_CLAUSE_VALUE, SINK_CLAUSE_CONFLICT, SINK_FIELDS_MISSING, PK_MISSING,
            PK_UNKNOWN, SINK_ROW_IDENTITY_MISSING, SINK_UPSERT_REQUIRED, PK_NOT_ROW_IDENTITY.
    """
    kcql = insert.kcql or ast.Kcql()
    _check_clauses(insert, kcql, sink)
    span = insert.select.projections[0].span.to(insert.select.projections[-1].span)
    kind = select.shape.value.type
    if not isinstance(kind, Struct) or not kind.fields:
        raise LsqlError("SINK_FIELDS_MISSING", span, sink=sink.name, found=describe(kind))
    key = _key(insert, kcql, kind.names)
    if not key and (kcql.upsert or sink.kind.needs_key):
        statement = "UPSERT" if kcql.upsert else "INSERT"
        raise LsqlError(
            "PK_MISSING", insert.target.span, statement=statement, sink=sink.name, known=", ".join(kind.names)
        )
    store = kcql.store_as.name.upper() if kcql.store_as else next(iter(sink.kind.stores), "")
    mode: OneOf["insert", "upsert"] = "upsert" if kcql.upsert or sink.kind.needs_key else "insert"
    if can_delete_rows(select):
        _check_going(insert, kcql, key, mode, select)
    target = SinkTarget(
        sink=sink.name,
        kind=sink.kind.name,
        name=insert.target.name,
        table=sink.inside,
        mode=mode,
        columns=tuple((f.name, f.type) for f in kind.fields),
        key=key,
        deletes=mode == "upsert" and (can_delete_rows(select) or _is_of_record_key(key, select)),
        creates=sink.kind.creates and (kcql.autocreate or settings.topic(insert.target.name).autocreate),
        batch_rows=kcql.batch or DEFAULT_BATCH_ROWS,
        store=store,
    )
    return BoundSinkInsert(target, select)


def _check_clauses(insert: ast.Insert, kcql: ast.Kcql, sink: NamedSink) -> None:
    """Refuse clauses that the kind of sink does not support."""

    def place_of(clause: str) -> Span:
        place = next((place for name, place in insert.clauses if name == clause), None)
        return kcql.span_of(clause) if place is None else place

    def refuse(clause: str, known: tuple[str, ...] = ()) -> LsqlError:
        span, name, kind = place_of(clause), sink.name, sink.kind.name
        if known:
            return LsqlError("SINK_CLAUSE_VALUE", span, clause=clause, sink=name, kind=kind, known=", ".join(known))
        return LsqlError("SINK_CLAUSE_UNSUPPORTED", span, clause=clause, sink=name, kind=kind)

    kind, form, store = sink.kind, kcql.value_format, kcql.store_as
    if insert.key_format is not None or insert.value_format is not None:
        raise refuse("STORE")
    if form is not None and form.name not in kind.formats:
        raise refuse("WITHFORMAT", kind.formats)
    if store is not None and (store.name.upper() not in kind.stores or store.options):
        raise refuse("STOREAS", kind.stores)
    if form is not None and store is not None and store.name.upper() != kind.stores[0]:
        raise LsqlError("SINK_CLAUSE_CONFLICT", place_of("WITHFORMAT"), clause="WITHFORMAT", store=store.name.upper())
    if kcql.autocreate and not kind.creates:
        raise refuse("AUTOCREATE")


def _key(insert: ast.Insert, kcql: ast.Kcql, columns: tuple[str, ...]) -> tuple[str, ...]:
    """The columns that PK names: by their own name, or by the field that they were made of."""
    found: list[str] = []
    for path in kcql.key:
        name = path.head.name if not path.steps else ""
        made_of = [
            item.alias.head.name
            for item in insert.select.projections
            if item.alias is not None and not item.alias.steps and item.expr == path
        ]
        column = next((one for one in (name, *made_of) if one in columns), None)
        if column is None:
            shown = ".".join(
                [path.head.name, *(s.name if isinstance(s, ast.Ident) else f"[{s.position}]" for s in path.steps)]
            )
            raise LsqlError("PK_UNKNOWN", path.span, name=shown, known=", ".join(columns))
        if column in found:
            raise LsqlError("NAME_DUPLICATE", path.span, name=column)
        found.append(column)
    return tuple(found)


def _check_going(
    insert: ast.Insert, kcql: ast.Kcql, key: tuple[str, ...], mode: OneOf["insert", "upsert"], select: BoundSelect
) -> None:
    """Refuse a table whose rows could not be deleted, or could overwrite each other."""
    wanted = identity(select)
    if wanted is None:
        raise LsqlError("SINK_ROW_IDENTITY_MISSING", insert.target.span, target=insert.target.name)
    names = ", ".join(part.name for part in wanted)
    if mode == "insert":
        raise LsqlError("SINK_UPSERT_REQUIRED", insert.target.span, target=insert.target.name, identity=names)
    if not is_identity(wanted, key, select):
        span = kcql.key[0].span.to(kcql.key[-1].span)
        raise LsqlError("PK_NOT_ROW_IDENTITY", span, key=", ".join(key), identity=names)


def _is_of_record_key(key: tuple[str, ...], select: BoundSelect) -> bool:
    """Whether the key columns are computed from the record key alone: then a tombstone identifies the row to delete."""
    if select.is_table or isinstance(select.source, BoundJoin) or not isinstance(select.value, Fields):
        return False
    exprs = dict(select.value.fields)
    return all(column in exprs and _reads_only_the_key(exprs[column]) for column in key)


def _reads_only_the_key(expr: Expr) -> bool:
    columns = {part.column for part in walk(expr) if isinstance(part, ColumnRef)}
    return columns == {"key"}
