"""The plan as a graph of nodes and edges, in JSON values, for pages and tools."""

from __future__ import annotations

from typing import Any

from lsql_runner.bind.bound import SinkTarget
from lsql_runner.plan.late_records import late_nodes
from lsql_runner.plan.nodes import Aggregate, Filter, Having, Join, PlanNode, Project, ReadTopic, Unnest
from lsql_runner.plan.queries import Plan, WriteSink
from lsql_runner.plan.text import show, show_duration, show_part
from lsql_runner.plan.tree import inputs
from lsql_runner.types import describe


def topology(plan: Plan) -> dict[str, Any]:
    """`{"nodes": [{"id", "kind", "label", "detail"}], "edges": [{"from", "to"}]}`, sources first.

    A topic is one node, even if several queries read or write it. The same holds for a table of a sink.
    """
    graph = _Graph()
    for query in plan.queries:
        for number, write in enumerate(query.writes):
            last = graph.chain(write.input, f"{query.name}/{number}")
            if isinstance(write, WriteSink):
                graph.edge(last, graph.sink(write.target))
                continue
            graph.edge(last, graph.topic(write.topic, f"{write.key_format} key, {write.value_format} value"))
            if write.errors.write == "dlq" or (write.errors.read == "dlq" and not write.stateful) or late_nodes(write):
                graph.edge(last, graph.topic(str(write.errors.dead_letter_topic), "dead letters"))
        if query.dead_letters_of:
            queue = graph.topic(str(query.dead_letters_of[0].errors.dead_letter_topic), "dead letters")
            for source in query.sources:
                graph.edge(f"topic/{source.topic}", queue)
    return {"nodes": list(graph.nodes.values()), "edges": graph.edges}


class _Graph:
    def __init__(self) -> None:
        self.nodes: dict[str, dict[str, str]] = {}
        self.edges: list[dict[str, str]] = []

    def topic(self, name: str, detail: str) -> str:
        identity = f"topic/{name}"
        self.nodes.setdefault(identity, {"id": identity, "kind": "topic", "label": name, "detail": detail})
        return identity

    def sink(self, target: SinkTarget) -> str:
        identity = f"sink/{target.sink}/{target.table}"
        detail = f"{target.kind}, {target.mode}" + (f" by {', '.join(target.key)}" if target.key else "")
        self.nodes.setdefault(identity, {"id": identity, "kind": "sink", "label": target.name, "detail": detail})
        return identity

    def edge(self, start: str, end: str) -> None:
        self.edges.append({"from": start, "to": end})

    def chain(self, node: PlanNode, prefix: str) -> str:
        """Add a node and all nodes below it; returns the id of the node."""
        if isinstance(node, ReadTopic):
            schema = node.schema
            return self.topic(schema.topic, f"{schema.key.format} key, {schema.value.format} value")
        below = [self.chain(one, prefix) for one in inputs(node)]
        identity = f"{prefix}/{len(self.nodes)}"
        kind, label, detail = _describe(node)
        self.nodes[identity] = {"id": identity, "kind": kind, "label": label, "detail": detail}
        for one in below:
            self.edge(one, identity)
        return identity


def _describe(node: Filter | Unnest | Aggregate | Having | Join | Project) -> tuple[str, str, str]:
    match node:
        case Filter(condition=condition):
            return "filter", "filter", show(condition)
        case Unnest(alias=alias, array=array):
            return "unnest", f"each {alias}", show(array)
        case Aggregate():
            calls = ", ".join(f"{show(call)} {describe(call.type)}" for _, call in node.calls)
            window = "" if node.window is None else f"{node.window.kind} {show_duration(node.window.size_ms)}: "
            return "aggregate", node.store, window + calls
        case Having(condition=condition):
            return "filter", node.store, f"HAVING {show(condition)}"
        case Join():
            pairs = zip(node.left.keys, node.right.keys, strict=True)
            on = " AND ".join(f"{show(left)} = {show(right)}" for left, right in pairs)
            return "join", node.store, f"{node.kind}: {on}"
        case Project():
            return "project", "project", show_part(node.value)
