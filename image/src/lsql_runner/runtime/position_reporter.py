"""Measures the lag and commits the position of the consumer group while the queries run."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from threading import Condition, Thread
from typing import Protocol

from lsql_runner.config.settings import Settings
from lsql_runner.errors import LsqlError, report
from lsql_runner.events.batches import Partition
from lsql_runner.events.processor import BrokerFound, BrokerLost, LagMeasured
from lsql_runner.kafka.ports import GroupPositions, TopicReader
from lsql_runner.runtime.state_machine import StateMachine
from lsql_runner.runtime.timer import Timer

_JOIN_S = 30.0


class Reporting(Protocol):
    """Calls a PositionReporter while a plan runs."""

    def batch_ended(self) -> None:
        """There may be a new position to commit."""

    def close(self) -> None:
        """Commit the last position and end."""


class ReportingThread:
    """Calls a PositionReporter in its own thread: after each batch, and every SQL_METRIC_FREQUENCY."""

    def __init__(self, reporter: PositionReporter) -> None:
        self._reporter = reporter
        self._wake = Condition()
        self._dirty = False
        self._ended = False
        self._thread = Thread(target=self._run, name="position-reporter", daemon=True)
        self._thread.start()

    def batch_ended(self) -> None:
        with self._wake:
            self._dirty = True
            self._wake.notify()

    def close(self) -> None:
        """Commit the last position and end the thread."""
        with self._wake:
            self._ended = True
            self._wake.notify()
        self._thread.join(_JOIN_S)

    def _run(self) -> None:
        ended = False
        while not ended:
            with self._wake:
                if not self._dirty and not self._ended:
                    self._wake.wait(self._reporter.due_in_s())
                self._dirty = False
                ended = self._ended
            self._reporter.report(measure=not ended)


class PositionBrokers(TopicReader, GroupPositions, Protocol):
    """The methods of brokers that a PositionReporter uses."""


class PositionReporter:
    """Commits positions and measures the lag. Errors of the brokers become events."""

    def __init__(
        self, settings: Settings, brokers: PositionBrokers, machine: StateMachine, now_ms: Callable[[], int]
    ) -> None:
        self._brokers = brokers
        self._now_ms = now_ms
        self._machine = machine
        self._group = settings.app_id
        self._period_ms = settings.metric_frequency_ms
        self._next = Timer()
        self._lost = False
        self._sent: Mapping[Partition, int] = {}

    def due_in_s(self) -> float:
        """Seconds until the next measurement."""
        return self._next.remaining_ms(self._now_ms()) / 1000

    def report(self, *, measure: bool = True) -> None:
        """Commit the position if it is new, and measure the lag if it is due."""
        try:
            self._commit()
            if measure and self._next.is_due(self._now_ms()):
                self._schedule()
                ends = self._brokers.ends(self._machine.status.committed)
                self._machine.emit(LagMeasured(self._now_ms(), ends))
            if self._lost:
                self._lost = False
                self._machine.emit(BrokerFound(self._now_ms()))
        except LsqlError as error:
            self._lost = True
            self._machine.emit(BrokerLost(self._now_ms(), report(error)))
            self._schedule()

    def _schedule(self) -> None:
        self._next.start(self._now_ms(), self._period_ms)

    def _commit(self) -> None:
        positions = dict(self._machine.status.committed)
        if positions and positions != self._sent:
            self._brokers.commit(self._group, positions)
            self._sent = positions
