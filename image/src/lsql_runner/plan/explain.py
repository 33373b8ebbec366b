"""The plan as text: what `lsql explain` prints and what the golden files hold."""

from __future__ import annotations

from collections.abc import Iterator

from lsql_runner.bind.bound import SinkTarget
from lsql_runner.bind.catalog import Serde
from lsql_runner.plan.nodes import (
    Aggregate,
    Filter,
    Node,
    Plan,
    Project,
    Query,
    ReadTopic,
    Unnest,
    Write,
    WriteSink,
)
from lsql_runner.plan.text import show, show_duration, show_part
from lsql_runner.plan.usage import fields_read
from lsql_runner.types import Struct, describe


def explain(plan: Plan) -> str:
    """The whole plan, one node a line with its details below, from the target down to the source."""
    return "\n".join(line for query in plan.queries for line in _query(query)) + "\n"


def _query(query: Query) -> Iterator[str]:
    yield f"query {query.name}" + (" (keeps state)" if query.stateful else "")
    for sink in query.sinks:
        yield from _sink(query, sink)


def _sink(query: Query, sink: Write) -> Iterator[str]:
    if isinstance(sink, WriteSink):
        yield from _target(sink.target)
    else:
        yield f"  write {sink.topic}"
        yield f"    key   {_serde(Serde(sink.key_format, sink.input.key_type))}"
        yield f"    value {_serde(Serde(sink.value_format, sink.input.value_type))}"
    node: Node = sink.input
    depth = 2
    while True:
        yield from explain_node(query, node, "  " * depth)
        if isinstance(node, ReadTopic):
            return
        node = node.input
        depth += 1


def _target(target: SinkTarget) -> Iterator[str]:
    """What an INSERT does in a sink; where its server is belongs to the surroundings, and not to the plan."""
    stored = f" as {target.store}" if target.store else ""
    made = ", made if missing" if target.creates else ""
    yield f"  {target.mode} {target.table} in sink {target.sink} ({target.kind}){stored}{made}"
    yield f"    key     {', '.join(target.key) or 'none'}"
    yield f"    columns {', '.join(f'{name} {describe(kind)}' for name, kind in target.columns)}"
    if target.mode == "upsert":
        yield f"    deletes {'by tombstones' if target.deletes else 'none: the key is not of the record key alone'}"
    yield f"    {target.delivery.replace('_', ' ')}, {target.batch_rows} rows a request"


def _serde(serde: Serde) -> str:
    return f"{serde.format} {describe(serde.type)}"


def explain_node(query: Query, node: Node, indent: str = "") -> Iterator[str]:
    """The lines of one node without those below it."""
    match node:
        case Project():
            yield f"{indent}project"
            yield f"{indent}  key   = {show_part(node.key)}" + (" + window start" if node.windowed else "")
            yield f"{indent}  value = {show_part(node.value)}"
            yield f"{indent}  ts    = {show(node.ts)}"
        case Filter(condition=condition):
            yield f"{indent}filter {show(condition)}"
        case Unnest(alias=alias, array=array):
            yield f"{indent}unnest {show(array)} as {alias}"
        case Aggregate():
            yield from _aggregate(node, indent)
        case ReadTopic(schema):
            yield f"{indent}read {schema.topic} ({schema.origin})"
            yield f"{indent}  key   {_serde(schema.key)}"
            yield f"{indent}  value {_serde(schema.value)}"
            read = fields_read(query, schema.topic)
            names = ", ".join(read.names) if isinstance(read, Struct) else describe(read)
            yield f"{indent}  decodes {names or 'nothing'}"


def _aggregate(node: Aggregate, indent: str) -> Iterator[str]:
    yield f"{indent}aggregate in store {node.store}"
    keys = ", ".join(f"{name} = {show(expr)}" for name, expr in node.keys) or "the record's key"
    yield f"{indent}  by    {keys}"
    if node.window is not None:
        advance = "" if node.window.kind == "TUMBLE" else f" by {show_duration(node.window.advance_ms)}"
        size = show_duration(node.window.size_ms)
        limits = f"grace {show_duration(node.grace_ms)}, time {show(node.event_time)}"
        yield f"{indent}  per   {node.window.kind} {size}{advance}, {limits}"
    for slot, function, arg, kind in node.calls:
        yield f"{indent}  {slot} = {function}({'*' if arg is None else show(arg)}) {describe(kind)}"
