"""Responses of the API from the status of a processor: pure functions, no Flask."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict
from datetime import UTC, datetime

from lsql_runner.api.access import ApiAccess
from lsql_runner.errors import LsqlError
from lsql_runner.events.leadership import LeadershipView
from lsql_runner.events.state import State
from lsql_runner.plan.verdict import Verdict
from lsql_runner.reports.responses import (
    ComparisonReport,
    HistoryReport,
    HistorySample,
    InsertReport,
    SnapshotReport,
    StateReport,
    StateStore,
    Topology,
    VerdictReport,
)
from lsql_runner.reports.stream import (
    Batch,
    DatedError,
    Error,
    FailedRecords,
    HealthReport,
    Memory,
    Offsets,
    ProcessorRates,
    QueryReport,
    ScalingReport,
    StandbyReport,
    StreamReport,
)
from lsql_runner.runtime.comparison import StateComparison, compare
from lsql_runner.runtime.port import Identity, Processor
from lsql_runner.state.offset_log import by_topic
from lsql_runner.state.snapshots import Snapshot
from lsql_runner.status.health import Health, Reason
from lsql_runner.status.last_hour import INTERVAL_MS
from lsql_runner.status.memory_parts import memory_parts, private_total_bytes
from lsql_runner.status.model import Status


def stream(processor: Processor, access: ApiAccess, now_ms: int) -> StreamReport:
    """GET /stream."""
    identity, status = processor.identity, processor.status()
    return StreamReport.model_validate(
        {
            "at": moment(now_ms),
            "app_id": identity.app_id,
            "version": identity.version,
            "sql": identity.sql,
            "runners": identity.runners,
            "consumer_group_id": identity.app_id,
            "username": identity.user,
            "delivery_guarantee": identity.guarantee,
            "started_at": moment(identity.started_at_ms),
            "state": status.state,
            "actions": access.actions,
            "reads": access.queries,
            "since": moment(status.since_ms),
            "reason": status.reason,
            "health": _health(status, processor.health()),
            "last_error": _last_error(status),
            "warnings": status.warnings,
            "restarts": status.restarts,
            "next_restart_at": _moment_or_none(status.restart_at_ms),
            "generation": status.generation,
            "stateful": status.stateful,
            "continuous": status.continuous,
            "topics": status.topics,
            "sinks": status.sinks,
            "queries": _queries(status),
            "blue_green": status.blue_green,
            "offsets": _offsets(status),
            "lag": status.lag,
            "records_in": status.records_in,
            "records_out": status.records_out,
            "rates": ProcessorRates(
                records_in_per_second=status.records_in_per_s, records_out_per_second=status.records_out_per_s
            ),
            "batches": status.batches,
            "last_batch": _batch(status),
            "watermark": _moment_or_none(min(status.watermarks_ms.values(), default=None)),
            "late_records_dropped": status.late_records_dropped,
            "future_records": status.future_records,
            "dead_letters": status.dead_letters,
            "skipped_records": status.skipped_records,
            "failed_records": [
                FailedRecords(action=action, topic=topic, code=code, records=records)
                for (action, topic, code), records in sorted(status.failed_records.items())
            ],
            "memory": _memory(identity, status),
            "workers": status.workers,
            "scaling": _scaling(status),
            "standby": None if status.leadership is None else _standby(status.leadership),
        }
    )


def history(processor: Processor, now_ms: int) -> HistoryReport:
    """GET /history."""
    return HistoryReport(
        at=moment(now_ms),
        interval_seconds=INTERVAL_MS / 1000,
        samples=[
            HistorySample(
                at=moment(sample.at_ms),
                records_in_per_second=sample.records_in_per_s,
                records_out_per_second=sample.records_out_per_s,
                lag=sample.lag,
                batch_ms=sample.batch_ms,
            )
            for sample in processor.last_hour(now_ms)
        ],
    )


def health(processor: Processor) -> HealthReport:
    """GET /health."""
    return _health(processor.status(), processor.health())


def live(processor: Processor) -> HealthReport:
    """GET /health/live: fails only if a new process is needed, because the JVM or this process has ended."""
    status = processor.status()
    reasons = tuple(r for r in processor.health().reasons if r.code == "jvm-gone")
    if status.state is State.ENDED:
        reasons += (Reason("ended", "the process is ending"),)
    return _health(status, Health(reasons))


def ready(processor: Processor) -> HealthReport:
    """GET /health/ready: healthy, and started."""
    status = processor.status()
    reasons = processor.health().reasons
    if status.state in (State.STARTING, State.ENDED):
        reasons += (Reason(status.state, f"the processor is {status.state}"),)
    return _health(status, Health(reasons))


def startup(processor: Processor) -> HealthReport:
    """GET /health/startup: fails until the processor has started once; later restarts do not count."""
    status = processor.status()
    begun = status.state is not State.STARTING or status.restarts > 0 or status.batches > 0
    return _health(status, Health(() if begun else (Reason("starting", "the processor is starting"),)))


def stores(processor: Processor) -> list[StateStore]:
    """GET /metadata."""
    reports = processor.status().stores
    stores = []
    for info in processor.description.stores:
        seen = reports.get(info.query, {}).get(info.name)
        stores.append(
            StateStore(
                name=info.name,
                query=info.query,
                key_schema=info.key_type,
                value_schema=info.value_type,
                rows=seen.rows if seen else None,
                bytes=seen.memory_bytes if seen else None,
            )
        )
    return stores


def _queries(status: Status) -> list[QueryReport]:
    left = status.records_to_rebuild
    return [
        QueryReport(
            name=query.name,
            mode=query.mode,
            only_in_batches=query.only_in_batches,
            records_to_rebuild=left.get(query.name, 0),
            blue=query.blue,
        )
        for query in status.queries
    ]


def comparison(processor: Processor) -> list[ComparisonReport]:
    """GET /comparison.

    Raises:
        LsqlError: NOTHING_TO_COMPARE, STORE_NOT_QUERYABLE, STORE_NOT_LOADED.
    """
    stores: dict[str, list[str]] = {}
    for info in processor.description.stores:
        stores.setdefault(info.query, []).append(info.name)
    pairs = [(query.blue, query.name) for query in processor.status().queries if query.blue is not None]
    if not pairs:
        raise LsqlError("NOTHING_TO_COMPARE")
    return [
        ComparisonReport(
            blue=blue, green=green, **asdict(_compared(processor, zip(stores[blue], stores[green], strict=False)))
        )
        for blue, green in pairs
    ]


def _compared(processor: Processor, pairs: Iterable[tuple[str, str]]) -> StateComparison:
    """The comparison of the first stores that can be read, from the targets down: that of HAVING cannot."""
    refusal: LsqlError | None = None
    for old, new in pairs:
        try:
            return compare(old, new, processor.read_store)
        except LsqlError as error:
            if error.code != "STORE_NOT_QUERYABLE":
                raise
            refusal = error
    assert refusal is not None
    raise refusal


def topology(processor: Processor) -> Topology:
    """GET /topology."""
    description = processor.description
    return Topology.model_validate({**description.topology, "plan": description.plan})


def verdict(processor: Processor, sql: str) -> VerdictReport:
    """POST /verdict."""
    found = processor.verdict(sql)
    costs = {each.target: each for each in found.rebuilds}
    inserts = [
        InsertReport.of(each, costs.get(each.target) if each.verdict is Verdict.NEW_GENERATION else None)
        for each in found.inserts
    ]
    error = None if found.error is None else Error(**asdict(found.error))
    return VerdictReport(
        app_id=processor.identity.app_id,
        state_partitions=found.state_partitions,
        inserts=inserts,
        records_per_second=None if found.records_per_s is None else round(found.records_per_s, 1),
        starts=found.starts,
        error=error,
    )


def snapshot(taken: Snapshot) -> SnapshotReport:
    """A snapshot in the responses of /snapshots."""
    return SnapshotReport(
        name=taken.name,
        at=moment(taken.at_ms),
        app_id=taken.app_id,
        version=taken.version,
        batches=dict(taken.batches),
        positions=by_topic(taken.positions),
        size_bytes=taken.size_bytes,
    )


def state(processor: Processor) -> StateReport:
    """The response to a stop or a start."""
    return StateReport(state=processor.status().state)


def moment(at_ms: int) -> datetime:
    """Milliseconds of Unix time as a time in UTC."""
    return datetime.fromtimestamp(at_ms / 1000, UTC)


def _moment_or_none(at_ms: int | None) -> datetime | None:
    return None if at_ms is None else moment(at_ms)


def _health(status: Status, check: Health) -> HealthReport:
    return HealthReport.model_validate(
        {"status": "ok" if check.ok else "failing", "state": status.state, "reasons": check.reasons}
    )


def _last_error(status: Status) -> DatedError | None:
    if status.last_error is None:
        return None
    return DatedError(at=moment(status.last_error_at_ms or 0), **asdict(status.last_error))


def _standby(seen: LeadershipView) -> StandbyReport:
    return StandbyReport.model_validate(
        {
            "role": "leader" if seen.leads else "standby",
            "leader": seen.holder or None,
            "address": seen.address or None,
            "term": seen.term,
            "error": seen.error,
        }
    )


def _offsets(status: Status) -> list[Offsets]:
    positions, lags = status.reached, status.lags
    partitions = sorted(positions.keys() | status.ends.keys(), key=lambda p: (p.topic, p.partition))
    return [
        Offsets(
            topic=p.topic,
            partition=p.partition,
            position=positions.get(p),
            end=status.ends.get(p),
            lag=lags.get(p),
        )
        for p in partitions
    ]


def _memory(identity: Identity, status: Status) -> Memory:
    budget, measured = identity.memory, status.memory
    jvm = None if measured is None else measured.jvm
    parts = () if budget is None else memory_parts(budget, status)
    return Memory.model_validate(
        {
            "measured_at": None if measured is None else moment(measured.at_ms),
            "limit_bytes": budget.limit_mib << 20 if budget and budget.limit_mib else None,
            "private_bytes": private_total_bytes(status),
            "parts": parts,
            "heap_committed_bytes": None if jvm is None else jvm.heap_committed_bytes,
            "metaspace_bytes": None if jvm is None else jvm.metaspace_bytes,
            "direct_buffers_bytes": None if jvm is None else jvm.direct_buffers_bytes,
            "threads": None if jvm is None else jvm.threads,
        }
    )


def _batch(status: Status) -> Batch | None:
    last = status.last_batch
    if last is None:
        return None
    return Batch(
        query=last.query,
        id=last.batch_id,
        ended_at=moment(last.at_ms),
        duration_ms=last.duration_ms,
        records_in=last.records_in,
        records_out=last.records_out,
        phases_ms=last.phases_ms,
    )


def _scaling(status: Status) -> ScalingReport | None:
    decision = status.scaling
    if decision is None:
        return None
    return ScalingReport(
        wanted=decision.wanted,
        current=status.present_workers,
        lag_records=decision.lag_records,
        arriving_per_second=decision.arriving_per_s,
        catch_up_seconds=decision.catch_up_s,
        worker_rate_per_second=decision.worker_rate_per_s,
        dry_run=decision.dry_run,
        minimum=decision.minimum,
        maximum=decision.maximum,
        reason=decision.reason,
    )
