"""The other responses of a processor's API."""

from __future__ import annotations

from typing import Self

from pydantic import AwareDatetime, Field, JsonValue

from lsql_runner.config.value_types import APP_ID
from lsql_runner.events.state import State
from lsql_runner.plan.verdict import InsertVerdict, Verdict
from lsql_runner.reports.model import Count, Model
from lsql_runner.reports.stream import Error
from lsql_runner.start.replaced_state import RebuildCost


class StateStore(Model):
    """A state store of the program."""

    name: str
    query: str
    key_schema: str
    value_schema: str
    rows: Count | None = Field(description="At the end of the last batch; null before the first.")
    bytes: Count | None = Field(description="Memory at the end of the last batch; null before the first.")


class StoredWindow(Model):
    start: AwareDatetime
    end: AwareDatetime


class StoredRow(Model):
    """A group in the state."""

    key: JsonValue = Field(description="The value of GROUP BY: an object if there are several.")
    window: StoredWindow | None = Field(description="Null without a window.")
    value: JsonValue = Field(description="As in the target; without HAVING.")
    error: str | None = Field(description="The condition with which the value has failed, such as DIVIDE_BY_ZERO.")


class GroupDifference(Model):
    """A group whose values differ."""

    key: JsonValue
    window: StoredWindow | None
    blue: JsonValue = Field(
        description="The fields that both values have; null if the earlier INSERT has no such group."
    )
    green: JsonValue = Field(description="Null if the changed INSERT has no such group.")


class ComparisonReport(Model):
    """The groups of a changed INSERT and of the earlier one, after the same records."""

    blue: str = Field(description="The query of the earlier INSERT.")
    green: str = Field(description="The query of the changed one.")
    equal: Count
    different: Count
    unclear: Count = Field(
        description="Groups that differ, and could not be read after the same records, or are more than a hundred."
    )
    differences: list[GroupDifference] = Field(description="The first ten.")


class StoreContent(Model):
    """What the state contains."""

    batch: Count = Field(description="The last batch that it contains.")
    positions: dict[str, dict[int, Count]] = Field(
        description="By topic and partition: the offset after the last record that it contains."
    )
    watermark: AwareDatetime | None = Field(
        description="Windows that ended before it, and their grace, are removed; null before the first event time."
    )
    planned_at: AwareDatetime = Field(description="Records that arrived later are not in it.")
    age_ms: Count = Field(description="The time since then.")
    lag: Count | None = Field(
        description="Records that are not in it, as far as the processor knows: it asks for the ends of the topics "
        "every SQL_METRIC_FREQUENCY. A standby does not know them: null."
    )


class StoreRows(Model):
    """Rows of a state store."""

    store: str
    contains: StoreContent
    cursor: str | None = Field(description="The parameter `cursor` of the next page; null after the last row.")
    rows: list[StoredRow]


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


class ProgramRequest(Model):
    """Another program for the processor."""

    sql: str


class SnapshotRequest(Model):
    """A new snapshot."""

    name: str = Field(description="Letters, digits, `.`, `_` and `-`; at most 100.")


class CloneRequest(Model):
    """Another processor that begins with a snapshot."""

    app_id: str = Field(description="Its application id.", pattern=f"^{APP_ID}$")


class SnapshotReport(Model):
    """A snapshot of the state."""

    name: str
    at: AwareDatetime = Field(description="When it was taken.")
    app_id: str
    version: str = Field(description="Of the runner that took it.")
    batches: dict[str, int | None] = Field(description="By query, the last batch that it has; null if none has ended.")
    positions: dict[str, dict[str, int]] = Field(
        description="By topic and partition, the offset after the last record that the snapshot contains."
    )
    size_bytes: Count = Field(description="Of its files. On a volume it shares them with the state.")


class StateChange(Model):
    """How an INSERT differs from the one whose state it could continue."""

    code: str = Field(description="Stable, such as FILTER.")
    text: str


class RebuildReport(Model):
    """What it takes to build state again that cannot be continued."""

    open_windows: Count = Field(
        description="Records to read for the windows that are open; all of them, if they cannot be told apart."
    )
    earliest: Count = Field(description="All records to read.")
    deleted: Count = Field(description="Records that the present state has read, and the topics have deleted.")


class InsertReport(Model):
    """What would happen to an INSERT."""

    target: str
    verdict: Verdict = Field(
        description="keeps (state and position), keeps from here on (the same, with other results from then on), adds, "
        "returns (to the state and position before an earlier change), new generation (the state cannot be continued), "
        "or removes."
    )
    stateful: bool
    changes: list[StateChange]
    rebuild: RebuildReport | None = Field(
        None, description="Of a new generation; null without brokers, and for other verdicts."
    )

    @classmethod
    def of(cls, found: InsertVerdict, cost: RebuildCost | None = None) -> Self:
        changes = [StateChange(code=change.code, text=str(change)) for change in found.changes]
        return cls(
            target=found.target,
            verdict=found.verdict,
            stateful=found.stateful,
            changes=changes,
            rebuild=None
            if cost is None
            else RebuildReport(open_windows=cost.open_windows, earliest=cost.earliest, deleted=cost.deleted),
        )


class VerdictReport(Model):
    """What the processor would do with its state if it were started with another program."""

    app_id: str = Field(description="The application id of the processor, which its state belongs to.")
    state_partitions: Count | None = Field(description="Of the state of each operator; null without state.")
    inserts: list[InsertReport] = Field(description="In the order of the program, then those that it does not have.")
    records_per_second: float | None = Field(
        None,
        description="How fast the processor has read records that were there already, for the time of a rebuild; null "
        "before it has read many at once.",
    )
    starts: bool
    error: Error | None = Field(description="Why the start would be refused.")


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
