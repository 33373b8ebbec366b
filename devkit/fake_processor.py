"""A processor without Kafka and Spark, for tests of the API, the metrics and the page.

Its Status is computed from events, as in production. Its clock moves only when a test advances it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from random import Random
from typing import Literal

from devkit.fake_engine import MEMORY
from devkit.fake_program import DESCRIPTION, SQL, TOPICS, WARNING
from lsql_runner.container.budget import budget
from lsql_runner.engine.port import StoredRows, StoreRead
from lsql_runner.errors import LsqlError, report
from lsql_runner.events.leadership import LeadershipChanged, LeadershipView
from lsql_runner.events.processor import (
    BatchEnded,
    BlueGreenChanged,
    BrokerLost,
    Event,
    JvmGone,
    LagMeasured,
    LateRecordsDropped,
    Listener,
    MemoryMeasured,
    Partition,
    ProgramPlanned,
    QueryDied,
    QueryUse,
    StateChanged,
    StoreReport,
    VolumeMeasured,
)
from lsql_runner.events.state import State
from lsql_runner.plan.state_changes import STATE_CHANGES
from lsql_runner.plan.verdict import InsertVerdict, Verdict
from lsql_runner.runtime.port import Action, Identity, ProgramDescription
from lsql_runner.start.changed_program import ProgramVerdict
from lsql_runner.state.snapshots import Snapshot
from lsql_runner.status.current import CurrentStatus
from lsql_runner.status.health import Health, assess
from lsql_runner.status.last_hour import LastHour, Sample
from lsql_runner.status.lifecycle import Cause, move
from lsql_runner.status.model import Status

BEGIN_MS = 1_795_252_980_000
"""The initial time of the fake clock: 2026-11-21T09:23:00Z."""

QUERY = "fast-vehicles"
SOURCE = "vehicle-positions"
PARTITIONS = tuple(Partition(SOURCE, number) for number in range(6))
STUCK_AFTER_MS = 60_000


class FakeSnapshots:
    """`taken` has the snapshots; `requests` are those of the processor."""

    def __init__(self, requests: list[tuple[str, str]]) -> None:
        self.taken: dict[str, Snapshot] = {}
        self._requests = requests

    def all(self) -> list[Snapshot]:
        return list(self.taken.values())

    def take(self, name: str, by: str) -> Snapshot:
        self._requests.append((f"snapshot {name}", by))
        if name in self.taken:
            raise LsqlError("SNAPSHOT_EXISTS", name=name)
        self.taken[name] = Snapshot(
            name=name,
            at_ms=BEGIN_MS,
            app_id="fast-vehicles",
            version="0.1.0",
            location="/state/1",
            batches={QUERY: 7},
            positions={PARTITIONS[0]: 100},
            size_bytes=4096,
        )
        return self.taken[name]

    def restore(self, name: str, by: str) -> Snapshot:
        self._requests.append((f"restore {name}", by))
        if name not in self.taken:
            raise LsqlError("SNAPSHOT_MISSING", name=name, path="/state")
        return self.taken[name]

    def clone(self, name: str, app_id: str, by: str) -> Snapshot:
        self._requests.append((f"clone {name} {app_id}", by))
        if name not in self.taken:
            raise LsqlError("SNAPSHOT_MISSING", name=name, path="/state")
        return self.taken[name]

    def prune(self, keep: int, by: str) -> list[Snapshot]:
        self._requests.append((f"prune {keep}", by))
        return [self.taken.pop(name) for name in list(self.taken)[: -keep or None]]


class FakeProcessor:
    """Begins in STARTING without a plan; a scenario continues from there.

    `requests` has the action and the user of each request, `refused` also the code, of each that the API refused. A
    stop or start only begins a transition; `end_transition` ends it, as the supervisor thread does a moment later.
    `stored` is the answer of the next reads of a store, the last one also of later ones; `queries` has the store and
    the user of each that the audit log gets. `secret` is what processes of the same state directory share.
    """

    def __init__(self, listeners: Sequence[Listener] = ()) -> None:
        self.now_ms = BEGIN_MS
        self.requests: list[tuple[str, str]] = []
        self.refused: list[tuple[str, str, str]] = []
        self.secret = ""
        self.stored: list[StoredRows | LsqlError | None] = [None]
        self.reads: list[StoreRead] = []
        self.saved: list[str] = []
        self.queries: list[tuple[str, str]] = []
        self.snapshots = FakeSnapshots(self.requests)
        self.listeners = list(listeners)
        self.identity = Identity(
            app_id="fast-vehicles",
            sql=SQL,
            user="ada",
            version="0.1.0",
            guarantee="at_least_once",
            started_at_ms=BEGIN_MS,
            memory=budget(768),
        )
        self.description = ProgramDescription()
        self._current = CurrentStatus(Status(since_ms=BEGIN_MS))
        self._last_hour = LastHour(BEGIN_MS)
        self._batches = 0

    def status(self) -> Status:
        return self._current.status

    def health(self) -> Health:
        return assess(self.status(), self.now_ms, STUCK_AFTER_MS)

    def last_hour(self, now_ms: int) -> tuple[Sample, ...]:
        return self._last_hour.samples(now_ms)

    def stop(self, by: str) -> None:
        self._request("stop", by, Cause.STOP)

    def start(self, by: str) -> None:
        self._request("start", by, Cause.START)

    def switch(self, by: str) -> None:
        self._request("switch", by, Cause.SWITCH)
        self.plan()

    def verdict(self, sql: str) -> ProgramVerdict:
        if not sql.startswith("INSERT"):
            return ProgramVerdict(error=report(LsqlError("SQL_EMPTY"), sql))
        change = STATE_CHANGES("FILTER", target="fast")
        return ProgramVerdict(
            inserts=(InsertVerdict("fast", Verdict.KEEPS_FROM_HERE_ON, True, (change,)),), state_partitions=2
        )

    def shared_secret(self) -> str:
        return self.secret

    def read_store(self, read: StoreRead) -> StoredRows | None:
        self.reads.append(read)
        stored = self.stored.pop(0) if len(self.stored) > 1 else self.stored[0]
        if isinstance(stored, LsqlError):
            raise stored
        return stored

    def save_soon(self, store: str) -> None:
        self.saved.append(store)

    def audit_query(self, store: str, user: str) -> None:
        self.queries.append((store, user))

    def audit_refusal(self, action: Action | Literal["query"], user: str, error: LsqlError) -> None:
        self.refused.append((action, user, error.code))

    def emit(self, event: Event) -> None:
        """Pass an event to the Status and to all listeners."""
        self._current.update(event)
        self._last_hour.add(event, self.status())
        for listener in self.listeners:
            listener(event)

    def transition(self, cause: Cause, error: LsqlError | None = None) -> None:
        """Change the state, with a reason if an error is given."""
        old = self.status().state
        new = move(old, cause)
        if new is not old:
            self.emit(StateChanged(self.now_ms, old, new, report(error, SQL) if error else None))

    def end_transition(self) -> None:
        """End the transition that a stop or a start has begun."""
        state = self.status().state
        if state is State.STOPPING:
            self.transition(Cause.HALTED)
        elif state is State.STARTING:
            self.transition(Cause.RUN)

    def advance_s(self, seconds: float) -> None:
        self.now_ms += round(seconds * 1000)

    def plan(self, queries: tuple[QueryUse, ...] = (QueryUse(QUERY, "batches", "a join"),)) -> None:
        """Mark the program as planned: from now on topics, stores and topology are known."""
        self.description = DESCRIPTION
        stores = tuple(store.name for store in DESCRIPTION.stores)
        self.emit(
            ProgramPlanned(
                at_ms=self.now_ms,
                topics=TOPICS,
                stores=stores,
                generation=3,
                stateful=True,
                warnings=(WARNING,),
                queries=queries,
            ),
        )

    def batch(self, seconds: float = 2.0) -> None:
        """Run a micro-batch after `seconds`. The load varies, with one burst, so that the curves of the page have a
        shape.
        """
        self.advance_s(seconds)
        step = self._batches
        burst = math.exp(-(((step - 96) / 7) ** 2))
        rng = Random(step)
        load = 1 + 0.1 * math.sin(step / 17) + 0.55 * burst + rng.uniform(-0.06, 0.06)
        records = round(4_180 * seconds * load)
        duration_ms = round(190 + 60 * load**2 + rng.expovariate(1 / 18))
        lag = round(140 + 2_600 * burst**2 + rng.expovariate(1 / 90))
        before = self.status().reached
        share = {p: (records + 37 * p.partition) // len(PARTITIONS) for p in PARTITIONS}
        positions = {p: before.get(p, 48_120_004 + 1_711 * p.partition) + share[p] for p in PARTITIONS}
        newest_ms = self.now_ms - 340
        self.emit(
            BatchEnded(
                at_ms=self.now_ms,
                query=QUERY,
                batch_id=10_411 + step,
                records_in=records,
                records_out=records // 29,
                duration_ms=duration_ms,
                phases_ms={
                    "latestOffset": 9,
                    "queryPlanning": 31,
                    "addBatch": duration_ms - 62,
                    "walCommit": 12,
                    "commitOffsets": 10,
                },
                positions=positions,
                stores=(
                    StoreReport(
                        name="fast-vehicles-window",
                        rows=18_204 + 3 * step,
                        memory_bytes=9_871_360 + 640 * step,
                        rows_updated=311,
                        late_rows_dropped=0,
                    ),
                    StoreReport(
                        name="vehicles-latest", rows=2_412, memory_bytes=1_204_224, rows_updated=2, late_rows_dropped=0
                    ),
                ),
                watermark_ms=newest_ms - 10_000,
                event_time_max_ms=newest_ms,
            )
        )
        self.emit(LagMeasured(self.now_ms, {p: positions[p] + lag * (p.partition + 2) // 27 for p in PARTITIONS}))
        self._batches += 1

    def measure_memory(self) -> None:
        self.emit(MemoryMeasured(self.now_ms, MEMORY, python_bytes=112 << 20, kernel_bytes=9 << 20))
        self.emit(VolumeMeasured(self.now_ms, size_bytes=1 << 30, free_bytes=900 << 20))

    def _request(self, action: str, by: str, cause: Cause) -> None:
        self.requests.append((action, by))
        self.transition(cause)


def starting() -> FakeProcessor:
    return FakeProcessor()


def running() -> FakeProcessor:
    """Has a plan and has run a few batches."""
    processor = FakeProcessor()
    processor.advance_s(4)
    processor.plan()
    processor.transition(Cause.RUN)
    processor.advance_s(3 * 3600 + 12 * 60)
    for _ in range(3):
        processor.batch()
    processor.measure_memory()
    processor.emit(LateRecordsDropped(processor.now_ms, QUERY, 41))
    return processor


def changing() -> FakeProcessor:
    """A changed INSERT can take over from the earlier one."""
    processor = running()
    queries = (
        QueryUse("green", "batches", rebuild_ends={Partition(SOURCE, 0): 0}, blue=QUERY),
        QueryUse(QUERY, "batches"),
    )
    processor.plan(queries)
    store = replace(DESCRIPTION.stores[-1], name="green-aggregate", query="green")
    processor.description = replace(DESCRIPTION, stores=(*DESCRIPTION.stores, store))
    processor.emit(BlueGreenChanged(processor.now_ms, "ready"))
    return processor


def waiting() -> FakeProcessor:
    """The source topic is empty and has no schema."""
    processor = FakeProcessor()
    processor.advance_s(4)
    processor.transition(Cause.WAIT, LsqlError("TOPIC_EMPTY", topic=SOURCE))
    return processor


def restarting() -> FakeProcessor:
    """A query failed and will be restarted."""
    processor = running()
    error = LsqlError("QUERY_FAILED", reason="the state store could not be committed: No space left on device")
    processor.emit(QueryDied(processor.now_ms, report(error), retry_in_s=30.0))
    processor.transition(Cause.FAILED_TEMPORARILY, error)
    return processor


def failed() -> FakeProcessor:
    """A record cannot be read, and the program has no error policy for it."""
    processor = running()
    error = LsqlError(
        "RECORD_MALFORMED",
        topic=SOURCE,
        partition=2,
        offset=48_130_771,
        part="value",
        format="JSON",
        reason="unexpected character '<' at byte 0",
    )
    processor.emit(QueryDied(processor.now_ms, report(error), retry_in_s=None))
    processor.transition(Cause.FAILED_PERMANENTLY, error)
    return processor


def stopped() -> FakeProcessor:
    processor = running()
    processor.stop("ada")
    processor.end_transition()
    processor.requests.clear()
    return processor


def broker_lost() -> FakeProcessor:
    """The processor runs, but no broker responds."""
    processor = running()
    error = LsqlError("BROKER_UNREACHABLE", servers="kafka-0:9092,kafka-1:9092", reason="connection refused")
    processor.emit(BrokerLost(processor.now_ms, report(error)))
    return processor


def jvm_gone() -> FakeProcessor:
    processor = running()
    processor.emit(JvmGone(processor.now_ms, report(LsqlError("JVM_GONE", reason="killed by signal 9"))))
    return processor


def standby() -> FakeProcessor:
    """Another process leads."""
    processor = FakeProcessor()
    view = LeadershipView(leads=False, holder="pod-1_7f", address="127.0.0.1:1", term=3)
    processor.emit(LeadershipChanged(processor.now_ms, view))
    processor.transition(Cause.STAND_BY)
    return processor


SCENARIOS: dict[str, Callable[[], FakeProcessor]] = {
    scenario.__name__.replace("_", "-"): scenario
    for scenario in (starting, running, changing, waiting, restarting, failed, stopped, broker_lost, jvm_gone, standby)
}
