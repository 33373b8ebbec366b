"""Records with odd timestamps: of clocks that count nanoseconds, without a timestamp, ahead of what a topic accepts.

Only a broker has the limits of topics, and refuses records because of them.
"""

import json
import time
from pathlib import Path
from typing import Any

import pytest

from devkit.broker import Broker
from devkit.in_process import in_process
from devkit.records import Record
from lsql_runner.engine.processor import SparkEngine
from tests.conftest import TopicFactory

pytestmark = pytest.mark.timeout(300)

ANY_TIME = {"message.timestamp.after.max.ms": str(2**63 - 1), "retention.ms": "-1"}
DAY_MS = 86_400_000
NANOSECONDS = 1_700_000_000_000_000_000


def now_ms() -> int:
    return time.time_ns() // 1_000_000


def record(at_ms: int, **value: Any) -> Record:
    return Record(b"k", json.dumps({"u": "a", **value}).encode(), timestamp_ms=at_ms)


MODES = pytest.mark.parametrize("mode", ["batch", "continuous"])


@MODES
def test_a_program_that_does_not_compute_with_the_time_copies_it(
    mode: str, broker: Broker, engine: SparkEngine, topic: TopicFactory, tmp_path: Path
) -> None:
    source, target = topic(config=ANY_TIME), topic(config=ANY_TIME)
    times = [NANOSECONDS, 2**63 - 1, 9_223_372_036_854_776, 1, -1]
    broker.produce(source, [record(at) for at in times])
    sql = f"SET processing.mode={mode}; INSERT INTO {target} SELECT STREAM * FROM {source}"

    with in_process(engine, broker.bootstrap, sql, f"copy-{source}", tmp_path) as running:
        running.read_to(len(times))

    assert [written.timestamp_ms for written in broker.consume_all(target)] == times


@MODES
@pytest.mark.parametrize("at_ms", [NANOSECONDS, "ahead"])
def test_a_time_that_the_target_does_not_accept_is_refused_with_its_place(
    mode: str, at_ms: int | str, broker: Broker, engine: SparkEngine, topic: TopicFactory, tmp_path: Path
) -> None:
    source, target = topic(config=ANY_TIME), topic()
    odd = now_ms() + 2 * DAY_MS if isinstance(at_ms, str) else at_ms
    broker.produce(source, [record(now_ms()), record(odd)])
    sql = f"SET processing.mode={mode}; INSERT INTO {target} SELECT STREAM * FROM {source}"

    with in_process(engine, broker.bootstrap, sql, f"refuse-{source}", tmp_path) as running:
        status = running.wait_for(lambda s: s.state.value == "failed")

    assert status.reason is not None
    assert status.reason.code == "RECORD_REFUSED"
    assert (status.reason.params["topic"], status.reason.params["offset"]) == (source, 1)
    assert "message.timestamp.after.max.ms" in str(status.reason.params["reason"])


@pytest.mark.parametrize(("mode", "stateful"), [("batch", False), ("continuous", False), ("batch", True)])
def test_a_record_with_an_odd_time_becomes_a_dead_letter(
    mode: str, stateful: bool, broker: Broker, engine: SparkEngine, topic: TopicFactory, tmp_path: Path
) -> None:
    """The dead letter topic does not accept its time, either."""
    source, target, letters = topic(config=ANY_TIME), topic(), topic()
    broker.produce(source, [record(now_ms()), record(NANOSECONDS), record(now_ms())])
    select = "COUNT(*) AS n FROM {} WINDOW BY TUMBLE 1m GROUP BY u" if stateful else "* FROM {}"
    sql = (
        f"SET processing.mode={mode}; SET error.policy=dlq; SET dead.letter.queue='{letters}'; "
        f"INSERT INTO {target} SELECT STREAM {select.format(source)}"
    )

    with in_process(engine, broker.bootstrap, sql, f"dlq-{source}", tmp_path) as running:
        running.read_to(3)
        status = running.wait_for(lambda s: bool(s.failed_records))

    assert list(status.failed_records.values()) == [1]
    assert len(list(broker.consume_all(target))) == (1 if stateful else 2)
    [letter] = broker.consume_all(letters)
    headers = dict(letter.headers)
    assert headers["lsql.error.code"] == b"RECORD_REFUSED"
    assert headers["lsql.error.offset"] == b"1"
    assert headers["lsql.error.timestamp"] == str(NANOSECONDS).encode()
    assert abs((letter.timestamp_ms or 0) - now_ms()) < DAY_MS
