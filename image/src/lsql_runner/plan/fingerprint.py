"""What a checkpoint depends on: may this program go on with the state of that one?"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from lsql_runner.plan.explain import explain_node
from lsql_runner.plan.nodes import Aggregate, Node, ReadTopic, nodes
from lsql_runner.plan.queries import DEAD_LETTERS, Plan, Query, WriteTopic

_OF_TABLE = "groups with rows, each in one value"
"""How groups of a table's rows are kept. Another layout needs another line, so that none is read as what it is not: the
first, without a line, was that of Spark's own aggregation."""


@dataclass(frozen=True, slots=True)
class QueryFingerprint:
    """`sources` in the order in which the engine numbers them; `stores` with all that decides what is in them."""

    sources: tuple[str, ...]
    stores: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Fingerprint:
    queries: tuple[tuple[str, QueryFingerprint], ...]

    @property
    def dead_letters(self) -> QueryFingerprint | None:
        """That of the query of dead letters, which goes on from its checkpoint only where it is the same."""
        return dict(self.queries).get(DEAD_LETTERS)

    def as_json(self) -> dict[str, Any]:
        return {name: {"sources": list(q.sources), "stores": dict(q.stores)} for name, q in self.queries}

    @staticmethod
    def from_json(value: dict[str, Any]) -> Fingerprint:
        """Read back what `as_json` gave."""
        return Fingerprint(
            tuple(
                (name, QueryFingerprint(tuple(q["sources"]), tuple(q["stores"].items()))) for name, q in value.items()
            )
        )


def fingerprint(plan: Plan) -> Fingerprint:
    """The fingerprint of a plan."""
    found = []
    for query in plan.queries:
        stores = []
        for store in query.stores:
            lines = [line for node in nodes(store) for line in _lines(query, node)]
            # Spark lays a group out as what is above asks for it, which an attempt does otherwise, and a dead letter
            # otherwise again. Sums are others there too, and HAVING remembers more.
            policies = dict.fromkeys(sink.errors.write for sink in query.sinks if isinstance(sink, WriteTopic))
            lines += [f"what is made of it is attempted: {policy}" for policy in policies if policy != "fail"]
            stores.append((store.store, "\n".join(lines)))
        found.append((query.name, QueryFingerprint(tuple(s.topic for s in query.sources), tuple(stores))))
    return Fingerprint(tuple(found))


def _lines(query: Query, node: Node) -> list[str]:
    """A node as far as it decides what is in a store. How a topic's schema was found decides nothing."""
    if isinstance(node, ReadTopic):
        return [f"read {node.schema.topic}"]
    lines = [line.strip() for line in explain_node(query, node)]
    if isinstance(node, Aggregate) and node.of_table:
        lines.append(_OF_TABLE)
    return lines


def changes(old: Fingerprint, new: Fingerprint) -> tuple[str, ...]:
    """Why the checkpoint of `old` does not fit `new`; empty if it does. Each is half a sentence."""
    found: list[str] = []
    was, now = dict(old.queries), dict(new.queries)
    for name in {*was, *now} - {DEAD_LETTERS}:  # it keeps nothing that another could not begin without
        if name not in was or name not in now:
            found.append(f"the query {name} is {'new' if name in now else 'gone'}")
        elif was[name].sources != now[name].sources:
            found.append(f"it reads {', '.join(now[name].sources)} where it read {', '.join(was[name].sources)}")
        elif was[name].stores != now[name].stores:
            found.append(f"the aggregate of {name} is another one")
    return tuple(sorted(found))
