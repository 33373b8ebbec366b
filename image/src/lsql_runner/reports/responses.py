"""The other responses of a processor's API."""

from __future__ import annotations

from pydantic import AwareDatetime, Field

from lsql_runner.events.state import State
from lsql_runner.reports.model import Count, Model


class StateStore(Model):
    """A state store of the program."""

    name: str
    query: str
    key_schema: str
    value_schema: str
    rows: Count | None = Field(description="At the end of the last batch; null before the first.")
    bytes: Count | None = Field(description="Memory at the end of the last batch; null before the first.")


class HistorySample(Model):
    """What the processor did in one interval."""

    at: AwareDatetime = Field(description="End of the interval.")
    records_in_per_second: float = Field(ge=0)
    records_out_per_second: float = Field(ge=0)
    lag: Count | None = Field(description="The last measurement in the interval; null if there was none.")
    batch_ms: float | None = Field(description="Mean duration of the batches that ended in it; null if there was none.")


class HistoryReport(Model):
    """The last hour of the processor, or the time since its process began."""

    at: AwareDatetime = Field(description="Time of this response, by the processor's clock.")
    interval_seconds: float = Field(gt=0)
    samples: list[HistorySample] = Field(description="Oldest first; without the interval that has not ended.")


class StateReport(Model):
    """The state at the time when a request was accepted; GET /stream shows later states."""

    state: State


class TopologyNode(Model):
    id: str
    kind: str = Field(description="topic, sink, filter, unnest, aggregate, join or project.")
    label: str
    detail: str


class TopologyEdge(Model):
    from_: str = Field(alias="from")
    to: str


class Topology(Model):
    """The program as a graph, and its plan as `lsql explain` prints it. Empty until topics are known."""

    nodes: list[TopologyNode]
    edges: list[TopologyEdge]
    plan: str
