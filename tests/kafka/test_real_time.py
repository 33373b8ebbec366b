"""Queries with state in real time: an open batch processes records as they arrive.

Only a broker has a topic that waits for records, and transactions. The parts are tested in the module of the JVM.
"""

import json
import time
from collections import Counter, defaultdict
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from devkit.broker import Broker
from devkit.in_process import InProcess, in_process
from devkit.records import Record
from devkit.runner import Runner
from devkit.waiting import wait_for_equal, wait_until
from lsql_runner.engine.processor import SparkEngine
from tests.conftest import TopicFactory
from tests.thorough import inputs

pytestmark = pytest.mark.timeout(600)

BEGIN_MS = 1_700_000_000_000


def counting(source: str, target: str) -> str:
    return f"INSERT INTO {target} SELECT STREAM user, COUNT(*) AS n FROM {source} WINDOW BY TUMBLE 1h GROUP BY user"


def records(users: Iterable[str]) -> list[Record]:
    return [Record(user.encode(), json.dumps({"user": user}).encode(), timestamp_ms=BEGIN_MS) for user in users]


def results(broker: Broker, target: str, committed: bool = True) -> dict[str, list[int]]:
    """The counts of each user in the order of the target's partition."""
    found: dict[str, list[int]] = defaultdict(list)
    for record in broker.consume_all(target, isolation="read_committed" if committed else "read_uncommitted"):
        value = json.loads(record.value or b"")
        found[value["user"]].append(value["n"])
    return found


def last_counts(counts: dict[str, list[int]]) -> dict[str, int]:
    return {user: numbers[-1] for user, numbers in counts.items()}


def await_counts(broker: Broker, target: str, users: list[str]) -> None:
    """Wait until consumers see the count of each user: results are committed after the position has passed."""
    expected = Counter(users)
    wait_until(lambda: last_counts(results(broker, target)) == expected, f"results {expected}", 30)


def await_records(broker: Broker, expected: dict[str, int]) -> None:
    """Wait until topics have so many committed records."""
    wait_for_equal(lambda: {topic: len(broker.consume_all(topic)) for topic in expected}, expected, 60)


def feed(running: InProcess, broker: Broker, source: str, user: str, number: int) -> None:
    """Write records one after the other, each when the one before is read."""
    for _ in range(number):
        read = running.status.records_in
        broker.produce(source, records([user]))
        running.wait_for(lambda s, read=read: s.records_in > read)  # type: ignore[misc]


def test_each_record_has_a_result_before_its_batch_ends(
    broker: Broker, engine: SparkEngine, topic: TopicFactory, tmp_path: Path
) -> None:
    source, target = topic(partitions=2), topic()
    with in_process(engine, broker.bootstrap, counting(source, target), f"rt-{source}", tmp_path) as running:
        feed(running, broker, source, "a", 1)  # Spark's first batch makes the state
        running.wait_for(lambda s: s.batches == 1)
        feed(running, broker, source, "a", 5)
        await_counts(broker, target, ["a"] * 6)
        status = running.status

        assert results(broker, target) == {"a": [1, 2, 3, 4, 5, 6]}
        assert (status.batches, status.records_in, status.lag) == (1, 6, 0)


def test_a_stop_saves_what_was_processed(
    broker: Broker, engine: SparkEngine, topic: TopicFactory, tmp_path: Path
) -> None:
    source, target = topic(partitions=2), topic()
    for _ in range(2):
        with in_process(engine, broker.bootstrap, counting(source, target), f"rt-{source}", tmp_path) as running:
            feed(running, broker, source, "a", 4)

    assert results(broker, target) == {"a": [1, 2, 3, 4, 5, 6, 7, 8]}


def test_a_backlog_is_read_in_batches(broker: Broker, engine: SparkEngine, topic: TopicFactory, tmp_path: Path) -> None:
    source, target = topic(partitions=2), topic()
    with in_process(engine, broker.bootstrap, counting(source, target), f"rt-{source}", tmp_path) as running:
        feed(running, broker, source, "a", 3)
    broker.produce(source, records(["a"] * 30_000))
    with in_process(engine, broker.bootstrap, counting(source, target), f"rt-{source}", tmp_path) as running:
        running.wait_for(lambda s: s.records_in == 30_000)
        feed(running, broker, source, "a", 2)

    counts = results(broker, target)["a"]
    assert (counts[:3], counts[-3:]) == ([1, 2, 3], [30_003, 30_004, 30_005])
    assert len(counts) < 1_000


def test_results_of_a_killed_batch_are_written_once_when_the_next_process_has_batches(
    broker: Broker, topic: TopicFactory, tmp_path: Path
) -> None:
    """The first batch has all records of the open one, more than its limit: with fewer, a count would go back."""
    source, target = topic(partitions=3), topic()
    users = [f"u{number % 7}" for number in range(70)]
    modes = ("auto", "batch")
    for mode, (start, middle, end) in zip(modes, ((0, 10, 40), (40, 40, 70)), strict=True):
        sql = f"SET processing.mode='{mode}'; {counting(source, target)}"
        limits = {"LSQL_GUARANTEE": "exactly_once", "LSQL_MAX_RECORDS_PER_BATCH": "5"}
        with Runner(broker.bootstrap, sql, f"rt-{source}", tmp_path, **limits) as runner:
            broker.produce(source, records(users[start:middle]))
            runner.read_to(middle)
            broker.produce(source, records(users[middle:end]))
            await_counts(broker, target, users[:end])
            if mode == "auto":
                runner.crash()

    found = results(broker, target)
    assert all(counts == sorted(set(counts)) for counts in found.values()), found


def naming(users: str, clicks: str, target: str) -> str:
    return (
        f"WITH names AS (SELECT TABLE name FROM {users}); "
        f"INSERT INTO {target} SELECT STREAM c.id AS id, n.name AS name "
        f"FROM {clicks} AS c LEFT JOIN names AS n ON c._key = n._key"
    )


def click(number: int) -> Record:
    return Record(b"a", json.dumps({"id": number}).encode())


def named(name: str, timestamp_ms: int | None = None) -> Record:
    return Record(b"a", json.dumps({"name": name}).encode(), timestamp_ms=timestamp_ms)


def names_found(broker: Broker, target: str) -> list[tuple[Any, Any]]:
    values = [json.loads(record.value or b"") for record in broker.consume_all(target)]
    return [(value["id"], value.get("name")) for value in values]


def test_a_record_is_joined_when_it_arrives_with_the_row_that_the_table_has_then(
    broker: Broker, engine: SparkEngine, topic: TopicFactory, tmp_path: Path
) -> None:
    users, clicks, target = topic(), topic(), topic()
    expected: list[tuple[int, str | None]] = [(0, None)]
    broker.produce(clicks, [click(0)])
    broker.produce(users, [Record(b"b", named("another").value)])
    with in_process(engine, broker.bootstrap, naming(users, clicks, target), f"rt-{clicks}", tmp_path) as running:
        running.wait_for(lambda s: s.batches == 1)
        for number in range(1, 4):
            broker.produce(users, [named(f"name {number}")])
            running.wait_for(lambda s, read=2 * number + 1: s.records_in == read)  # type: ignore[misc]
            broker.produce(clicks, [click(number)])
            expected.append((number, f"name {number}"))
            wait_until(lambda: names_found(broker, target) == expected, f"results {expected}", 30)

        assert running.status.batches == 1


def paid(orders: str, payments: str, target: str, within: str = "1h", kind: str = "INNER") -> str:
    return (
        f"INSERT INTO {target} SELECT STREAM o.id AS id, p.id AS name "
        f"FROM {orders} AS o {kind} JOIN {payments} AS p ON o._key = p._key WITHIN {within}"
    )


@pytest.mark.parametrize("kills", inputs([1, 2], (1).__eq__))
def test_results_of_a_killed_process_are_written_once(
    kills: int, broker: Broker, topic: TopicFactory, tmp_path: Path
) -> None:
    """Four queries have an open batch: counts, a group whose third result fails, a lookup and pairs."""
    source = topic(partitions=3)
    counted, failing, quotients, letters, users, clicks, names, orders, payments, pairs = (topic() for _ in range(10))
    sql = ";\n".join(
        (
            f"SET error.policy.write='dlq'; SET dead.letter.queue='{letters}'",
            naming(users, clicks, names),
            counting(source, counted),
            f"INSERT INTO {quotients} SELECT STREAM user, 12 / (3 - COUNT(*)) AS n FROM {failing} GROUP BY user",
            paid(orders, payments, pairs),
        )
    )
    written: Counter[str] = Counter()

    def send(name: str, *each: Record) -> None:
        broker.produce(name, list(each))
        written[name] += len(each)

    def count(first: int, end: int) -> None:
        send(source, *records(f"u{number % 7}" for number in range(first, end)))

    def await_all(expected: dict[str, int]) -> None:
        runner.read_to(written.total(), 180)
        await_records(broker, expected)

    count(0, 10)
    send(failing, *records("a"))
    for name, first in ((users, named("first")), (clicks, click(0)), (orders, click(0)), (payments, click(100))):
        send(name, first)
    with Runner(broker.bootstrap, sql, f"rt-{source}", tmp_path, LSQL_GUARANTEE="exactly_once") as runner:
        await_all({names: 1, quotients: 1, pairs: 1})
        runner.wait_for(lambda s: all(query["mode"] == "real_time" for query in s["queries"]))
        count(10, 40)
        send(clicks, *(click(number) for number in range(1, 4)))
        send(payments, click(101))
        send(orders, click(1))
        send(failing, *records("a"))
        await_all({quotients: 2})  # a batch with both records would have one result
        send(failing, *records("a"))
        await_all({names: 4, quotients: 2, letters: 1, pairs: 4})
        for kill in range(kills):
            read = runner.wait_for(bool)["recordsIn"]
            count(40, 60)
            runner.wait_for(lambda s, read=read: s["recordsIn"] >= read + 10)  # type: ignore[misc]
            runner.crash()
            count(60, 70)
            if kill == 0:
                send(users, named("second", timestamp_ms=1))  # the batch joins it with the records before the kill
                send(clicks, click(4))
                send(failing, *records("b"))
                send(orders, click(2))
            runner.start()
            await_all({names: 5, quotients: 3, letters: 1, pairs: 6})
        runner.wait_for(lambda s: all(query["mode"] == "real_time" for query in s["queries"]))
        count(70, 90)
        send(payments, click(102))
        await_all({names: 5, quotients: 3, letters: 1, pairs: 9})

    expected = Counter(f"u{number % 7}" for number in (*range(40), *(kills * [*range(40, 70)]), *range(70, 90)))
    for committed in (True, False):
        found = results(broker, counted, committed)
        assert last_counts(found) == expected
        assert all(counts == sorted(set(counts)) for counts in found.values()), found
    named_clicks = [*((number, "first") for number in range(1, 4)), (4, "second")]
    assert (results(broker, quotients), names_found(broker, names)[1:]) == ({"a": [6, 12], "b": [6]}, named_clicks)
    assert sorted(names_found(broker, pairs)) == [(order, payment) for order in range(3) for payment in (100, 101, 102)]


def test_records_without_a_match_are_written_once_when_no_later_one_can_match(
    broker: Broker, topic: TopicFactory, tmp_path: Path
) -> None:
    """Also those that an open batch has read which a killed process had open."""
    orders, payments, target = topic(), topic(), topic()

    def send(name: str, key: str, number: int, at_s: int) -> None:
        value = json.dumps({"id": number}).encode()
        broker.produce(name, [Record(key.encode(), value, timestamp_ms=BEGIN_MS + 1000 * at_s)])

    def wait_for(expected: set[tuple[int | None, int | None]]) -> None:
        wait_until(lambda: set(names_found(broker, target)) == expected, f"the results {expected}", 30)

    send(orders, "a", 0, 0)
    send(payments, "b", 100, 0)
    sql = paid(orders, payments, target, "10s GRACE BY 0s", "FULL")
    with Runner(broker.bootstrap, sql, f"rt-{orders}", tmp_path, LSQL_GUARANTEE="exactly_once") as runner:
        runner.read_to(2)
        send(orders, "b", 1, 1)
        send(orders, "c", 2, 2)
        send(payments, "d", 103, 2)
        wait_for({(1, 100)})
        runner.crash()
        send(payments, "c", 102, 3)
        runner.start()
        runner.read_to(6)
        wait_for({(1, 100), (2, 102)})
        runner.wait_for(lambda s: s["queries"][0]["mode"] == "real_time")
        for name, number in ((orders, 4), (payments, 104)):
            send(name, "e", number, 100)
        alone = {(0, None), (None, 103)}
        wait_for({(1, 100), (2, 102), (4, 104), *alone})
        runner.crash()
        for name, number in ((orders, 5), (payments, 105)):
            send(name, "f", number, 200)
        runner.start()
        runner.read_to(10)
        wait_for({(1, 100), (2, 102), (4, 104), *alone, (5, 105)})

    assert len(names_found(broker, target)) == 6


def test_pairs_are_joined_after_the_time_of_an_idle_side_has_advanced(
    broker: Broker, engine: SparkEngine, topic: TopicFactory, tmp_path: Path
) -> None:
    """A batch that only advances the time has no new records, after a plan of an open batch."""
    orders, payments, target = topic(), topic(), topic()
    broker.produce(orders, [click(0)])
    broker.produce(payments, [click(100)])
    sql = paid(orders, payments, target, "2s GRACE BY 1s")
    later_ms = time.time_ns() // 1_000_000 + 60_000
    with in_process(engine, broker.bootstrap, sql, f"rt-{orders}", tmp_path) as running:
        running.wait_for(lambda s: s.batches == 1)
        broker.produce(payments, [Record(b"a", click(101).value, timestamp_ms=later_ms)])
        running.wait_for(lambda s: bool(s.ticked_ms))
        broker.produce(orders, [Record(b"a", click(1).value, timestamp_ms=later_ms)])
        wait_until(lambda: (1, 101) in names_found(broker, target), "a pair", 30)

        assert (running.status.restarts, running.status.last_error) == (0, None)


def test_final_results_are_written_when_their_window_has_ended(
    broker: Broker, engine: SparkEngine, topic: TopicFactory, tmp_path: Path
) -> None:
    """An open batch only counts. It is closed when a window has ended, and the batch after it writes the results."""
    source, target = topic(), topic()
    sql = (
        f"SET emit='final'; INSERT INTO {target} SELECT STREAM user, COUNT(*) AS n FROM {source} "
        "WINDOW BY TUMBLE 10s GRACE BY 0s GROUP BY user"
    )

    def send(at_s: int) -> None:
        read = running.status.records_in
        value = json.dumps({"user": "a"}).encode()
        broker.produce(source, [Record(b"a", value, timestamp_ms=BEGIN_MS + 1000 * at_s)])
        running.wait_for(lambda s: s.records_in > read)

    with in_process(engine, broker.bootstrap, sql, f"rt-{source}", tmp_path) as running:
        send(0)
        running.wait_for(lambda s: s.batches == 1)
        for at_s in (1, 2):
            send(at_s)
        assert results(broker, target) == {}
        send(20)
        wait_until(lambda: results(broker, target) == {"a": [3]}, "the result of the first window", 4)
        send(21)
        send(45)
        wait_until(lambda: results(broker, target) == {"a": [3, 2]}, "the result of the second window", 4)

        assert [query.mode for query in running.status.queries] == ["real_time"]


def test_a_record_that_cannot_be_processed_is_named(
    broker: Broker, engine: SparkEngine, topic: TopicFactory, tmp_path: Path
) -> None:
    source, target = topic(), topic()
    sql = (
        f"INSERT INTO {target} SELECT STREAM user, SUM(100 / price) AS n FROM {source} "
        "WINDOW BY TUMBLE 1h GROUP BY user"
    )
    prices = [json.dumps({"user": "a", "price": price}).encode() for price in (1, 2, 4, 0)]
    broker.produce(source, [Record(None, prices[0])])
    with in_process(engine, broker.bootstrap, sql, f"rt-{source}", tmp_path) as running:
        running.wait_for(lambda s: s.batches == 1)
        for price in prices[1:]:
            broker.produce(source, [Record(None, price)])
        status = running.wait_for(lambda s: s.last_error is not None)

    assert status.last_error is not None
    assert status.last_error.code == "RECORD_REFUSED"
    assert status.last_error.params["offset"] == 3
