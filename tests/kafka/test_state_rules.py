"""What a state that is gone, or that another program made, does: refused, given up, or made anew, as was asked."""

from __future__ import annotations

import json
import shutil
import uuid
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path

import pytest

from devkit.broker import Broker
from devkit.in_process import InProcess, in_process
from devkit.records import Record
from lsql_runner.engine.processor import SparkEngine
from lsql_runner.errors import LsqlError

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

    def run(self, select: str = "COUNT(*) AS n", **env: str) -> AbstractContextManager[InProcess]:
        sql = f"INSERT INTO {self.target} SELECT STREAM user, {select} FROM {self.source} GROUP BY user"
        return in_process(self.engine, self.broker.bootstrap, sql, self.app_id, self.state_dir, **env)

    def feed(self, count: int) -> None:
        self.broker.produce(self.source, [Record(b"a", b'{"user": "a", "speed": 3}')] * count)

    def written(self, name: str = "n") -> list[int | None]:
        return [json.loads(record.value or b"").get(name) for record in self.broker.consume_all(self.target)]


@pytest.fixture
def count(broker: Broker, engine: SparkEngine, tmp_path: Path) -> Count:
    """A count that has read two records and was ended in order."""
    mark = uuid.uuid4().hex[:8]
    made = Count(broker, engine, f"in-{mark}", f"out-{mark}", f"count-{mark}", tmp_path / "state")
    broker.create_topic(made.source)
    broker.create_topic(made.target)
    made.feed(2)
    with made.run() as running:
        running.read_to(2)
    assert made.written() == [2]
    return made


def refusal(run: AbstractContextManager[InProcess]) -> LsqlError:
    with pytest.raises(LsqlError) as caught, run:
        pass
    return caught.value


def test_a_lost_state_is_refused(count: Count) -> None:
    shutil.rmtree(count.state_dir)

    error = refusal(count.run())

    assert (error.code, error.params["group"]) == ("STATE_LOST", count.app_id)
    assert count.written() == [2]


def test_a_lost_state_begins_empty_at_the_position_when_it_is_to_be_reset(count: Count) -> None:
    shutil.rmtree(count.state_dir)
    count.feed(1)

    with count.run(LSQL_STATE_ON_LOSS="reset") as running:
        assert running.read_to(3).records_in == 1

    assert count.written() == [2, 1]


def test_a_lost_state_is_rebuilt_from_the_first_record(count: Count) -> None:
    shutil.rmtree(count.state_dir)
    count.feed(1)

    with count.run(LSQL_STATE_ON_LOSS="rebuild") as running:
        assert sum(running.status.committed.values()) != 2  # the group's position is not where it begins
        assert running.wait_for(lambda s: s.batches > 0).records_in == 3

    assert count.written() == [2, 3]
    assert [row.current_offset for row in count.broker.consumer_groups_describe(count.app_id)] == [3]


def test_the_state_of_another_program_is_refused_and_stays(count: Count) -> None:
    error = refusal(count.run("SUM(speed) AS total"))

    assert error.code == "STATE_INCOMPATIBLE"
    assert error.params["path"] == str(count.state_dir / count.app_id)
    count.feed(1)
    with count.run() as running:
        running.read_to(3)
    assert count.written() == [2, 3]


def test_the_state_of_another_program_is_given_up_when_it_is_to_be_reset(count: Count) -> None:
    count.feed(1)

    with count.run("SUM(speed) AS total", LSQL_STATE_ON_CHANGE="reset") as running:
        status = running.read_to(3)

    assert (status.records_in, status.generation) == (1, 2)
    assert any("The program changed" in warning for warning in status.warnings)
    assert count.written("total") == [None, 3]
    with count.run("SUM(speed) AS total") as running:  # it is that program's now
        count.feed(1)
        running.read_to(4)
    assert count.written("total") == [None, 3, 6]
