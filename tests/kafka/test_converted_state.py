"""State is converted for other aggregates at a start, on a real broker.

Fakes have no state to convert, and in-memory engines no process that is killed meanwhile.
"""

from __future__ import annotations

from pathlib import Path
from random import Random
from threading import Event

import pytest

from devkit.broker import Broker
from tests.conftest import TopicFactory
from tests.kafka.changed_program import (
    COUNT,
    FINAL,
    MINUTE,
    SUM,
    T0,
    WINDOW,
    WINDOW_SUM,
    ChangedProgram,
    CountingIds,
)
from tests.thorough import inputs

KILLS = 6
"""Of one test."""


def test_an_aggregate_is_added_and_removed_again(program: ChangedProgram) -> None:
    program.add([T0] * 3)
    program.read_all(COUNT)
    program.add([T0])
    [added] = program.read_all(SUM)
    program.add([T0])
    [removed] = program.read_all(COUNT)

    assert program.results() == [{"c": 3}, {"c": 4, "s": 4}, {"c": 5}]
    assert "has new aggregates (SUM(n)). Its state was converted." in added
    assert "does not have all aggregates any more (SUM(n)). Its state was converted." in removed


@pytest.mark.parametrize("mode", ["auto", "batch"])
def test_open_windows_continue(program: ChangedProgram, mode: str) -> None:
    program.add([T0, T0 + MINUTE, T0 + 2 * MINUTE])
    with program.run(f"SET processing.mode={mode}; {FINAL}{WINDOW}") as running:
        running.wait_for(lambda s: s.records_out == 2)

    program.add([T0 + 2 * MINUTE, T0 + 3 * MINUTE + 2_000])
    with program.run(f"SET processing.mode={mode}; {FINAL}{WINDOW_SUM}") as running:
        running.wait_for(lambda s: s.records_out == 1)

    assert program.results() == [{"c": 1}, {"c": 1}, {"c": 2, "s": 4}]


def test_a_state_before_its_first_batch_is_empty(program: ChangedProgram) -> None:
    """Spark has written the schema of the state, and no rows."""
    with program.run(COUNT) as running:
        running.wait_for(lambda s: bool(s.queries))
    program.add([T0] * 2)

    program.read_all(SUM)

    assert program.results() == [{"c": 2, "s": 3}]


@pytest.mark.timeout(600)
@pytest.mark.parametrize("seed", inputs(range(10), (0).__eq__))
def test_no_record_is_lost_or_counted_twice_by_kills_around_conversions(
    broker: Broker, topic: TopicFactory, tmp_path: Path, seed: int
) -> None:
    ids, random, never = CountingIds(broker, topic, tmp_path), Random(seed), Event()
    with ids.traffic:
        with ids.version(0) as runner:
            runner.read_to(1_000)
        for _ in range(KILLS):
            with ids.version(random.randrange(3)) as runner:
                never.wait(random.uniform(1, 8))  # before, in and after the conversion
                runner.crash()
    with ids.version(3):
        ids.check_counts()
