"""Rows of the state, read while a query runs. Only stores of Spark have committed versions beside the one that changes.

Groups of streams, sessions and groups of tables are in three layouts of Spark's state.

The conditions of a query and the responses are tested in tests/unit/api.
"""

import json
import os
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from devkit.broker import Broker
from devkit.in_process import InProcess, in_process
from devkit.records import Record
from devkit.runner import Runner
from devkit.standby import pair, processes_of, send
from devkit.waiting import wait_until
from lsql_runner.engine.port import StoredRows, StoreRead
from lsql_runner.engine.processor import SparkEngine
from lsql_runner.errors import LsqlError
from lsql_runner.events.batches import Partition
from lsql_runner.events.state import State
from tests.conftest import TopicFactory

pytestmark = pytest.mark.timeout(300)

BEGIN_MS = 1_699_999_200_000
HOUR_MS = 3_600_000


def payment(user: str, amount: int, hour: int = 0, key: bytes | None = None) -> Record:
    value = {"user": user, "amount": amount, "code": amount % 2}
    return Record(key or user.encode(), json.dumps(value).encode(), timestamp_ms=BEGIN_MS + hour * HOUR_MS)


class Reads:
    """The aggregate of a processor."""

    def __init__(self, running: InProcess) -> None:
        self.running = running
        names = [store.name for store in running.supervisor.description.stores]
        [self.store] = [name for name in names if name.startswith("aggregate") and not name.endswith("-rows")]

    def answer(self, **request: Any) -> StoredRows:
        answer = self.running.supervisor.read_store(StoreRead(store=self.store, **request))
        assert answer is not None
        return answer

    def rows(self, **request: Any) -> list[dict[str, Any]]:
        """The rows of all pages."""
        answer = self.answer(**request)
        rows: list[dict[str, Any]] = json.loads(answer.rows)
        while answer.cursor is not None:
            answer = self.answer(**request, cursor=answer.cursor)
            rows += json.loads(answer.rows)
        return rows

    def values(self, **request: Any) -> list[Any]:
        return [row["value"] for row in self.rows(**request)]

    def wait_for(self, records: int) -> None:
        """Wait until the state contains so many records."""
        wait_until(partial(self.contains, records), f"{records} records in the state", 60)

    def contains(self, records: int) -> bool:
        answer = self.running.supervisor.read_store(StoreRead(store=self.store, limit=1))
        return answer is not None and sum(answer.positions.values()) >= records


@contextmanager
def reading(engine: SparkEngine, broker: Broker, sql: str, state: Path, records: int) -> Iterator[Reads]:
    """A processor whose state contains so many records."""
    app = f"reads-{state.name}"
    with in_process(engine, broker.bootstrap, sql, app, state, LSQL_API_QUERIES="open") as running:
        running.wait_for(lambda s: s.state == "running")
        reads = Reads(running)
        reads.wait_for(records)
        yield reads


def test_a_group_has_the_value_of_the_target(
    broker: Broker, engine: SparkEngine, topic: TopicFactory, tmp_path: Path
) -> None:
    """Also with HAVING, which decides what is written, and not what the state has."""
    source, target = topic(partitions=2), topic()
    broker.produce(source, [payment("a", 1), payment("b", 5), payment("a", 2)])
    select = f"SELECT STREAM user, COUNT(*) AS n, SUM(amount) + 1 AS total, LAST(code) AS last FROM {source}"
    sql = f"INSERT INTO {target} {select} GROUP BY user HAVING COUNT(*) > 1"
    with reading(engine, broker, sql, tmp_path, 3) as reads:
        answer = reads.answer(key="b")

        assert json.loads(answer.rows) == [
            {"key": "b", "window": None, "value": {"user": "b", "n": 1, "total": 6, "last": 1}, "error": None}
        ]
        assert (answer.batch, answer.cursor) == (0, None)
        assert answer.positions == {Partition(source, 0): 3, Partition(source, 1): 0}
        assert sorted(row["key"] for row in reads.rows()) == ["a", "b"]
        assert reads.rows(key="c") == []


def test_windows_of_a_key_are_read_by_their_start(
    broker: Broker, engine: SparkEngine, topic: TopicFactory, tmp_path: Path
) -> None:
    source, target = topic(), topic()
    broker.produce(source, [payment(user, 1, hour) for hour in range(4) for user in "ab"])
    select = f"SELECT STREAM user, COUNT(*) AS n FROM {source} WINDOW BY TUMBLE 1h GRACE BY 1d GROUP BY user"
    with reading(engine, broker, f"INSERT INTO {target} {select}", tmp_path, 8) as reads:
        second = BEGIN_MS + HOUR_MS

        def starts(**request: Any) -> list[int]:
            times = (datetime.fromisoformat(row["window"]["start"]) for row in reads.rows(**request))
            return sorted(round(time.timestamp() * 1000) for time in times)

        [row] = reads.rows(key="a", window_ms=second)
        assert row["window"] == {"start": "2023-11-14T23:00:00Z", "end": "2023-11-15T00:00:00Z"}
        assert starts(key="a") == [BEGIN_MS + hour * HOUR_MS for hour in range(4)]
        assert starts(since_ms=second, until_ms=second + 2 * HOUR_MS) == sorted([second, second + HOUR_MS] * 2)
        assert starts(key="a", since_ms=second + 1) == [second + HOUR_MS, second + 2 * HOUR_MS]
        assert reads.rows(key="a", window_ms=second + 1) == []


def test_pages_have_each_row_once(broker: Broker, engine: SparkEngine, topic: TopicFactory, tmp_path: Path) -> None:
    source, target = topic(partitions=2), topic()
    users = [f"u{number}" for number in range(23)]
    broker.produce(source, [payment(user, 1) for user in users])
    sql = f"INSERT INTO {target} SELECT STREAM user, COUNT(*) AS n FROM {source} GROUP BY user"
    with reading(engine, broker, sql, tmp_path, 23) as reads:
        seen: list[str] = []
        answer = reads.answer(limit=5)
        pages = 1
        while True:
            seen += [row["key"] for row in json.loads(answer.rows)]
            if answer.cursor is None:
                break
            answer = reads.answer(limit=5, cursor=answer.cursor)
            pages += 1

        assert (sorted(seen), pages) == (sorted(users), 5)
        for cursor in ("", "x", "0.?", "-1.", "4294967295.", "9" * 20 + "."):
            with pytest.raises(LsqlError, match="STORE_CURSOR_INVALID"):
                reads.answer(cursor=cursor)


RANGES = {
    "user": (("u2", "u4"), ["u2", "u20", "u3"]),
    "amount": (("3", "20"), [3, 4]),
    "code, amount": (('{"code": 0, "amount": 3}', '{"code": 1, "amount": 3}'), [(0, 4), (0, 20), (1, 1)]),
}


@pytest.mark.parametrize("group", RANGES)
def test_keys_are_read_in_a_range(
    broker: Broker, engine: SparkEngine, topic: TopicFactory, tmp_path: Path, group: str
) -> None:
    source, target = topic(partitions=2), topic()
    broker.produce(source, [payment(f"u{amount}", amount) for amount in (1, 2, 3, 4, 20)])
    (least, end), keys = RANGES[group]
    sql = f"INSERT INTO {target} SELECT STREAM {group}, COUNT(*) AS n FROM {source} GROUP BY {group}"
    with reading(engine, broker, sql, tmp_path, 5) as reads:
        found = [row["key"] for row in reads.rows(key_from=least, key_to=end)]
        assert len(reads.rows(key_from=least)) > len(found)
        if group != "user":
            with pytest.raises(LsqlError, match="STORE_KEY_INVALID"):
                reads.rows(key_to="x")

    assert sorted(tuple(key.values()) if isinstance(key, dict) else key for key in found) == keys


KEYS = {
    "user": ("a", "a"),
    "code": ("1", 1),
    "user, code": ('{"user": "a", "code": 1}', {"user": "a", "code": 1}),
    "amount * 1.5": ("1.5", 1.5),
    "code = 1": ("true", True),
}


SELECTS = [
    *(("SELECT STREAM", group) for group in KEYS),
    *(("SELECT TABLE", group) for group in ("user, code", "amount * 1.5")),
    ("SET error.policy='continue'; SELECT TABLE", "code = 1"),
]


@pytest.mark.parametrize(("select", "group"), SELECTS)
def test_keys_have_the_type_of_their_groups(
    broker: Broker, engine: SparkEngine, topic: TopicFactory, tmp_path: Path, select: str, group: str
) -> None:
    source, target = topic(), topic()
    broker.produce(source, [payment("a", 1), payment("b", 2)])
    aggregates = f"{select} COUNT(*) AS n, MAX(amount) AS amount FROM {source} GROUP BY {group}"
    sql = aggregates.replace("SELECT", f"INSERT INTO {target} SELECT")
    with reading(engine, broker, sql, tmp_path, 2) as reads:
        asked, shown = KEYS[group]

        assert reads.rows(key=asked) == [{"key": shown, "window": None, "value": {"n": 1, "amount": 1}, "error": None}]


@pytest.mark.parametrize("mode", ["auto", "batch"])
def test_sessions_are_rows_of_their_key(
    broker: Broker, engine: SparkEngine, topic: TopicFactory, tmp_path: Path, mode: str
) -> None:
    source, target = topic(), topic()
    broker.produce(source, [payment("a", 1, 0), payment("b", 4, 0), payment("a", 2, 1), payment("a", 3, 5)])
    select = f"SELECT STREAM user, SUM(amount) AS total FROM {source} WINDOW BY SESSION 2h GRACE BY 1d GROUP BY user"
    sql = f"SET processing.mode='{mode}'; INSERT INTO {target} {select}"
    with reading(engine, broker, sql, tmp_path, 4) as reads:
        first, second = reads.rows(key="a")
        later = BEGIN_MS + 5 * HOUR_MS

        assert first == {
            "key": "a",
            "window": {"start": "2023-11-14T22:00:00Z", "end": "2023-11-14T23:00:00Z"},
            "value": {"user": "a", "total": 3},
            "error": None,
        }
        assert second["value"]["total"] == 3
        assert reads.values(key="a", window_ms=later) == [second["value"]]
        assert reads.values(key="a", until_ms=later) == [first["value"]]
        assert reads.values(since_ms=later) == [second["value"]]
        assert Counter(row["key"] for row in reads.rows(limit=1)) == {"a": 2, "b": 1}
        assert reads.rows(key="c") == []


def test_a_group_of_a_table_is_gone_with_its_last_row(
    broker: Broker, engine: SparkEngine, topic: TopicFactory, tmp_path: Path
) -> None:
    source, target = topic(partitions=2), topic()
    broker.produce(source, [payment("a", 1), payment("b", 3), payment("c", 4), payment("a", 2)])
    select = f"SELECT TABLE code, COUNT(*) AS n, SUM(amount) AS total FROM {source} GROUP BY code"
    with reading(engine, broker, f"INSERT INTO {target} {select}", tmp_path, 4) as reads:
        before = reads.rows()
        broker.produce(source, [Record(b"b", None, timestamp_ms=BEGIN_MS)])
        reads.wait_for(5)

        values = {1: {"code": 1, "n": 1, "total": 3}, 0: {"code": 0, "n": 2, "total": 6}}
        assert {row["key"]: row["value"] for row in before} == values
        assert {row["key"]: row["value"] for row in reads.rows()} == {0: values[0]}
        assert reads.rows(key="1") == []


RECORD_KEYS = {
    "STRING": (b"a", "a", "a"),
    "BYTES": (b"\0\1", '"AAE="', "AAE="),
    "JSON": (b'{"b": 2, "a": 1}', '{"a": 1, "b": 2}', {"b": 2, "a": 1}),
}


@pytest.mark.parametrize("form", RECORD_KEYS)
def test_groups_of_record_keys_are_found(
    broker: Broker, engine: SparkEngine, topic: TopicFactory, tmp_path: Path, form: str
) -> None:
    source, target = topic(), topic()
    key, asked, shown = RECORD_KEYS[form]
    broker.produce(source, [payment("a", 1, key=key), payment("a", 2, key=key)])
    sql = f"INSERT INTO {target} SELECT STREAM COUNT(*) AS n FROM {source} GROUP BY _key"
    with reading(engine, broker, sql, tmp_path, 2) as reads:
        assert reads.rows(key=asked) == [{"key": shown, "window": None, "value": {"n": 2}, "error": None}]


FAILING = {
    "having": "{insert} SELECT STREAM {share} GROUP BY user HAVING SUM(amount) > 0",
    "continue": "SET error.policy.write='continue'; {insert} SELECT STREAM {share} GROUP BY user",
    "dlq": "SET error.policy.write='dlq'; SET dead.letter.queue='{dlq}'; {insert} SELECT STREAM {share} GROUP BY user",
    "table": "SET error.policy.write='continue'; {insert} SELECT TABLE {share} GROUP BY user",
    "late": "SET late.records='dlq'; SET error.policy.write='continue'; SET dead.letter.queue='{dlq}'; "
    "{insert} SELECT STREAM {share} WINDOW BY SESSION 1h GROUP BY user",
}
"""What keeps a value that fails from the target, and not from the state."""


@pytest.mark.parametrize("program", FAILING)
def test_a_value_that_fails_is_an_error_of_its_row(
    broker: Broker, engine: SparkEngine, topic: TopicFactory, tmp_path: Path, program: str
) -> None:
    source, target = topic(), topic()
    broker.produce(source, [payment("a", 0), payment("b", 2)])
    share, insert = f"10 / SUM(amount) AS share FROM {source}", f"INSERT INTO {target}"
    sql = FAILING[program].format(share=share, insert=insert, dlq=topic())
    with reading(engine, broker, sql, tmp_path, 2) as reads:
        rows = {row["key"]: (row["value"], row["error"]) for row in reads.rows()}

    assert rows == {"a": (None, "DIVIDE_BY_ZERO"), "b": ({"share": 5}, None)}


@pytest.mark.parametrize("mode", ["auto", "batch"])
def test_programs_whose_state_cannot_be_read_run_as_before(
    broker: Broker, engine: SparkEngine, topic: TopicFactory, tmp_path: Path, mode: str
) -> None:
    """Spark checks the class of the state stores for each branch of a join."""
    tables, target = [topic(), topic(), topic()], topic()
    for table in tables:
        broker.produce(table, [Record(b"k", b'{"f": "k", "n": 1}')])
    a, b, c = tables
    sql = (
        f"SET processing.mode='{mode}'; INSERT INTO {target} "
        f"SELECT TABLE a.n AS a, b.n AS b, c.n AS c FROM {a} a INNER JOIN {b} b ON a._key = b._key "
        f"INNER JOIN {c} c ON a._key = c.f"
    )
    app = f"reads-{target}"
    with in_process(engine, broker.bootstrap, sql, app, tmp_path, LSQL_API_QUERIES="open") as running:
        running.wait_for(lambda s: s.records_out > 0)
        for store in running.supervisor.description.stores:
            with pytest.raises(LsqlError, match="STORE_NOT_QUERYABLE"):
                running.supervisor.read_store(StoreRead(store=store.name))


def test_a_key_of_another_type_is_refused(
    broker: Broker, engine: SparkEngine, topic: TopicFactory, tmp_path: Path
) -> None:
    source, target = topic(), topic()
    broker.produce(source, [payment("a", 1)])
    sql = f"INSERT INTO {target} SELECT STREAM COUNT(*) AS n FROM {source} GROUP BY code"
    with reading(engine, broker, sql, tmp_path, 1) as reads:
        for key in ("x", '"1"', "{}", "", "1 2", "[1]"):
            with pytest.raises(LsqlError, match="STORE_KEY_INVALID"):
                assert reads.rows(key=key) is None, key


@pytest.mark.parametrize("mode", ["auto", "batch"])
def test_each_answer_is_the_state_at_its_positions(
    broker: Broker, engine: SparkEngine, topic: TopicFactory, tmp_path: Path, mode: str
) -> None:
    """Reads beside batches and open batches, of a topic with one partition: the model is a prefix of its records."""
    source, target = topic(), topic()
    users = [f"u{number * number % 7}" for number in range(400)]
    broker.produce(source, [payment(users[0], 1)])
    select = f"SELECT STREAM user, COUNT(*) AS n FROM {source} GROUP BY user"
    sql = f"SET processing.mode='{mode}'; INSERT INTO {target} {select}"
    with reading(engine, broker, sql, tmp_path, 1) as reads:
        seen = set()
        for number in range(1, len(users)):
            broker.produce(source, [payment(users[number], 1)])
            answer = reads.answer()
            [position] = answer.positions.values()
            seen.add(position)
            counts = {row["key"]: row["value"]["n"] for row in json.loads(answer.rows)}
            assert counts == Counter(users[:position]), answer
            if number % 50 == 0:
                reads.running.supervisor.save_soon(reads.store)
                contains = partial(reads.contains, number)
                wait_until(contains, f"{number} in the state", 30)

        assert len(seen) >= 8


SAVED = {
    "windows": ("SELECT STREAM {} WINDOW BY TUMBLE 1h GRACE BY 1d GROUP BY user", 2, 6),
    "sessions": ("SELECT STREAM {} WINDOW BY SESSION 2h GRACE BY 1d GROUP BY user", 4, 12),
    "table": ("SELECT TABLE {} GROUP BY user HAVING COUNT(*) > 0", 1, 5),
}


@pytest.mark.parametrize("layout", SAVED)
def test_the_saved_state_is_read_after_the_end_of_the_processor(
    broker: Broker, engine: SparkEngine, topic: TopicFactory, tmp_path: Path, layout: str
) -> None:
    """By the command, which needs neither the program nor brokers."""
    source, target = topic(partitions=2), topic()
    broker.produce(source, [payment(user, amount, hour) for user in "ab" for hour in (0, 1) for amount in (1, 5)])
    select, count, total = SAVED[layout]
    sql = select.format(f"user, COUNT(*) AS n, SUM(amount) AS total FROM {source}")
    with reading(engine, broker, f"INSERT INTO {target} {sql}", tmp_path, 8) as reads:
        answer, store, found = reads.answer(), reads.store, reads.rows(key="b", window_ms=BEGIN_MS)
        stores = [each.name for each in reads.running.supervisor.description.stores]
    saved = {"SQL_APP_ID": f"reads-{tmp_path.name}", "SQL_STATE_STORE_DIR": str(tmp_path)}

    def read(*arguments: str) -> subprocess.CompletedProcess[str]:
        command = [str(Path(sys.executable).with_name("lsql")), "state", "read", *arguments]
        return subprocess.run(command, env={**os.environ, **saved}, capture_output=True, text=True, check=False)

    everything = json.loads(read(store).stdout)
    of_key = json.loads(read(store, "--key", "b", "--window", str(BEGIN_MS)).stdout)
    refused, unknown = read(store, "--limit", "many"), read("sums")

    assert everything["rows"] == json.loads(answer.rows)
    assert sum(everything["contains"]["positions"][source].values()) == 8
    assert everything["contains"].keys() == {"batch", "positions", "watermark", "plannedAt", "ageMs", "lag"}
    assert of_key["rows"] == found
    assert found[0]["value"] == {"user": "b", "n": count, "total": total}
    assert (refused.returncode, "REQUEST_PARAMETER_INVALID" in refused.stderr) == (1, True)
    assert (unknown.returncode, f"Name one of its stores: {', '.join(stores)}." in unknown.stderr) == (1, True)


def test_a_processor_whose_state_does_not_fit_its_program_answers_from_the_saved_state(
    broker: Broker, engine: SparkEngine, topic: TopicFactory, tmp_path: Path
) -> None:
    source, target = topic(), topic()
    broker.produce(source, [payment("a", 1), payment("a", 2)])
    sql = f"INSERT INTO {target} SELECT STREAM COUNT(*) AS n FROM {source} GROUP BY user"
    other = sql.replace("GROUP BY user", "GROUP BY code")
    app = f"reads-{tmp_path.name}"
    with reading(engine, broker, sql, tmp_path, 2) as reads:
        stored = reads.rows()

    with in_process(engine, broker.bootstrap, other, app, tmp_path, LSQL_API_QUERIES="open") as running:
        failed = running.wait_for(lambda s: s.state is State.FAILED)
        reads = Reads(running)
        assert failed.reason is not None
        assert (failed.reason.code, reads.rows()) == ("STATE_INCOMPATIBLE", stored)
        assert reads.values(key="a") == [{"n": 2}]
        assert reads.rows(key="b") == []
    broker.produce(source, [payment("a", 3)])
    with reading(engine, broker, sql, tmp_path, 3) as reads:  # the files are closed
        assert reads.values(key="a") == [{"n": 3}]
        reads.running.supervisor.stop("test")
        reads.running.wait_for(lambda s: s.state is State.STOPPED)
        assert reads.values(key="a") == [{"n": 3}]


def test_a_standby_answers_from_the_state_that_the_leader_has_saved(
    broker: Broker, topic: TopicFactory, tmp_path: Path
) -> None:
    """Two processes: the standby opens the files again that the leader writes, also after its end."""
    source, target = topic(), topic()
    broker.produce(source, [payment("a", 1), payment("b", 2)])
    sql = (
        f"SET processing.mode='batch'; INSERT INTO {target} "
        f"SELECT STREAM user, COUNT(*) AS n FROM {source} WINDOW BY SESSION 2h GROUP BY user"
    )

    def count(standby: Runner) -> int:
        answer = standby.get("/metadata/aggregate-0?key=a&standby=true")
        if answer.status != 200:
            assert answer.body["code"] == "STORE_NOT_LOADED"
            return 0
        assert answer.body["contains"]["lag"] is None
        return sum(row["value"]["n"] for row in answer.body["rows"])

    folders = (tmp_path, tmp_path)
    with pair(broker, sql, f"reads-{target}", folders, LSQL_API_QUERIES="open") as (leader, standby, _):
        leader.read_to(2)
        wait_until(lambda: count(standby) == 1, "the first batch", 60)
        broker.produce(source, [payment("a", 3)])
        wait_until(lambda: count(standby) == 2, "the second batch", 60)
        forwarded = standby.get("/metadata/aggregate-0?key=a")
        send(processes_of(leader), signal.SIGKILL)
        alone = count(standby)
        refused = standby.get("/metadata/aggregate-0?key=a")

    assert forwarded.body["contains"]["lag"] == 0
    assert alone == 2
    assert refused.status == 503
