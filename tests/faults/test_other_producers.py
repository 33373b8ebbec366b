"""A target that other producers write to, also in transactions that are open while the processor starts again."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from itertools import cycle
from pathlib import Path

import pytest
from confluent_kafka import Producer

from devkit.background import repeated
from devkit.broker import Broker
from devkit.records import Record
from tests.faults.points import CRASHES, Guarantee
from tests.faults.programs import CONTINUOUS, GROUPS, REAL_TIME, STATELESS, Suite
from tests.faults.scenario import REQUIRED, Scenario
from tests.faults.test_points import kill_at

pytestmark = pytest.mark.timeout(300)

FOREIGN = b"foreign"
AFTER = 30
EVERY_S = 0.05
TIMEOUT_S = 30
OPEN_MS = 300_000


def is_own(record: Record) -> bool:
    return record.key != FOREIGN


@contextmanager
def other_producers(scenario: Scenario) -> Iterator[None]:
    """One producer without transactions, and one with transactions that it commits or aborts in turn."""
    targets = [scenario.topic(program, name) for program in scenario.suite.programs for name in program.targets]
    settings = {"bootstrap.servers": scenario.broker.bootstrap, "log_level": 0}
    plain = Producer(settings)
    transactional = Producer({**settings, "transactional.id": f"foreign-{scenario.mark}"})
    transactional.init_transactions(TIMEOUT_S)
    ends = cycle([transactional.commit_transaction, transactional.abort_transaction])

    def produce() -> None:
        transactional.begin_transaction()
        for target in targets:
            plain.produce(target, b"plain", FOREIGN)
            transactional.produce(target, b"transactional", FOREIGN)
        plain.flush(TIMEOUT_S)
        transactional.flush(TIMEOUT_S)
        next(ends)(TIMEOUT_S)

    with repeated(produce, EVERY_S):
        yield


@pytest.mark.parametrize("suite", [STATELESS, CONTINUOUS, GROUPS, REAL_TIME], ids=lambda suite: suite.name)
def test_results_between_the_records_of_other_producers(broker: Broker, tmp_path: Path, suite: Suite) -> None:
    with Scenario(broker, suite, tmp_path) as scenario:
        with other_producers(scenario):
            kill_at(scenario, CRASHES[suite.mode])
            scenario.feed(AFTER)
            scenario.start()
            scenario.catch_up()

        outcome = scenario.check("with other producers", is_own)
    assert (outcome.total > 0) == (REQUIRED is Guarantee.AT_LEAST_ONCE)


@pytest.mark.parametrize("suite", [STATELESS, CONTINUOUS, GROUPS, REAL_TIME], ids=lambda suite: suite.name)
def test_a_transaction_of_another_producer_is_open_from_the_kill_to_the_replay(
    broker: Broker, tmp_path: Path, suite: Suite
) -> None:
    """A reader of committed records cannot pass it."""
    with Scenario(broker, suite, tmp_path) as scenario:
        other = Producer(
            {
                "bootstrap.servers": broker.bootstrap,
                "log_level": 0,
                "transactional.id": f"open-{scenario.mark}",
                "transaction.timeout.ms": OPEN_MS,  # the broker would abort it after 60 s
            }
        )
        other.init_transactions(TIMEOUT_S)
        other.begin_transaction()
        for program in suite.programs:
            for name, target in program.targets.items():
                for partition in range(target.partitions):
                    other.produce(scenario.topic(program, name), b"open", FOREIGN, partition)
        other.flush(TIMEOUT_S)
        kill_at(scenario, CRASHES[suite.mode])
        scenario.feed(AFTER)
        scenario.start()
        scenario.catch_up()
        other.commit_transaction(TIMEOUT_S)

        outcome = scenario.check("with an open transaction of another producer", is_own)
    assert (outcome.total > 0) == (REQUIRED is Guarantee.AT_LEAST_ONCE)
