"""Positions are committed if they are new, and the lag is measured when it is due."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pytest

from devkit.fake_runtime import APP_ID, BEGIN_MS, FakeRuntime
from lsql_runner.events.batches import BatchEnded, Partition
from lsql_runner.events.processor import BrokerFound, BrokerLost, Event, LagMeasured, WarningRaised
from lsql_runner.runtime.position_reporter import PositionReporter
from lsql_runner.state.group_claims import RENEWED_MS, GroupClaims, claim_of, metadata_of, topic_id_of
from lsql_runner.status.state_machine import StateMachine

P0 = Partition("t", 0)
FILTER = "INSERT INTO o SELECT STREAM * FROM t"


@dataclass(frozen=True)
class FixedId:
    """The id of a state directory."""

    name: str

    def id(self) -> str:
        return self.name

    new_id = id


class ReporterFixture:
    """A PositionReporter whose position and clock a test sets."""

    def __init__(self, folder: Path) -> None:
        self.runtime = FakeRuntime(folder, FILTER, SQL_METRIC_FREQUENCY="500")
        self.brokers = self.runtime.brokers
        self.brokers.add_topic("t")
        self.brokers.produce("t", *[(b"k", b"v")] * 9)
        self.machine = StateMachine(lambda: self.runtime.now_ms)
        self.events: list[Event] = []
        self.reporter = PositionReporter(
            self.runtime.settings(),
            self.brokers,
            self.machine,
            lambda: self.runtime.now_ms,
            topic_ids=self.brokers.topic_ids(["t"]),
            claims=GroupClaims(APP_ID, self.brokers, FixedId("own"), lambda: self.runtime.now_ms),
        )
        self.machine.listen(self.events.append)

    def move_to(self, offset: int) -> None:
        self.machine.emit(batch_to(offset))
        self.events.clear()

    def kinds(self) -> list[type]:
        return [type(event) for event in self.events]


def batch_to(offset: int) -> BatchEnded:
    return BatchEnded(
        at_ms=BEGIN_MS,
        query="q",
        batch_id=offset,
        records_in=1,
        records_out=1,
        duration_ms=1,
        phases_ms={},
        positions={P0: offset},
    )


@pytest.fixture
def reporting(tmp_path: Path) -> ReporterFixture:
    reporting = ReporterFixture(tmp_path)
    reporting.move_to(3)
    return reporting


def test_a_position_is_committed_and_the_lag_measured(reporting: ReporterFixture) -> None:
    reporting.reporter.report()

    assert reporting.brokers.group_positions(APP_ID, [P0]) == {P0: 3}
    assert reporting.events == [LagMeasured(BEGIN_MS, {P0: 9})]


def test_an_unchanged_position_is_not_committed_again(reporting: ReporterFixture) -> None:
    reporting.reporter.report()
    reporting.brokers.delete_group(APP_ID)

    reporting.reporter.report()
    assert reporting.brokers.group_positions(APP_ID, [P0]) == {}

    reporting.move_to(4)
    reporting.reporter.report()
    assert reporting.brokers.group_positions(APP_ID, [P0]) == {P0: 4}


def test_the_lag_is_measured_once_in_a_period(reporting: ReporterFixture) -> None:
    for later_ms in (0, 499, 1, 100):
        reporting.runtime.now_ms += later_ms
        reporting.reporter.report()

    assert [event.at_ms - BEGIN_MS for event in reporting.events] == [0, 500]
    assert reporting.reporter.due_in_s() == pytest.approx(0.4)


def test_the_lag_is_measured_at_once_when_the_clock_was_set_back(reporting: ReporterFixture) -> None:
    reporting.reporter.report()
    reporting.runtime.now_ms -= 3_600_000
    reporting.reporter.report()

    assert [event.at_ms - BEGIN_MS for event in reporting.events] == [0, -3_600_000]


def test_without_measure_only_the_position_is_committed(reporting: ReporterFixture) -> None:
    reporting.reporter.report(measure=False)

    assert reporting.events == []
    assert reporting.brokers.group_positions(APP_ID, [P0]) == {P0: 3}


def test_each_failed_request_and_the_first_success_after_it_are_events(reporting: ReporterFixture) -> None:
    reporting.brokers.lost()
    reporting.reporter.report()
    reporting.reporter.report()
    reporting.brokers.outage = None
    reporting.reporter.report()
    reporting.reporter.report()

    assert reporting.kinds() == [BrokerLost, BrokerLost, BrokerFound]
    assert reporting.brokers.group_positions(APP_ID, [P0]) == {P0: 3}


def test_a_group_of_other_consumers_is_a_warning_and_tried_again(reporting: ReporterFixture) -> None:
    reporting.brokers.groups_in_use.add(APP_ID)
    for offset in (3, 4, 5):
        reporting.machine.emit(batch_to(offset))
        reporting.reporter.report()

    assert BrokerLost not in reporting.kinds()
    assert LagMeasured in reporting.kinds()
    (warning,) = [event for event in reporting.events if isinstance(event, WarningRaised)]
    assert warning.text.startswith("GROUP_IN_USE: ")

    reporting.brokers.groups_in_use.clear()
    reporting.reporter.report()
    assert reporting.brokers.group_positions(APP_ID, [P0]) == {}
    reporting.runtime.now_ms += 5_000
    reporting.reporter.report()
    assert reporting.brokers.group_positions(APP_ID, [P0]) == {P0: 5}


def test_at_the_end_a_position_is_committed_at_once_to_a_group_that_was_in_use(reporting: ReporterFixture) -> None:
    reporting.brokers.groups_in_use.add(APP_ID)
    reporting.reporter.report()
    reporting.brokers.groups_in_use.clear()

    reporting.reporter.report(measure=False)

    assert reporting.brokers.group_positions(APP_ID, [P0]) == {P0: 3}


def test_after_a_failure_the_next_measurement_is_a_period_later(reporting: ReporterFixture) -> None:
    reporting.brokers.lost()
    reporting.reporter.report()

    assert reporting.reporter.due_in_s() == 0.5


def test_a_request_that_fails_because_a_topic_was_deleted_is_no_failure_of_the_brokers(
    reporting: ReporterFixture,
) -> None:
    reporting.reporter.report()
    reporting.events.clear()
    reporting.brokers.delete_topic("t")

    reporting.runtime.now_ms += 500
    reporting.reporter.report()

    assert reporting.reporter.deleted is not None
    assert reporting.events == []


@pytest.mark.parametrize("is_created_again", [False, True])
def test_a_deleted_topic_is_found_at_the_next_check(reporting: ReporterFixture, is_created_again: bool) -> None:
    reporting.reporter.report()
    reporting.events.clear()
    reporting.brokers.delete_topic("t")
    if is_created_again:
        reporting.brokers.add_topic("t")

    reporting.runtime.now_ms += 5_000
    reporting.reporter.report()

    assert reporting.reporter.deleted is not None
    assert (reporting.reporter.deleted.code, reporting.reporter.deleted.params) == ("TOPIC_DELETED", {"topic": "t"})
    assert reporting.events == []


def test_positions_in_a_deleted_topic_are_not_committed(reporting: ReporterFixture) -> None:
    reporting.brokers.delete_topic("t")
    reporting.reporter.report()

    reporting.move_to(4)
    reporting.reporter.report(measure=False)

    assert reporting.brokers.group_positions(APP_ID, [P0]) == {}


def test_an_idle_processor_renews_its_claim(reporting: ReporterFixture) -> None:
    reporting.reporter.report()
    first = reporting.brokers.group_metadata(APP_ID, [P0])[P0]

    reporting.runtime.now_ms += RENEWED_MS
    reporting.reporter.report()

    assert reporting.brokers.group_metadata(APP_ID, [P0])[P0] != first


def test_each_commit_has_the_id_of_the_topic_and_the_last_one_no_claim(reporting: ReporterFixture) -> None:
    (topic_id,) = reporting.brokers.topic_ids(["t"]).values()
    reporting.reporter.report()
    running = reporting.brokers.group_metadata(APP_ID, [P0])[P0]
    reporting.reporter.report(measure=False)
    ended = reporting.brokers.group_metadata(APP_ID, [P0])[P0]

    assert (topic_id_of(running), topic_id_of(ended)) == (topic_id, topic_id)
    assert (claim_of(running) is not None, claim_of(ended)) == (True, None)


@pytest.mark.parametrize(("began_ms", "yields"), [(-1, True), (1, False)])
def test_the_processor_that_began_later_yields(reporting: ReporterFixture, began_ms: int, yields: bool) -> None:
    now = reporting.runtime.now_ms + began_ms
    other = GroupClaims(APP_ID, reporting.brokers, FixedId("other"), lambda: now)
    reporting.brokers.commit(APP_ID, {P0: 7}, {"t": metadata_of("", other.own())})

    reporting.reporter.report()

    assert (None if reporting.reporter.conflict is None else reporting.reporter.conflict.code) == (
        "APP_ID_IN_USE" if yields else None
    )
    assert reporting.brokers.group_positions(APP_ID, [P0]) == {P0: 7 if yields else 3}
