"""Beside the query, on the brokers: measuring the lag, and showing the position to the consumer group."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from threading import Condition, Thread

from lsql_runner.errors import LsqlError, report
from lsql_runner.events.batches import Partition
from lsql_runner.events.processor import BrokerFound, BrokerLost, LagMeasured, Listener
from lsql_runner.kafka.ports import Brokers
from lsql_runner.runtime.clock import now_ms


class BrokerWatch:
    """Measures ends every `period_s` and commits the newest position after each batch, in a thread of its own."""

    def __init__(
        self,
        brokers: Brokers,
        group: str,
        period_s: float,
        emit: Listener,
        committed: Callable[[], Mapping[Partition, int]],
    ) -> None:
        self._brokers = brokers
        self._group = group
        self._period_s = period_s
        self._emit = emit
        self._committed = committed
        self._wake = Condition()
        self._dirty = False
        self._ended = False
        self._lost = False
        self._sent: Mapping[Partition, int] = {}
        self._thread = Thread(target=self._run, name="broker-watch", daemon=True)
        self._thread.start()

    def batch_ended(self) -> None:
        """There may be a new position to commit."""
        with self._wake:
            self._dirty = True
            self._wake.notify()

    def close(self) -> None:
        """Commit what is left and end the thread."""
        with self._wake:
            self._ended = True
            self._wake.notify()
        self._thread.join(30)

    def _run(self) -> None:
        next_measure = 0
        while True:
            with self._wake:
                if not self._dirty and not self._ended:
                    self._wake.wait(max(0.0, (next_measure - now_ms()) / 1000))
                self._dirty = False
                ended = self._ended
            try:
                self._commit()
                if now_ms() >= next_measure and not ended:
                    next_measure = now_ms() + int(self._period_s * 1000)
                    self._measure()
                self._found()
            except LsqlError as error:
                self._lost = True
                self._emit(BrokerLost(now_ms(), report(error)))
                next_measure = now_ms() + int(self._period_s * 1000)
            if ended:
                return

    def _commit(self) -> None:
        positions = dict(self._committed())
        if positions and positions != self._sent:
            self._brokers.commit(self._group, positions)
            self._sent = positions

    def _measure(self) -> None:
        ends = self._brokers.ends(self._committed())
        self._emit(LagMeasured(now_ms(), ends))

    def _found(self) -> None:
        if self._lost:
            self._lost = False
            self._emit(BrokerFound(now_ms()))
