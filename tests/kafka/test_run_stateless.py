"""A stateless processor from start to end: output, position, restarts."""

import json
import os
import re
import signal
import time
import uuid
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka.admin import AdminClient, ConfigResource, ResourceType  # type: ignore[attr-defined]

from devkit.broker import Broker
from devkit.in_process import in_process
from devkit.records import Record
from devkit.runner import Runner
from lsql_runner.engine.processor import SparkEngine
from tests.conftest import TopicFactory
from tests.thorough import inputs

pytestmark = pytest.mark.timeout(400)

MIB = 1 << 20
KEYS = 7
FIRST = 10_000
BACKLOG = 200_000
"""Enough for a batch that takes a second or two."""
EPOCH_MS = 1_600_000_000_000
SETTINGS = "SET defaults.topic.autocreate=true; SET defaults.topic.partitions=3; SET topic.retention.ms=-1;"


class Filter:
    """A processor that writes every second record of its source, and the number of records produced so far.

    Each test leaves it running, with all records read.
    """

    def __init__(self, broker: Broker, folder: Path) -> None:
        mark = uuid.uuid4().hex[:8]
        self.broker = broker
        self.source, self.target, self.app_id = f"in-{mark}", f"out-{mark}", f"filter-{mark}"
        self.produced = 0
        self.sql = f"{SETTINGS} INSERT INTO {self.target} SELECT STREAM * FROM {self.source} WHERE n > 4"
        self.runner = Runner(broker.bootstrap, self.sql, self.app_id, folder)
        broker.create_topic(self.source, 2)

    def feed(self, count: int) -> None:
        ids = range(self.produced, self.produced + count)
        self.broker.produce(self.source, [input_record(number) for number in ids])
        self.produced += count

    def catch_up(self) -> None:
        self.runner.read_to(self.produced)

    def written(self) -> list[int]:
        return sorted(json.loads(record.value or b"")["id"] for record in self.broker.consume_all(self.target))

    def count(self) -> int:
        """The number of records in the target, and of the markers of their transactions."""
        return sum(self.broker.end_offsets(self.target).values())

    def expected(self) -> list[int]:
        return [number for number in range(self.produced) if number % 10 > 4]


def input_record(number: int) -> Record:
    value = json.dumps({"id": number, "n": number % 10}).encode()
    return Record(b"key-%d" % (number % KEYS), value, headers=(("trace", b"t"),), timestamp_ms=EPOCH_MS + number)


@pytest.fixture(scope="module")
def filtering(broker: Broker, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Filter]:
    made = Filter(broker, tmp_path_factory.mktemp("state"))
    made.feed(FIRST)
    with made.runner:
        made.catch_up()
        yield made


def test_each_record_keeps_its_key_value_headers_and_timestamp(filtering: Filter) -> None:
    records = filtering.broker.consume_all(filtering.target)

    first = min(records, key=lambda record: record.timestamp_ms or 0)
    assert first.key == b"key-5"
    assert json.loads(first.value or b"") == {"id": 5, "n": 5}
    assert first.timestamp_ms == EPOCH_MS + 5
    names, headers = [name for name, _ in first.headers], dict(first.headers)
    assert names == ["trace", "lsql.batch", "lsql.id"]
    assert headers["trace"] == b"t"
    app_id, run, query, batch = (headers["lsql.batch"] or b"").decode().split("/")
    assert (app_id, query, batch) == (filtering.app_id, "stateless", "0")
    assert re.fullmatch("[0-9a-f]{8}", run)
    assert filtering.written() == filtering.expected()


def test_each_record_has_an_identity_of_its_own(filtering: Filter) -> None:
    records = filtering.broker.consume_all(filtering.target)

    identities = {dict(record.headers)["lsql.id"] for record in records}
    assert len(identities) == len(records) > 0
    assert {len(identity or b"") for identity in identities} == {16}


def test_the_records_of_a_key_keep_their_order(filtering: Filter) -> None:
    by_key: dict[bytes, list[int]] = {}
    for record in filtering.broker.consume_all(filtering.target):
        by_key.setdefault(record.key or b"", []).append(json.loads(record.value or b"")["id"])

    assert set(by_key) == {b"key-%d" % number for number in range(KEYS)}
    assert all(ids == sorted(ids) for ids in by_key.values())


def test_the_target_is_created_with_the_settings_of_the_program(filtering: Filter) -> None:
    assert len(filtering.broker.end_offsets(filtering.target)) == 3

    admin = AdminClient({"bootstrap.servers": filtering.broker.bootstrap})
    resource = ConfigResource(ResourceType.TOPIC, filtering.target)
    config = admin.describe_configs([resource])[resource].result(30)
    assert config["retention.ms"].value == "-1"


def test_the_group_shows_the_position(filtering: Filter) -> None:
    filtering.runner.wait_for(lambda s: s["lag"] == 0)

    rows = filtering.broker.consumer_groups_describe(filtering.app_id)

    assert [(row.topic, row.partition, row.lag) for row in rows] == [(filtering.source, 0, 0), (filtering.source, 1, 0)]
    assert sum(row.current_offset or 0 for row in rows) == filtering.produced


def test_metrics_and_the_status_agree(filtering: Filter) -> None:
    stream = filtering.runner.wait_for(lambda s: s["lag"] == 0 and s["offsets"])
    metrics = filtering.runner.metrics()

    assert metrics["lsql_records_in_total"] == stream["recordsIn"]
    assert metrics["lsql_records_out_total"] == stream["recordsOut"] == stream["recordsIn"] / 2
    assert (
        metrics["lsql_position_offset"] == sum(place["position"] for place in stream["offsets"]) == filtering.produced
    )
    assert metrics["lsql_end_offset"] == sum(place["end"] for place in stream["offsets"]) == filtering.produced
    assert metrics["lsql_lag_records"] == stream["lag"] == 0
    assert filtering.runner.health() == (200, [])


def test_the_memory_of_jvm_and_python_is_measured(filtering: Filter) -> None:
    memory = filtering.runner.wait_for(lambda s: s["memory"]["privateBytes"])["memory"]
    used = {part["part"]: part["usedBytes"] for part in memory["parts"]}

    assert 0 < used["heap"] <= memory["heapCommittedBytes"]
    assert min(used["code_cache"], memory["metaspaceBytes"], memory["threads"]) > 0
    assert used["state_stores"] == 0
    assert 32 * MIB < used["python"] < memory["privateBytes"]
    assert filtering.runner.metrics()["lsql_memory_budget_bytes"] == sum(p["budgetBytes"] for p in memory["parts"])


def test_a_port_that_another_processor_uses_is_refused(filtering: Filter, tmp_path: Path) -> None:
    port = filtering.runner.port
    second = Runner(filtering.broker.bootstrap, filtering.sql, "second", tmp_path, SQL_PORT=str(port))

    output = second.run_until_refused()

    assert second.exit_code == 1
    assert f"PORT_IN_USE: Port {port} is already in use." in output


def test_a_state_directory_that_another_processor_uses_is_refused(filtering: Filter) -> None:
    first = filtering.runner
    second = Runner(filtering.broker.bootstrap, filtering.sql, first.app_id, first.state_dir)

    output = second.run_until_refused()

    assert second.exit_code == 1
    assert "STATE_DIR_IN_USE" in output
    assert first.health() == (200, [])


def test_two_processors_of_the_same_topic_are_independent(
    filtering: Filter, engine: SparkEngine, tmp_path: Path
) -> None:
    target = f"{filtering.target}-rest"
    sql = f"{SETTINGS} INSERT INTO {target} SELECT STREAM * FROM {filtering.source} WHERE n <= 4"

    with in_process(engine, filtering.broker.bootstrap, sql, f"{filtering.app_id}-rest", tmp_path) as second:
        filtering.feed(100)
        second.read_to(filtering.produced)
        filtering.catch_up()

    rest = {json.loads(record.value or b"")["id"] for record in filtering.broker.consume_all(target)}
    assert rest == set(range(filtering.produced)) - set(filtering.expected())
    assert filtering.written() == filtering.expected()


def test_a_stopped_processor_stays_stopped_after_a_restart_until_it_is_started(filtering: Filter) -> None:
    runner = filtering.runner
    assert runner.post("/stop").status == 202
    runner.reach("stopped")
    filtering.feed(100)

    assert runner.stop() == 0
    runner.start()
    stopped = runner.stream()

    assert stopped["state"] == "stopped"
    assert runner.health() == (200, [])
    assert len(filtering.written()) == len(filtering.expected()) - 50
    assert runner.post("/start").status == 202
    filtering.catch_up()
    assert filtering.written() == filtering.expected()


def test_without_its_state_directory_it_continues_at_the_position_of_the_consumer_group(
    broker: Broker, engine: SparkEngine, topic: TopicFactory, tmp_path: Path
) -> None:
    source, target = topic(partitions=2), topic()
    sql = f"INSERT INTO {target} SELECT STREAM * FROM {source} WHERE n > 4"
    broker.produce(source, [input_record(number) for number in range(100)])
    with in_process(engine, broker.bootstrap, sql, f"app-{target}", tmp_path / "lost") as running:
        running.read_to(100)
    broker.produce(source, [input_record(number) for number in range(100, 200)])

    with in_process(engine, broker.bootstrap, sql, f"app-{target}", tmp_path / "empty") as running:
        running.read_to(200)

    assert sorted(value["id"] for value in values(broker, target)) == [n for n in range(200) if n % 10 > 4]


def test_a_jvm_killed_during_a_batch_ends_the_process_and_the_next_start_completes_the_batch(
    filtering: Filter,
) -> None:
    runner = filtering.runner
    before = filtering.expected()
    runner.post("/stop")
    runner.reach("stopped")
    count = filtering.count()
    filtering.feed(BACKLOG)  # while it is stopped, so that it reads all of it in one batch
    runner.post("/start")
    wait_until(lambda: filtering.count() > count)
    os.kill(runner.jvm_pid(), signal.SIGKILL)
    assert jvm_gone_was_reported(runner)
    assert runner.wait(15) == 3
    assert runner.traces() == []
    assert len(before) < len(filtering.written()) < len(filtering.expected())

    runner.start()
    filtering.catch_up()

    records = filtering.broker.consume_all(filtering.target)
    ids = Counter(json.loads(record.value or b"")["id"] for record in records)
    assert ids == Counter(filtering.expected())
    added = ids.keys() - set(before)
    batches = {dict(r.headers)["lsql.batch"] for r in records if json.loads(r.value or b"")["id"] in added}
    assert len(batches) == 1  # the records of both processes have the same batch in their header
    assert filtering.written() == sorted(json.loads(r.value or b"")["id"] for r in committed(filtering))


def test_a_new_field_is_part_of_a_star_and_can_be_named_after_a_restart(
    broker: Broker, engine: SparkEngine, tmp_path: Path
) -> None:
    """Also: a changed stateless program continues at the position."""
    mark = uuid.uuid4().hex[:8]
    source, target, app_id = f"in-{mark}", f"out-{mark}", f"grow-{mark}"
    broker.create_topic(source)
    broker.create_topic(target)
    broker.produce(source, [Record(b"k", b'{"id": 1}')])
    star = f"INSERT INTO {target} SELECT STREAM * FROM {source}"
    with in_process(engine, broker.bootstrap, star, app_id, tmp_path) as running:
        running.read_to(1)
        broker.produce(source, [Record(b"k", b'{"id": 2, "color": "red"}')])
        running.read_to(2)
    assert values(broker, target)[1] == {"id": 2, "color": "red"}

    changed = f"INSERT INTO {target} SELECT STREAM color, id AS number FROM {source}"
    with in_process(engine, broker.bootstrap, changed, app_id, tmp_path) as running:
        broker.produce(source, [Record(b"k", b'{"id": 3, "color": "blue"}')])
        uses = {use.topic: use for use in running.read_to(3).topics}
        assert uses[source].value_type == "struct<id: numeric, color: string>"
        assert uses[source].schema_origin == "pinned"
    assert values(broker, target)[2:] == [{"color": "blue", "number": 3}]


def committed(filtering: Filter) -> list[Record]:
    return filtering.broker.consume_committed(filtering.target)


def values(broker: Broker, topic: str) -> list[dict[str, Any]]:
    return [json.loads(record.value or b"") for record in broker.consume_all(topic)]


def wait_until(condition: Callable[[], bool], deadline_s: float = 60) -> None:
    deadline = time.monotonic() + deadline_s
    while not condition():
        assert time.monotonic() < deadline, "not in time"
        time.sleep(0.01)


def jvm_gone_was_reported(runner: Runner) -> bool:
    deadline = time.monotonic() + 10
    while time.monotonic() < deadline:
        try:
            if "jvm-gone" in runner.health()[1]:
                return True
        except OSError:
            return False
        time.sleep(0.05)
    return False


def test_a_missing_topic_is_refused_with_its_position(broker: Broker, tmp_path: Path) -> None:
    source = f"in-{uuid.uuid4().hex[:8]}"
    broker.create_topic(source)
    broker.produce(source, [Record(b"k", b'{"id": 1}')])
    sql = f"INSERT INTO nowhere SELECT STREAM * FROM {source}"
    runner = Runner(broker.bootstrap, sql, "refused", tmp_path)

    output = runner.run_until_refused()

    assert runner.exit_code == 1
    assert "TARGET_UNKNOWN" in output
    assert "nowhere SELECT" in output
    assert "^^^^^^^" in output
    assert runner.traces() == []


@pytest.mark.parametrize("mode", inputs(["batch", "continuous"], "continuous".__eq__))
def test_a_batch_that_runs_again_draws_the_same_values(
    mode: str, broker: Broker, engine: SparkEngine, topic: TopicFactory, tmp_path: Path
) -> None:
    """The processor ends before the end of its first batch is on the disk."""
    source, target, app_id = topic(), topic(), f"draw-{uuid.uuid4().hex[:8]}"
    broker.produce(source, [Record(b"k", b'{"id":1}')] * 5)
    sql = (
        f"SET processing.guarantee='at_least_once'; SET processing.mode='{mode}';"
        f"INSERT INTO {target} SELECT STREAM UUID() AS u, RANDINT() AS r FROM {source}"
    )
    with in_process(engine, broker.bootstrap, sql, app_id, tmp_path) as running:
        running.read_to(5)
    [commits] = tmp_path.rglob("commits")
    for file in commits.iterdir():
        file.unlink()

    with in_process(engine, broker.bootstrap, sql, app_id, tmp_path) as running:
        running.wait_for(lambda _: len(broker.consume_all(target)) >= 10)

    values = [record.value for record in broker.consume_all(target)]
    assert Counter(Counter(values).values()) == {2: 5}


@pytest.mark.parametrize("mode", inputs(["batch", "continuous"], "continuous".__eq__))
def test_after_a_clean_restart_with_two_topics_the_offsets_of_the_target_advance(
    broker: Broker, engine: SparkEngine, topic: TopicFactory, tmp_path: Path, mode: str
) -> None:
    long, short, target = topic("long"), topic("short"), topic("out")
    app_id = f"app-{target}"
    sql = (
        f"SET processing.mode='{mode}'; INSERT INTO {target} SELECT STREAM * FROM {long};"
        f"INSERT INTO {target} SELECT STREAM * FROM {short}"
    )
    broker.produce(long, [input_record(number) for number in range(2_000)])
    broker.produce(short, [input_record(number) for number in range(10)])
    with in_process(engine, broker.bootstrap, sql, app_id, tmp_path) as running:
        running.read_to(2_010)
    (saved,) = tmp_path.rglob("target-offsets")
    before = json.dumps([{"batch": 0, "offsets": {target: {"0": 0}}}])  # older offsets are as correct
    saved.write_text(before)

    with in_process(engine, broker.bootstrap, sql, app_id, tmp_path) as running:
        for number in range(2_010, 2_400):
            broker.produce(short, [input_record(number)])
            running.read_to(number + 1)
            if saved.read_text() != before:
                break
        else:
            raise AssertionError("the offsets of the target were not saved again")

    assert len(broker.consume_all(target)) == number + 1
