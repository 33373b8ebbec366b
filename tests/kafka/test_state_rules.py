"""A lost state and the state of another program, with the real state of Spark.

All rules are tested on fakes by tests/unit/runtime/test_decision.py and test_control_loop.py.
"""

from __future__ import annotations

import json
import shutil
import uuid
from contextlib import AbstractContextManager, closing
from dataclasses import dataclass
from pathlib import Path

import pytest

from devkit.broker import Broker
from devkit.in_process import InProcess, in_process
from devkit.records import Record
from lsql_runner.engine.processor import SparkEngine
from lsql_runner.engine.repartition import repartition
from lsql_runner.errors import ErrorReport
from lsql_runner.state.directory import StateDir
from lsql_runner.state.repartition import repartition_state

pytestmark = pytest.mark.timeout(180)


@dataclass(frozen=True)
class Count:
    """A count for each user."""

    broker: Broker
    engine: SparkEngine
    source: str
    target: str
    app_id: str
    state_dir: Path

    def run(
        self, select: str = "COUNT(*) AS n", before: str = "", where: str = "", **env: str
    ) -> AbstractContextManager[InProcess]:
        source = f"{self.source} {where}"
        sql = f"{before} INSERT INTO {self.target} SELECT STREAM user, {select} FROM {source} GROUP BY user"
        return in_process(self.engine, self.broker.bootstrap, sql, self.app_id, self.state_dir, **env)

    def feed(self, count: int) -> None:
        self.broker.produce(self.source, [Record(b"a", b'{"user": "a", "speed": 3}')] * count)

    def written(self, name: str = "n") -> list[int | None]:
        return [json.loads(record.value or b"").get(name) for record in self.broker.consume_all(self.target)]


@pytest.fixture
def count(broker: Broker, engine: SparkEngine, tmp_path: Path) -> Count:
    """A count that has read two records and was stopped gracefully."""
    mark = uuid.uuid4().hex[:8]
    made = Count(broker, engine, f"in-{mark}", f"out-{mark}", f"count-{mark}", tmp_path / "state")
    broker.create_topic(made.source)
    broker.create_topic(made.target)
    made.feed(2)
    with made.run() as running:
        running.read_to(2)
    assert made.written() == [2]
    return made


def refusal(run: AbstractContextManager[InProcess]) -> ErrorReport:
    """Why a processor has failed before it ran."""
    with run as running:
        reason = running.status.reason
    assert reason is not None
    return reason


def test_a_lost_state_is_refused_or_rebuilt_from_the_first_record(count: Count) -> None:
    shutil.rmtree(count.state_dir)
    count.feed(1)

    error = refusal(count.run())

    assert (error.code, error.params["group"]) == ("STATE_LOST", count.app_id)
    assert count.written() == [2]
    with count.run(LSQL_STATE_ON_LOSS="rebuild") as running:
        assert running.wait_for(lambda s: s.batches > 0).records_in == 3
    assert count.written() == [2, 3]
    assert [row.current_offset for row in count.broker.consumer_groups_describe(count.app_id)] == [3]


def test_the_state_of_another_program_is_kept_until_it_is_reset(count: Count) -> None:
    assert refusal(count.run("SUM(speed) AS total")).code == "STATE_INCOMPATIBLE"
    count.feed(1)
    with count.run() as running:
        running.read_to(3)
    assert count.written() == [2, 3]
    count.feed(1)

    with count.run("SUM(speed) AS total", LSQL_STATE_ON_CHANGE="reset") as running:
        assert "starts with empty state" in " ".join(running.read_to(4).warnings)

    assert count.written("total") == [None, None, 3]


def test_a_program_with_another_filter_continues_the_state(count: Count) -> None:
    """Spark's own check of stored schemas and operators passes, too."""
    count.feed(1)

    with count.run(where="WHERE speed > 2") as running:
        assert running.read_to(3).generation == 1
    with count.run(where="WHERE speed > 3") as running:
        count.feed(2)
        status = running.read_to(5)

    assert count.written() == [2, 3]
    assert any("different filter" in warning for warning in status.warnings)


def test_an_aggregate_with_another_argument_continues_its_own_values(count: Count) -> None:
    """The state has its aggregates in the order of their arguments in the first program."""
    select = "SUM(speed) AS total, SUM(speed + 1) AS plus"
    with count.run(select, LSQL_STATE_ON_CHANGE="reset") as running:
        count.feed(1)
        running.read_to(3)

    for feed in (1, 1):
        with count.run("SUM(-1 * speed) AS total, SUM(speed + 1) AS plus") as running:
            count.feed(feed)
            running.wait_for(lambda s: s.records_in >= 1)

    assert (count.written("total")[-3:], count.written("plus")[-3:]) == ([3, 0, -3], [4, 8, 12])


def test_state_keeps_its_partitions_when_the_program_does_not_set_them(count: Count, tmp_path: Path) -> None:
    select, key = "SUM(speed) AS total", "SET state.partitions=3;"
    count.feed(1)
    with count.run(select, before=key, LSQL_STATE_ON_CHANGE="reset") as running:
        running.read_to(3)
    count.feed(1)

    with count.run(select) as running:
        running.read_to(4)

    [stateful] = tmp_path.glob("state/*/2/stateful-0")
    assert {path.name for path in (stateful / "state/0").iterdir() if path.name.isdigit()} == {"0", "1", "2"}
    assert count.written("total")[-2:] == [3, 6]
    assert refusal(count.run(select, before="SET state.partitions=4;")).code == "STATE_INCOMPATIBLE"


def test_state_in_other_partitions_continues_at_its_position(count: Count) -> None:
    with closing(StateDir(count.state_dir, count.app_id)) as state:
        repartition_state(state, 3, lambda paths, number: repartition(count.engine.session, paths, number))
    count.feed(1)

    with count.run(LSQL_STATE_PARTITIONS="3") as running:
        status = running.read_to(3)

    assert status.generation == 2
    assert count.written() == [2, 3]


def test_an_insert_in_front_starts_with_empty_state_and_the_other_continues(count: Count) -> None:
    other = f"{count.target}-other"
    count.broker.create_topic(other)
    count.feed(1)

    before = f"INSERT INTO `{other}` SELECT STREAM SUM(speed) AS total FROM {count.source} GROUP BY user;"
    with count.run(before=before) as running:
        status = running.read_to(3)

    assert status.generation == 1
    assert any("is new" in warning for warning in status.warnings)
    assert count.written() == [2, 3]
    assert [json.loads(record.value or b"") for record in count.broker.consume_all(other)] == [{"total": 3}]
