"""Tables of a processor on a real broker: the content of its state, and records without a key."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from devkit.broker import Broker
from devkit.in_process import in_process
from devkit.records import Record
from lsql_runner.engine.processor import SparkEngine
from tests.conftest import TopicFactory

pytestmark = pytest.mark.timeout(400)

WITHOUT_KEY = "RECORD_WITHOUT_KEY"


def user(key: bytes | None, country: str | None, number: int = 1) -> Record:
    """A record of a user, who is in a country or is deleted."""
    value = None if country is None else json.dumps({"country": country, "name": f"n{number}"}).encode()
    return Record(key, value, partition=0)


@pytest.mark.parametrize(
    ("select", "skipped"),
    [
        pytest.param("TABLE COUNT(*) AS n FROM {users} GROUP BY country", {"users": 2}, id="an aggregate"),
        pytest.param(
            "TABLE u.country, o.name FROM {users} AS u LEFT JOIN {others} AS o ON u._key = o._key",
            {"users": 2, "others": 1},
            id="tables by their keys",
        ),
        pytest.param(
            "TABLE u.country, o.name FROM {users} AS u JOIN {others} AS o ON u.country = o._key",
            {"users": 2, "others": 1},
            id="tables by a field",
        ),
        pytest.param(
            "STREAM u.country, o.name FROM {users} AS u JOIN table_of_others AS o ON u._key = o._key",
            {"others": 1},
            id="a stream with a table",
        ),
    ],
)
def test_records_of_a_table_without_a_key_are_skipped_and_counted(
    broker: Broker, engine: SparkEngine, topic: TopicFactory, tmp_path: Path, select: str, skipped: dict[str, int]
) -> None:
    names = {"users": topic(), "others": topic(), "target": topic()}
    broker.produce(names["users"], [user(None, "a"), user(b"1", "a"), user(None, None), user(b"2", "b")])
    broker.produce(names["others"], [user(b"1", "x"), user(None, "y")])
    table = "WITH table_of_others AS (SELECT TABLE * FROM {others}); " if "table_of_others" in select else ""
    sql = f"{table}INSERT INTO {{target}} SELECT {select}".format(**names)

    with in_process(engine, broker.bootstrap, sql, f"app-{names['target']}", tmp_path) as running:
        status = running.read_to(6 if "others" in select else 4)

    assert status.last_error is None
    assert status.failed_records == {("skipped", names[name], WITHOUT_KEY): count for name, count in skipped.items()}
    assert status.skipped_records == sum(skipped.values())


def test_a_group_without_rows_is_removed_from_the_state(
    broker: Broker, engine: SparkEngine, topic: TopicFactory, tmp_path: Path
) -> None:
    source, target = topic(), topic()
    sql = f"INSERT INTO {target} SELECT TABLE COUNT(*) AS n, MAX(name) AS last FROM {source} GROUP BY country"

    def feed(count: int, country: str) -> None:
        broker.produce(source, [user(b"%d" % n, country.format(n), n) for n in range(count)])

    def await_rows(**expected: int) -> None:
        """In real time, the state is counted when it is saved."""
        names = {name.replace("_", "-"): rows for name, rows in expected.items()}
        running.wait_for(lambda s: names.items() <= {n: x.rows for n, x in s.stores["stateful-0"].items()}.items())

    feed(10, "c{}")
    with in_process(engine, broker.bootstrap, sql, f"app-{target}", tmp_path) as running:
        running.read_to(10)
        feed(10, "all")
        running.read_to(20)
        await_rows(aggregate_0=1, aggregate_0_rows=10)
        feed(2, "c{}")
        running.read_to(22)
        await_rows(aggregate_0=3)

    written: dict[bytes | None, list[object]] = {}
    for record in broker.consume_all(target):
        written.setdefault(record.key, []).append(None if record.value is None else json.loads(record.value))
    one = [{"n": 1, "last": f"n{number}"} for number in range(10)]
    assert written.pop(b"all")[-1] == {"n": 8, "last": "n9"}
    assert written == {
        b"c%d" % number: [one[number], None, one[number]] if number < 2 else [one[number], None] for number in range(10)
    }
