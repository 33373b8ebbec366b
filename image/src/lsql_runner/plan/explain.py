"""The plan as text, for `lsql explain` and for golden files."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from lsql_runner.bind.bound import SinkTarget
from lsql_runner.formats.catalog import Format, Serde
from lsql_runner.formats.table import row_of
from lsql_runner.plan.late_records import late_nodes
from lsql_runner.plan.nodes import Aggregate, Filter, Having, Join, PlanNode, Project, ReadTopic, Unnest
from lsql_runner.plan.queries import Plan, Query, Write, WriteSink
from lsql_runner.plan.text import show, show_duration, show_part
from lsql_runner.plan.tree import inputs, nodes
from lsql_runner.plan.usage import fields_read
from lsql_runner.types import DataType, Struct, describe


def explain(plan: Plan) -> str:
    """The text of a plan: each node with its details on the lines below, from the targets down to the sources."""
    return "\n".join(line for query in plan.queries for line in _query(query)) + "\n"


def _query(query: Query) -> Iterator[str]:
    yield f"query {query.name}{_mode(query)}"
    decoded = fields_read(query)
    for write in query.writes:
        yield from _write(write, decoded)
    for write in query.dead_letters_of:
        yield f"  write {write.errors.dead_letter_topic}: dead letters of {write.topic}"
        topics = [node.schema.topic for node in nodes(write.input) if isinstance(node, ReadTopic)]
        yield f"    read {', '.join(dict.fromkeys(topics))}"


def _mode(query: Query) -> str:
    if query.stateful:
        reason = "" if query.only_in_batches is None else f": {query.only_in_batches}"
        return " (keeps state, in real time)" if query.real_time else f" (keeps state, in batches{reason})"
    return " (continuous)" if query.continuous else ""


def _write(write: Write, decoded: Mapping[str, DataType]) -> Iterator[str]:
    if isinstance(write, WriteSink):
        yield from _target(write.target, write.input.of_table)
    else:
        yield f"  write {write.topic}"
        yield f"    key   {_serde(_output_serde(write.key_format, write.input.key_type, write.key_schema))}"
        yield f"    value {_serde(_output_serde(write.value_format, write.input.value_type, write.value_schema))}"
        if write.errors.handles_errors or late_nodes(write):
            yield f"    errors {write.errors}"
    yield from _tree(write.input, decoded, 2)


def _tree(node: PlanNode, decoded: Mapping[str, DataType], depth: int) -> Iterator[str]:
    yield from _node(node, decoded, "  " * depth)
    for below in inputs(node):
        yield from _tree(below, decoded, depth + 1)


def _window(node: Project) -> str:
    if not node.windowed:
        return ""
    return " + session end and start" if "window_end" in node.columns else " + window start"


def _output_serde(form: Format, kind: DataType, schema: str | None) -> Serde:
    return Serde(form, kind, has_schema_id=schema is not None and row_of(form).may_have_schema_id)


def _target(target: SinkTarget, is_table: bool) -> Iterator[str]:
    """The lines of a sink. The address of its server is configuration, and not part of the plan."""
    stored = f" as {target.store}" if target.store else ""
    created = ", created if missing" if target.creates else ""
    yield f"  {target.mode} {target.table} in sink {target.sink} ({target.kind}){stored}{created}"
    yield f"    key     {', '.join(target.key) or 'none'}"
    yield f"    columns {', '.join(f'{name} {describe(kind)}' for name, kind in target.columns)}"
    if target.mode == "upsert":
        yield f"    deletes {_deletes(target, is_table)}"
    yield f"    {target.delivery.replace('_', ' ')}, {target.batch_rows} rows per request"


def _deletes(target: SinkTarget, is_table: bool) -> str:
    if is_table:
        return "rows that the table no longer has" if target.deletes else "none: rows are never removed"
    return "by tombstones" if target.deletes else "none: the key is not computed from the record key alone"


def _serde(serde: Serde) -> str:
    return f"{serde.format}{' with schema id' if serde.has_schema_id else ''} {describe(serde.type)}"


def _node(node: PlanNode, decoded: Mapping[str, DataType], indent: str) -> Iterator[str]:
    """The lines of a node, without the nodes below it.

    Args:
        decoded: by topic, the type of the fields that the query decodes.
    """
    match node:
        case Project():
            yield f"{indent}project" + (" as a table of the newest records" if node.as_table else "")
            yield f"{indent}  key   = {show_part(node.key)}" + _window(node)
            tombstones = "; null for a tombstone" if node.keeps_tombstones else ""
            yield f"{indent}  value = {show_part(node.value)}{tombstones}"
            yield f"{indent}  ts    = {show(node.ts)}"
        case Filter(condition=condition):
            yield f"{indent}filter {show(condition)}"
        case Unnest(alias=alias, array=array):
            yield f"{indent}unnest {show(array)} as {alias}"
        case Aggregate():
            yield from _aggregate(node, indent)
        case Having(condition=condition):
            yield f"{indent}having {show(condition)} in store {node.store}"
        case Join():
            yield from _join(node, indent)
        case ReadTopic(schema):
            yield f"{indent}read {schema.topic} ({schema.origin})"
            yield f"{indent}  key   {_serde(schema.key)}"
            yield f"{indent}  value {_serde(schema.value)}"
            read = decoded[schema.topic]
            names = ", ".join(read.names) if isinstance(read, Struct) else describe(read)
            yield f"{indent}  decodes {names or 'nothing'}"


def _join(node: Join, indent: str) -> Iterator[str]:
    sides = " with ".join("table" if side.is_table else "stream" for side in (node.left, node.right))
    yield f"{indent}join {node.kind} {sides} in store {node.store}"
    for left, right in zip(node.left.keys, node.right.keys, strict=True):
        yield f"{indent}  on    {show(left)} = {show(right)}"
    if node.residual is not None:
        yield f"{indent}  and   {show(node.residual)}"
    if node.within_ms is not None:
        yield f"{indent}  within {show_duration(node.within_ms)}, grace {show_duration(node.grace_ms)}"
    yield f"{indent}  key   = {show(node.key)}"
    for side, name in ((node.left, "left"), (node.right, "right")):
        kept = ", ".join(f"{column} {describe(kind)}" for column, kind in side.carried) or "nothing"
        yield f"{indent}  {name} keeps {kept}"


def _aggregate(node: Aggregate, indent: str) -> Iterator[str]:
    yield f"{indent}aggregate{' table' if node.of_table else ''} in store {node.store}"
    keys = ", ".join(f"{name} = {show(expr)}" for name, expr in node.keys) or "the record key"
    yield f"{indent}  by    {keys}"
    if node.window is not None:
        advance = "" if node.window.kind != "HOP" else f" by {show_duration(node.window.advance_ms)}"
        size = show_duration(node.window.size_ms)
        limits = f"grace {show_duration(node.grace_ms)}, time {show(node.event_time)}"
        final = ", one result when the window ends" if node.final else ""
        yield f"{indent}  per   {node.window.kind} {size}{advance}, {limits}{final}"
    if node.order_columns:
        yield f"{indent}  order {', '.join(('time', *node.order_columns))}"
    for slot, call in node.calls:
        yield f"{indent}  {slot} = {show(call)} {describe(call.type)}"
