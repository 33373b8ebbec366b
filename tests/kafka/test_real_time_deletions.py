"""Queries in real time that delete results: after a kill, the batch does not have each result of the open batch.

Only a broker has the results of a killed process. tests/faults kills at each point; here, the records before and after
the kill are chosen.
"""

import json
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from devkit.broker import Broker
from devkit.records import Record
from devkit.runner import Runner
from devkit.waiting import wait_for_equal
from tests.conftest import TopicFactory
from tests.kafka.load_of_workers import with_workers
from tests.thorough import inputs

pytestmark = pytest.mark.timeout(600)

Written = tuple[str, str, int, dict[str, Any] | None]
"""A record: the name of its topic, its key, milliseconds since `BEGIN_MS`, and its value."""


class Retraction(NamedTuple):
    """Records of a batch that a killed process had open: after all of them, a result before the kill does not exist."""

    sql: str
    first: tuple[Written, ...]
    """Before the open batch."""
    opened: tuple[Written, ...]
    """Which the killed process has read."""
    seen: dict[str, dict[str, Any]]
    """The rows at the kill, by key."""
    after: tuple[Written, ...]
    """Which it has not read."""
    last: dict[str, dict[str, Any]]
    """The rows in the end."""
    second: tuple[Written, ...] = ()
    """Between the first and the opened ones, in a batch of their own."""
    never: frozenset[str] = frozenset()
    """Keys that no record has: their rows exist only within the batch after the kill."""
    edited: str = ""
    """The program after the kill, if it is another one."""


BEGIN_MS = 1_700_000_000_000

RETRACTIONS = {
    "having": Retraction(
        "INSERT INTO {out} SELECT STREAM user, COUNT(*) AS n FROM {a} GROUP BY user HAVING COUNT(*) < 3",
        (("a", "x", 0, {"user": "x"}),),
        (("a", "y", 0, {"user": "y"}), ("a", "x", 0, {"user": "x"})),
        {"x": {"user": "x", "n": 2}, "y": {"user": "y", "n": 1}},
        (("a", "y", 0, {"user": "y"}), ("a", "y", 0, {"user": "y"})),
        {"x": {"user": "x", "n": 2}},
    ),
    "having-before": Retraction(  # the result is that of before the batch again
        "INSERT INTO {out} SELECT STREAM user, LAST(price) AS n FROM {a} GROUP BY user HAVING LAST(price) > 0",
        (("a", "x", 0, {"user": "x", "price": 5}),),
        (("a", "x", 1, {"user": "x", "price": 6}),),
        {"x": {"user": "x", "n": 6}},
        (("a", "x", 2, {"user": "x", "price": 5}),),
        {"x": {"user": "x", "n": 5}},
    ),
    "having-edited": Retraction(  # the batch has no result of `x`, whose row stays
        "INSERT INTO {out} SELECT STREAM user, COUNT(*) AS n FROM {a} GROUP BY user HAVING COUNT(*) < 9",
        (("a", "x", 0, {"user": "x"}),),
        (("a", "x", 0, {"user": "x"}),),
        {"x": {"user": "x", "n": 2}},
        (("a", "y", 0, {"user": "y"}),),
        {"x": {"user": "x", "n": 2}, "y": {"user": "y", "n": 1}},
        edited="INSERT INTO {out} SELECT STREAM user, COUNT(*) AS n FROM {a} WHERE COALESCE(user, '') = 'y' "
        "GROUP BY user HAVING COUNT(*) < 9",
    ),
    "session": Retraction(
        "INSERT INTO {out} SELECT STREAM user, COUNT(*) AS n FROM {a} WINDOW BY SESSION 10s GROUP BY user",
        (("a", "x", 0, {"user": "x"}),),
        (("a", "x", 60_000, {"user": "x"}), ("a", "x", 5_000, {"user": "x"})),
        {"x 5000 0": {"user": "x", "n": 2}, "x 60000 60000": {"user": "x", "n": 1}},
        (("a", "x", 65_000, {"user": "x"}), ("a", "x", 70_000, {"user": "x"})),
        {"x 5000 0": {"user": "x", "n": 2}, "x 70000 60000": {"user": "x", "n": 3}},
    ),
    "session-that-has-ended": Retraction(  # the open batch does not have the watermark of the batch before it
        "INSERT INTO {out} SELECT STREAM user, COUNT(*) AS n FROM {a} WINDOW BY SESSION 30s GRACE BY 0s GROUP BY user",
        (("a", "x", 60_000, {"user": "x"}), ("a", "x", 65_000, {"user": "x"}), ("a", "y", 70_000, {"user": "y"})),
        (("a", "x", 80_000, {"user": "x"}),),
        {"x 80000 60000": {"user": "x", "n": 3}, "y 100000 70000": {"user": "y", "n": 2}},
        (),
        {
            "x 65000 60000": {"user": "x", "n": 2},
            "x 80000 80000": {"user": "x", "n": 1},
            "y 100000 70000": {"user": "y", "n": 2},
        },
        second=(("a", "y", 100_000, {"user": "y"}),),
    ),
    "groups-of-a-table": Retraction(
        "INSERT INTO {out} SELECT TABLE city, COUNT(*) AS n FROM {a} GROUP BY city",
        (("a", "x", 0, {"city": "Oslo"}), ("a", "y", 0, {"city": "Rome"})),
        (("a", "x", 1, {"city": "Rome"}), ("a", "z", 1, {"city": "Kyiv"})),
        {"Kyiv": {"city": "Kyiv", "n": 1}, "Rome": {"city": "Rome", "n": 2}},
        (
            *(("a", "x", 2, {"city": "Oslo"}), ("a", "z", 2, None)),
            *(("a", "y", 2, {"city": "Bern"}), ("a", "y", 3, {"city": "Rome"})),
        ),
        {"Oslo": {"city": "Oslo", "n": 1}, "Rome": {"city": "Rome", "n": 1}},
        never=frozenset({"Bern"}),
    ),
    "join-of-tables": Retraction(
        "INSERT INTO {out} SELECT TABLE a.name AS name, b.age AS age FROM {a} AS a JOIN {b} AS b ON a._key = b._key",
        (("a", "x", 0, {"name": "X"}), ("b", "x", 0, {"age": 1})),
        (("a", "x", 1, {"name": "Y"}), ("a", "z", 1, {"name": "Z"}), ("b", "z", 1, {"age": 2})),
        {"x": {"name": "Y", "age": 1}, "z": {"name": "Z", "age": 2}},
        (("a", "x", 2, {"name": "X"}), ("b", "z", 2, None)),
        {"x": {"name": "X", "age": 1}},
    ),
    "full-join-of-tables": Retraction(
        "INSERT INTO {out} SELECT TABLE a.name AS name, b.age AS age FROM {a} AS a FULL JOIN {b} AS b",
        (("a", "x", 0, {"name": "X"}), ("b", "y", 0, {"age": 1})),
        (("b", "x", 1, {"age": 2}), ("a", "z", 1, {"name": "Z"}), ("a", "y", 1, {"name": "Y"})),
        {"x": {"name": "X", "age": 2}, "y": {"name": "Y", "age": 1}, "z": {"name": "Z", "age": None}},
        (("b", "x", 2, None), ("a", "z", 2, None), ("b", "y", 2, None)),
        {"x": {"name": "X", "age": None}, "y": {"name": "Y", "age": None}},
    ),
}


def rows_of(broker: Broker, target: str) -> dict[str, dict[str, Any]]:
    """The rows of a table in a topic. Keys of sessions end with their last and their first time."""
    rows: dict[str, dict[str, Any]] = {}
    for record in broker.consume_all(target):
        key = record.key or b""
        bounds = [str(int.from_bytes(key[at : at + 8], "big") - BEGIN_MS) for at in range(len(key) - 16, len(key), 8)]
        name = f"{key[:-16].decode()} {' '.join(bounds)}" if len(key) > 16 else key.decode()
        rows.pop(name, None)
        if record.value is not None:
            rows[name] = json.loads(record.value)
    return rows


class Retractions:
    """Programs that one processor runs, each with its own topics."""

    def __init__(self, broker: Broker, topic: TopicFactory, *kinds: str) -> None:
        self._broker = broker
        self._cases = [(RETRACTIONS[kind], {"a": topic(), "b": topic(), "out": topic()}) for kind in kinds]
        self.sql = ";\n".join(case.sql.format(**topics) for case, topics in self._cases)
        self.edited = ";\n".join((case.edited or case.sql).format(**topics) for case, topics in self._cases)
        self._written = 0

    def _write(self, name: str) -> None:
        for case, topics in self._cases:
            for topic, key, at_ms, value in getattr(case, name):
                encoded = None if value is None else json.dumps(value).encode()
                record = Record(key.encode(), encoded, timestamp_ms=BEGIN_MS + at_ms)
                self._broker.produce(topics[topic], [record])
                self._written += 1

    def open_and_kill(self, runner: Runner) -> None:
        self._write("first")
        with runner:
            runner.read_to(self._written, 180)
            runner.wait_for(lambda s: all(query["mode"] == "real_time" for query in s["queries"]))
            # A batch is counted after the next one has begun.
            stream = runner.wait_for(lambda s: s["batches"] >= len(self._cases))
            if any(case.second for case, _ in self._cases):
                self._write("second")
                runner.wait_for(lambda s: s["batches"] > stream["batches"])
            self._write("opened")
            self._await_rows("seen")
            runner.crash()
        self._write("after")

    def finish(self, runner: Runner) -> None:
        runner.read_to(self._written, 180)
        self._await_rows("last")
        for case, topics in self._cases:
            keys = {(record.key or b"").decode(errors="replace") for record in self._broker.consume_all(topics["out"])}
            assert not keys & case.never, case.sql

    def _await_rows(self, name: str) -> None:
        for case, topics in self._cases:
            wait_for_equal(lambda out=topics["out"]: rows_of(self._broker, out), getattr(case, name), 60)  # type: ignore[misc]


@pytest.mark.parametrize("mode", inputs(["auto", "batch"], "auto".__eq__))
def test_results_that_no_longer_exist_after_a_kill_are_deleted(
    mode: str, broker: Broker, topic: TopicFactory, tmp_path: Path
) -> None:
    """The batch after the kill has no result where the killed process has written one."""
    programs = Retractions(broker, topic, *RETRACTIONS)
    exactly_once = {"LSQL_GUARANTEE": "exactly_once"}
    programs.open_and_kill(Runner(broker.bootstrap, programs.sql, "retractions", tmp_path, **exactly_once))
    sql = f"SET processing.mode='{mode}'; {programs.edited}"
    with Runner(broker.bootstrap, sql, "retractions", tmp_path, **exactly_once) as runner:
        programs.finish(runner)


def test_workers_find_results_that_no_longer_exist_after_a_kill(
    broker: Broker, topic: TopicFactory, tmp_path: Path
) -> None:
    """Each task compares its own results with those of the killed process; the driver deletes what none has."""
    programs = Retractions(broker, topic, "session")
    exactly_once = {"LSQL_GUARANTEE": "exactly_once"}
    programs.open_and_kill(Runner(broker.bootstrap, programs.sql, "retracting-workers", tmp_path, **exactly_once))
    with with_workers(broker, programs.sql, "retracting-workers", tmp_path, **exactly_once) as (runner, _, _):
        programs.finish(runner)
