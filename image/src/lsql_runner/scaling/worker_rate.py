"""Learns how many records per second one busy worker processes, from the batches of a processor.

batches -> [ WorkerRate.after ] -> WorkerRate.per_second -> policy

Workers that keep up show how many records arrive, not how many they could process: batches without a pause between
them have the rate of arriving records. So only batches with enough work count. The rate is in records of the source
topics, as lag and arriving records are, also if several queries read them.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

WARM_UP_S = 30.0
"""Batches that end earlier after the first one has begun, or after workers have joined, do not count: a JVM compiles
its code in this time."""
KNOWN_S = 10.0
"""The rate is known after batches of so many seconds, so that a pause of a broker alone does not make one."""
HALF_LIFE_S = 120.0
"""After so many seconds of busy batches, those before count half. Idle time does not count."""
_TIMES = 10
"""A batch has enough work if it takes so many times as long as the shortest one, whose time is mostly overhead: at
least nine tenths of its time are work."""
_LEAST_S, _LONG_S = 1.0, 10.0
"""Seconds. A shorter batch never has enough work; a longer one has it, whatever the shortest one was."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MeasuredBatch:
    """A batch of a query.

    Attributes:
        start_s: when it began, in seconds.
        end_s: when it ended.
        records: that it has read.
        position: the sum of the processor's positions after it, in records.
        workers: that ran its tasks.
        left: whether it has left records that were there when it began, because of its largest size.
    """

    start_s: float
    end_s: float
    records: int
    position: int
    workers: int
    left: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkerRate:
    """What is known of the rate of a worker. Each method returns the next state."""

    records: float = 0.0
    worker_s: float = 0.0
    """Records and the time of workers of the batches that count; old ones count less."""
    busy_s: float = 0.0
    """Seconds of all batches that count."""
    position: int | None = None
    """After the last batch, or at the start; None before it."""
    counted_s: float | None = None
    """The end of the last batch that counts."""
    shortest_s: float | None = None
    """Of the batches with records."""
    fastest: float = 0.0
    """The most records/s of a worker in a batch: it could process as many, whether or not it had enough work."""
    since_s: float | None = None
    """When the first batch began, or workers last joined or left."""

    @property
    def per_second(self) -> float | None:
        """Records/s of one busy worker; None while it is not known."""
        return self.records / self.worker_s if self.busy_s >= KNOWN_S else None

    def started(self, position: int) -> WorkerRate:
        """The queries begin at these positions; what is known of the rate stays."""
        return replace(self, position=position, counted_s=None)

    def workers_changed(self, at_s: float) -> WorkerRate:
        """Workers have joined or left."""
        return replace(self, since_s=at_s)

    def after(self, batch: MeasuredBatch) -> WorkerRate:
        """The state after a batch has ended. Batches of several queries may overlap."""
        duration_s = batch.end_s - batch.start_s
        if batch.records <= 0 or duration_s <= 0 or batch.workers < 1:
            return replace(self, position=batch.position)
        before = self.position
        since_s = batch.start_s if self.since_s is None else self.since_s
        after = replace(
            self,
            position=batch.position,
            shortest_s=duration_s if self.shortest_s is None else min(self.shortest_s, duration_s),
            fastest=max(self.fastest, batch.records / duration_s / batch.workers),
            since_s=since_s,
        )
        # Less than the records of the batch: another query is at an earlier position of their topics. More: the
        # position was set.
        records = 0 if before is None else min(batch.records, batch.position - before)
        warm = batch.start_s >= since_s and batch.end_s >= since_s + WARM_UP_S
        # The time that an overlapping batch has counted already, counts once.
        begin_s = batch.start_s if self.counted_s is None else max(batch.start_s, self.counted_s)
        if records <= 0 or not warm or begin_s >= batch.end_s or not self._is_busy(batch):
            return after
        return after._with(records, batch.end_s - begin_s, batch)

    def _is_busy(self, batch: MeasuredBatch) -> bool:
        """Whether a batch tells the rate: it has enough work, or more records/s than the workers were known for."""
        duration_s = batch.end_s - batch.start_s
        rate = self.per_second
        if batch.left or (rate is not None and batch.records > rate * batch.workers * duration_s):
            return True
        shortest_s = duration_s if self.shortest_s is None else self.shortest_s
        long = duration_s >= max(_LEAST_S, min(_TIMES * shortest_s, _LONG_S))
        # A long batch of records that have taken less than a second has waited for something else.
        return long and batch.records >= self.fastest * batch.workers

    def _with(self, records: int, seconds: float, batch: MeasuredBatch) -> WorkerRate:
        kept = 0.5 ** (seconds / HALF_LIFE_S)
        return replace(
            self,
            records=self.records * kept + records,
            worker_s=self.worker_s * kept + seconds * batch.workers,
            busy_s=self.busy_s + seconds,
            counted_s=batch.end_s,
        )
