"""Measures the lag and commits the position of the consumer group while the queries run."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from threading import Condition, Thread
from typing import Protocol

from lsql_runner.config.settings import Settings
from lsql_runner.errors import LsqlError, report
from lsql_runner.events.batches import Partition
from lsql_runner.events.processor import BrokerFound, BrokerLost, LagMeasured, WarningRaised
from lsql_runner.kafka.ports import GroupPositions, TopicReader
from lsql_runner.runtime.timer import Timer
from lsql_runner.state.group_claims import RENEWED_MS, Claim, GroupClaims, metadata_of
from lsql_runner.state.topic_ids import check_unchanged
from lsql_runner.status.state_machine import StateMachine

_JOIN_S = 30.0
_CHECK_MS = 5_000
"""The time between two checks of the source topics."""


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
    """Commits positions, measures the lag, and checks the source topics. Errors of the brokers become events.

    Attributes:
        deleted: TOPIC_DELETED, when a source topic was deleted or created again.
        conflict: APP_ID_IN_USE, when a processor with other state runs that has begun before this one.
    """

    def __init__(
        self,
        settings: Settings,
        brokers: PositionBrokers,
        machine: StateMachine,
        now_ms: Callable[[], int],
        *,
        topic_ids: Mapping[str, str],
        claims: GroupClaims,
    ) -> None:
        self._brokers = brokers
        self._now_ms = now_ms
        self._machine = machine
        self._group = settings.app_id
        self._period_ms = settings.metric_frequency_ms
        self._topic_ids = topic_ids
        self._claims = claims
        self._next_claim = Timer()
        self._next = Timer()
        self._next_check = Timer()
        self._lost = False
        self._sent: Mapping[Partition, int] = {}
        self._next_commit = Timer()
        self._group_in_use = False
        self.deleted: LsqlError | None = None
        self.conflict: LsqlError | None = None

    def due_in_s(self) -> float:
        """Seconds until the next measurement or check."""
        now_ms = self._now_ms()
        return min(timer.remaining_ms(now_ms) for timer in (self._next, self._next_check, self._next_claim)) / 1000

    def report(self, *, measure: bool = True) -> None:
        """Commit the position if it is new; measure the lag and check the topics if they are due."""
        renews = self._next_claim.is_due(self._now_ms())
        if renews:
            self._next_claim.start(self._now_ms(), RENEWED_MS)
        try:
            if measure and self._next_check.is_due(self._now_ms()):
                self._next_check.start(self._now_ms(), _CHECK_MS)
                self.check_topics()
            if self.deleted is not None:
                return  # the positions are those of another topic
            if not measure or self._next_commit.is_due(self._now_ms()):
                self._commit(renews=renews, is_last=not measure)
            if measure and self._next.is_due(self._now_ms()):
                self._schedule()
                ends = self._brokers.ends(self._machine.status.committed)
                self._machine.emit(LagMeasured(self._now_ms(), ends))
            if self._lost:
                self._lost = False
                self._machine.emit(BrokerFound(self._now_ms()))
        except LsqlError as error:
            with suppress(LsqlError):  # a request about a topic that does not exist fails, too
                self.check_topics()
            if self.deleted is None:
                self._lost = True
                self._machine.emit(BrokerLost(self._now_ms(), report(error)))
            self._schedule()

    def check_topics(self) -> None:
        """Check the source topics; sets `deleted`.

        Raises:
            LsqlError: BROKER_UNREACHABLE, BROKER_REFUSED.
        """
        try:
            check_unchanged(self._topic_ids, self._brokers)
        except LsqlError as error:
            if error.code != "TOPIC_DELETED":
                raise
            self.deleted = error

    def _schedule(self) -> None:
        self._next.start(self._now_ms(), self._period_ms)

    def _commit(self, *, renews: bool, is_last: bool) -> None:
        """Commit new positions; to renew the claim, also one that is not new. The last commit has no claim."""
        positions = dict(self._machine.status.committed)
        if not positions or self.conflict is not None:
            return
        if is_last:
            self._send(positions, None)
            return
        first = min(positions, key=lambda place: (place.topic, place.partition))
        if renews:
            try:
                self._claims.check_running([first])
            except LsqlError as error:
                if error.code != "APP_ID_IN_USE":
                    raise
                self.conflict = error
                return
        if positions != self._sent:
            if self._send(positions, self._claims.own()):
                self._sent = positions
        elif renews:
            self._send({first: positions[first]}, self._claims.own())

    def _send(self, positions: Mapping[Partition, int], claim: Claim | None) -> bool:
        """Commit positions. False if the group has another consumer: the checkpoint has the positions, too, so the
        processor goes on, and tries again."""
        topics = {place.topic for place in positions}
        metadata = {topic: metadata_of(self._topic_ids.get(topic, ""), claim) for topic in topics}
        try:
            self._brokers.commit(self._group, positions, metadata)
        except LsqlError as error:
            if error.code != "GROUP_IN_USE":
                raise
            self._next_commit.start(self._now_ms(), _CHECK_MS)
            if not self._group_in_use:
                self._group_in_use = True
                text = f"{error.code}: {error.message} {error.way_out}"
                self._machine.emit(WarningRaised(self._now_ms(), text))
            return False
        self._group_in_use = False
        return True
