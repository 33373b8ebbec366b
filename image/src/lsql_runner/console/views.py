"""Responses of the console's API from its view of the cluster: pure functions and models, no Flask."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from lsql_runner.console.document import ProcessorEntry
from lsql_runner.errors import LsqlError
from lsql_runner.web.models import Model

FILTERS = ("namespace", "name", "state", "user", "pipeline", "release", "topic", "created", "violations", "q")
"""The parameters of GET /api/v1/streams."""
_TEXT_CHARS = 4_000
_ITEMS = 500
"""At most this many nodes, edges or stores of a response."""


class ConsoleNode(Model):
    id: str
    kind: str
    label: str
    detail: str


class ConsoleTopology(Model):
    """The program as a graph, and its plan; empty until the runner has resolved its topics."""

    nodes: tuple[ConsoleNode, ...]
    edges: tuple[Mapping[str, str], ...]
    plan: str


class ConsoleStore(Model):
    name: str
    key_schema: str
    value_schema: str
    rows: int | None
    bytes: int | None


def matching(entries: Iterable[ProcessorEntry], parameters: Mapping[str, str]) -> list[ProcessorEntry]:
    """The entries that match all parameters; commas separate alternative values of a parameter.

    Raises:
        LsqlError: REQUEST_PARAMETER_UNKNOWN.
    """
    unknown = sorted(set(parameters) - set(FILTERS))
    if unknown:
        raise LsqlError("REQUEST_PARAMETER_UNKNOWN", name=unknown[0][:40], known=", ".join(FILTERS))
    return [entry for entry in entries if all(_matches(entry, name, value) for name, value in parameters.items())]


def _matches(entry: ProcessorEntry, name: str, value: str) -> bool:
    if name == "q":
        return value.casefold() in _searched(entry)
    if name == "topic":
        return any(topic in value.split(",") for topic in (*entry.topics_in, *entry.topics_out))
    if name == "violations":
        return (value.lower() in ("true", "1", "yes")) == bool(entry.violations)
    return str(getattr(entry, name)) in value.split(",")


def _searched(entry: ProcessorEntry) -> str:
    words = (entry.name, entry.namespace, entry.user, entry.pipeline, entry.release, entry.app_id, entry.id)
    return " ".join((*words, *entry.topics_in, *entry.topics_out)).casefold()


def read_topology(body: Any) -> ConsoleTopology:
    """The topology from a runner's /topology. Each value is checked, because a runner may send anything.

    Raises:
        ValueError: the body is not an object.
    """
    if not isinstance(body, Mapping):
        raise ValueError("no topology")
    nodes = tuple(
        ConsoleNode(id=_text(n, "id"), kind=_text(n, "kind"), label=_text(n, "label"), detail=_text(n, "detail"))
        for n in _mappings(body.get("nodes"))
    )
    edges = tuple({"from": _text(e, "from"), "to": _text(e, "to")} for e in _mappings(body.get("edges")))
    return ConsoleTopology(nodes=nodes, edges=edges, plan=str(body.get("plan") or "")[: _TEXT_CHARS * 25])


def read_stores(body: Any) -> list[ConsoleStore]:
    """The stores from a runner's /metadata, checked in the same way."""
    return [
        ConsoleStore(
            name=_text(s, "name"),
            key_schema=_text(s, "keySchema"),
            value_schema=_text(s, "valueSchema"),
            rows=_count(s, "rows"),
            bytes=_count(s, "bytes"),
        )
        for s in _mappings(body)
    ]


def _mappings(value: Any) -> list[Mapping[str, Any]]:
    known = value if isinstance(value, list) else []
    return [item for item in known if isinstance(item, Mapping)][:_ITEMS]


def _text(item: Mapping[str, Any], name: str) -> str:
    return str(item.get(name) or "")[:_TEXT_CHARS]


def _count(item: Mapping[str, Any], name: str) -> int | None:
    value = item.get(name)
    return value if isinstance(value, int) else None
