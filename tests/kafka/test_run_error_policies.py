"""A processor with an error policy, on a real broker: bad records do not stop it, and outages are not bad records."""

from __future__ import annotations

import json
import random
import uuid
from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, seed, settings
from hypothesis import strategies as st

from devkit.avro import encoded
from devkit.broker import Broker
from devkit.in_process import in_process
from devkit.records import Record
from devkit.registry import Registry
from devkit.registry_proxies import RegistryProxy
from lsql_runner.engine.processor import SparkEngine
from lsql_runner.events.state import State
from lsql_runner.status.model import Status
from tests.conftest import TopicFactory

pytestmark = pytest.mark.timeout(400)

SCHEMA = {"id": "long not null", "n": "string", "at": "timestamp", "xs": "array<int>", "m": "decimal(6,2)"}
"""The schema of the source; the program reads all fields."""
COMPUTED = "id, CAST(n AS int) AS n, 100 / CAST(n AS int) AS r, at, xs[0] AS x, m"

JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)
NEAR_MISSES = st.fixed_dictionaries({}, optional=dict.fromkeys(SCHEMA, JSON_VALUES)).map(
    lambda v: json.dumps(v).encode()
)
CUT = st.integers(0, 40).map(lambda end: json.dumps({"id": 1, "n": "1", "xs": [1, 2], "m": 1.5}).encode()[:end])
POISON = st.binary(max_size=60) | JSON_VALUES.map(lambda v: json.dumps(v).encode()) | NEAR_MISSES | CUT
DEEP = [
    b"[" * 5_000,
    b'{"id":' * 5_000,
    b'{"xs":' + b"[" * 2_000 + b"]" * 2_000 + b"}",
    b'{"id": 1' + b"0" * 5_000 + b"}",
]


OF_A_PROCESSOR = ("lsql.batch", "lsql.id")
"""The headers of the records that a processor writes."""


def poison(count: int) -> list[bytes]:
    """The same bad records in each run."""
    values: list[bytes] = [*DEEP]

    @seed(7)
    @settings(max_examples=count, database=None, suppress_health_check=list(HealthCheck))
    @given(POISON)
    def collect(value: bytes) -> None:
        values.append(value)

    collect()
    return values


def good(number: int) -> bytes:
    return json.dumps({"id": number, "n": "7", "at": "2026-03-01T12:00:00Z", "xs": [number], "m": 1.25}).encode()


def declared(topic: str, **schema: object) -> str:
    return json.dumps({topic: {"value": {"format": "JSON", "schema": schema or SCHEMA}}})


def mixed(bad: Sequence[bytes]) -> list[Record]:
    """A good record after each that may be bad. Keys and headers are random bytes; a processor wrote the bad ones."""
    source = random.Random(3)
    records = []
    for number, value in enumerate(bad):
        own = (("h", source.randbytes(5)), ("h", None), ("", b""), ("lsql.ids", b"own"))
        headers = (own[0], ("lsql.id", b"upstream"), *own[1:], ("lsql.batch", b"another"))
        key = None if number % 7 == 0 else source.randbytes(number % 4)
        records.append(Record(key, value, headers=headers, partition=0, timestamp_ms=1_700_000_000_000 + number))
        records.append(Record(b"good", good(number), partition=0))
    return records


def test_bad_records_become_unchanged_dead_letters_and_the_processor_continues(
    broker: Broker, engine: SparkEngine, topic: TopicFactory, tmp_path: Path
) -> None:
    source, target, dead = topic(), topic(), f"dead-{uuid.uuid4().hex[:8]}"
    records = mixed(poison(600))
    broker.produce(source, records)
    sql = f"""SET autocreate=true; SET error.policy=dlq; SET dead.letter.queue='{dead}';
        INSERT INTO {target} SELECT STREAM {COMPUTED} FROM {source} WHERE 1000 / (id + 1) IS NOT NULL"""

    with in_process(engine, broker.bootstrap, sql, f"app-{dead}", tmp_path, LSQL_TOPICS=declared(source)) as running:
        status = running.read_to(len(records))

    assert (status.state, status.restarts, status.last_error) == (State.RUNNING, 0, None)
    written = [json.loads(r.value or b"")["x"] for r in broker.consume_all(target) if r.key == b"good"]
    assert written == list(range(len(records) // 2))
    dead_letters = broker.consume_all(dead)
    assert len(dead_letters) + len(broker.consume_all(target)) == len(records)
    assert len(dead_letters) == status.dead_letters > 300
    for dead_letter in dead_letters:
        error_headers = dict(dead_letter.headers)
        source_record = records[int(error_headers["lsql.error.offset"] or b"")]
        assert (dead_letter.key, dead_letter.value, dead_letter.timestamp_ms) == (
            source_record.key,
            source_record.value,
            source_record.timestamp_ms,
        )
        kept = tuple(header for header in source_record.headers if header[0] not in OF_A_PROCESSOR)
        assert dead_letter.headers[: len(kept)] == kept
        assert [name for name, _ in dead_letter.headers[len(kept) :]] == [
            *(f"lsql.error.{n}" for n in ("topic", "partition", "offset", "code", "message", "processor", "time")),
            *OF_A_PROCESSOR,
        ]
        assert (error_headers["lsql.batch"] or b"").startswith(f"app-{dead}/".encode())
        assert len(error_headers["lsql.id"] or b"") == 16
        assert (error_headers["lsql.error.topic"], error_headers["lsql.error.partition"]) == (source.encode(), b"0")
        assert error_headers["lsql.error.processor"] == f"app-{dead}".encode()
        assert b"\n" not in (error_headers["lsql.error.message"] or b"")


def test_the_processor_continues_after_bad_avro_records(
    broker: Broker, engine: SparkEngine, registry: Registry, topic: TopicFactory, tmp_path: Path
) -> None:
    source, target, dead = topic(), topic(), topic()
    schema = json.dumps({"type": "record", "name": "R", "fields": [{"name": "id", "type": "long"}]})
    schema_id = registry.register(f"{source}-value", schema)
    well = encoded(schema, schema_id, {"id": 5})
    bad = [
        b"",
        b"\0",
        b"\0\0\0\0\1",
        b"\0\xff\xff\xff\xff\1",
        well + b"\0",
        well[:5],
        well[:5] + b"\xff" * 11,
        b"{}",
        *poison(60),
    ]
    records = [Record(b"k", value) for one in bad for value in (one, well)]
    broker.produce(source, records)
    sql = f"""SET error.policy=dlq; SET dead.letter.queue='{dead}';
        INSERT INTO {target} STORE VALUE AS JSON SELECT STREAM id FROM {source}"""

    env = {"SQL_SCHEMA_REGISTRY_URL": registry.url}
    with in_process(engine, broker.bootstrap, sql, f"app-{dead}", tmp_path, **env) as running:
        status = running.read_to(len(records))

    assert (status.restarts, status.last_error) == (0, None)
    assert len(broker.consume_all(target)) == len(bad)
    assert [dead_letter.value for dead_letter in broker.consume_all(dead)] == bad


def test_a_record_too_large_for_its_target_is_a_dead_letter(
    broker: Broker, engine: SparkEngine, topic: TopicFactory, tmp_path: Path
) -> None:
    source, dead, target = topic(), topic(), f"small-{uuid.uuid4().hex[:8]}"
    text = random.Random(1).randbytes(2_000).hex()
    values = [json.dumps({"id": n, "n": "1" if n != 2 else text}).encode() for n in range(5)]
    broker.produce(source, [Record(b"k", value) for value in values])
    sql = f"""SET autocreate=true; SET topic.max.message.bytes=1000; SET error.policy.write=dlq;
        SET dead.letter.queue='{dead}'; INSERT INTO {target} SELECT STREAM id, n FROM {source}"""

    topics = declared(source, id="long", n="string")
    with in_process(engine, broker.bootstrap, sql, f"app-{dead}", tmp_path, LSQL_TOPICS=topics) as running:
        status = running.read_to(5)

    assert (status.restarts, status.last_error) == (0, None)
    assert [json.loads(r.value or b"")["id"] for r in broker.consume_all(target)] == [0, 1, 3, 4]
    [dead_letter] = broker.consume_all(dead)
    assert dead_letter.value == values[2]
    assert dict(dead_letter.headers)["lsql.error.code"] == b"RECORD_TOO_LARGE"
    assert status.failed_records == {("dead_letter", source, "RECORD_TOO_LARGE"): 1}


def test_a_dead_letter_too_large_for_its_queue_is_written_without_its_value(
    broker: Broker, engine: SparkEngine, topic: TopicFactory, tmp_path: Path
) -> None:
    source, target, dead = topic(), topic(), f"small-{uuid.uuid4().hex[:8]}"
    broker.produce(
        source, [Record(b"k", b'{"id": "' + random.Random(1).randbytes(2_000).hex().encode()), Record(b"k", good(1))]
    )
    sql = f"""SET autocreate=true; SET topic.max.message.bytes=1000; SET error.policy=dlq;
        SET dead.letter.queue='{dead}'; INSERT INTO {target} SELECT STREAM id FROM {source}"""

    with in_process(engine, broker.bootstrap, sql, f"app-{dead}", tmp_path, LSQL_TOPICS=declared(source)) as running:
        status = running.read_to(2)

    assert (status.restarts, status.last_error) == (0, None)
    [dead_letter] = broker.consume_all(dead)
    assert (dead_letter.key, dead_letter.value, dict(dead_letter.headers)["lsql.error.omitted"]) == (
        b"k",
        None,
        b"value",
    )
    assert len(broker.consume_all(target)) == 1


def test_an_aggregate_keeps_its_state_when_its_error_policy_changes(
    broker: Broker, engine: SparkEngine, topic: TopicFactory, tmp_path: Path
) -> None:
    source, target, dead = topic(), topic(), topic()
    insert = f"INSERT INTO {target} SELECT STREAM SUM(CAST(n AS int)) AS s FROM {source} WINDOW BY TUMBLE 1m GROUP BY g"
    topics = declared(source, g="string", n="string")

    def feed(*values: bytes) -> None:
        broker.produce(source, [Record(b"k", value, timestamp_ms=1_700_000_000_000) for value in values])

    def run(policy: str, position: int) -> Status:
        with in_process(
            engine, broker.bootstrap, f"{policy} {insert}", f"app-{target}", tmp_path, LSQL_TOPICS=topics
        ) as running:
            return running.read_to(position)

    feed(b'{"g":"a","n":"1"}')
    run("SET error.policy.write=fail;", 1)
    feed(b'{"g":"a","n":"x"}', b'{"g":"a","n":"2"}')
    dead_letters = run(f"SET error.policy.read=dlq; SET dead.letter.queue='{dead}';", 3)
    feed(b'{"g":"a","n":', b'{"g":"a","n":"4"}')
    skipped = run("SET error.policy.read=continue;", 5)
    feed(b'{"g":"a","n":"8"}', b"y")
    again = run(f"SET error.policy.read=dlq; SET dead.letter.queue='{dead}';", 7)

    changed = f"SET error.policy=dlq; SET dead.letter.queue='{dead}'; {insert}"
    with in_process(engine, broker.bootstrap, changed, f"app-{target}", tmp_path, LSQL_TOPICS=topics) as running:
        assert running.status.reason is not None
        assert running.status.reason.code == "STATE_INCOMPATIBLE"
    assert [json.loads(r.value or b"")["s"] for r in broker.consume_all(target)] == [1, 3, 7, 15]
    assert [r.value for r in broker.consume_all(dead)] == [b'{"g":"a","n":"x"}', b"y"]
    assert dead_letters.failed_records == {("dead_letter", source, "RECORD_REFUSED"): 1}
    assert skipped.failed_records == {("skipped", source, "RECORD_MALFORMED"): 1}
    assert again.failed_records == {("dead_letter", source, "RECORD_MALFORMED"): 1}


def test_a_registry_that_does_not_respond_causes_no_dead_letters(
    broker: Broker, registry: Registry, engine: SparkEngine, topic: TopicFactory, tmp_path: Path
) -> None:
    """Records have a schema that the processor does not know yet."""
    source, target, dead = topic(), topic(), topic()
    first = json.dumps({"type": "record", "name": "R", "fields": [{"name": "id", "type": "long"}]})
    second = json.dumps(
        json.loads(first) | {"fields": [{"name": "id", "type": "long"}, {"name": "b", "type": "int", "default": 1}]}
    )
    first_id, second_id = (registry.register(f"{source}-value", schema) for schema in (first, second))
    with RegistryProxy(registry.url) as proxy:
        broker.produce(source, [Record(b"k", encoded(first, first_id, {"id": 1}))])
        sql = f"""SET error.policy=dlq; SET dead.letter.queue='{dead}';
            INSERT INTO {target} STORE VALUE AS JSON SELECT STREAM id FROM {source}"""
        env = {"SQL_SCHEMA_REGISTRY_URL": proxy.url}
        with in_process(engine, broker.bootstrap, sql, f"app-{dead}", tmp_path, **env) as running:
            running.read_to(1)
            with proxy.silent():
                broker.produce(source, [Record(b"k", encoded(second, second_id, {"id": 2, "b": 1}))])
                running.wait_for(lambda s: s.state in (State.RESTARTING, State.WAITING), 120)
            running.read_to(2)
    assert broker.consume_all(dead) == []
    assert {json.loads(r.value or b"")["id"] for r in broker.consume_all(target)} == {1, 2}


def test_an_outage_of_a_broker_causes_no_dead_letters(engine: SparkEngine, tmp_path: Path) -> None:
    with Broker() as own:
        for name in ("source", "target", "dead"):
            own.create_topic(name)
        own.produce("source", [Record(b"k", good(1)), Record(b"k", b"poison")])
        sql = """SET error.policy=dlq; SET dead.letter.queue=dead;
            INSERT INTO target SELECT STREAM id FROM source"""
        topics = declared("source")
        with in_process(engine, own.bootstrap, sql, "app-away", tmp_path, LSQL_TOPICS=topics) as running:
            running.read_to(2)
            own.stop()
            running.wait_for(lambda s: s.broker_error is not None, 120)
            own.start()
            own.produce("source", [Record(b"k", good(2))])
            running.wait_for(lambda s: s.broker_error is None and sum(s.committed.values()) == 3, 120)
        assert [dead_letter.value for dead_letter in own.consume_all("dead")] == [b"poison"]
        assert {json.loads(r.value or b"")["id"] for r in own.consume_all("target")} == {1, 2}
