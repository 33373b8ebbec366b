"""Makes the JVM's class archive: `train.py <file>`; an ahead-of-time cache (JDK 25) if the file ends in `.aot`.

A JVM with the archive does not read, check and link some twenty thousand classes again, which takes half of the time
to the first record. A processor that runs with a broker makes the archive: filters, a windowed count, checkpoints,
positions, then the filters in the continuous mode, and queries with state in real time. With another JVM or other jars
than those of the training, the JVM ignores it.
"""

import json
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from functools import partial
from itertools import count
from pathlib import Path

from devkit.broker import Broker
from devkit.records import Record
from lsql_runner.engine.broker_channel import SparkChannel
from lsql_runner.engine.processor import SparkEngine
from lsql_runner.events.batches import Partition
from lsql_runner.jvm.spark_jvm import SparkJvm
from lsql_runner.kafka.java_brokers import JavaBrokers
from lsql_runner.kafka.ports import TopicRequest
from lsql_runner.service import jvm_options, processor_without_api
from lsql_runner.start.request import StartRequest, read_request

FILTERS = """
INSERT INTO fast SELECT STREAM id, UPPER(name) AS name, speed * 2 AS speed, at FROM readings
  WHERE speed > 1 AND name LIKE 'n%';
INSERT INTO all_of_it SELECT STREAM *, speed AS again FROM readings;
"""
COUNTS = """
INSERT INTO counts SELECT STREAM name, COUNT(*) AS n, AVG(speed) AS mean FROM readings
  WINDOW BY TUMBLE 1m GROUP BY name;
"""
REAL_TIME = """
WITH names AS (SELECT TABLE name FROM names_by_key);
INSERT INTO visits SELECT STREAM name, COUNT(*) AS n FROM readings WINDOW BY SESSION 10s GROUP BY name;
INSERT INTO named SELECT STREAM r.id AS id, n.name AS name FROM readings AS r JOIN names AS n ON r._key = n._key;
"""
RUNS = {"batch": (FILTERS + COUNTS, 24), "continuous": (FILTERS, 3), "auto": (COUNTS + REAL_TIME, 9)}
"""By processing mode: the program, and the number of batches of all its queries, or of reports of a continuous query.
The first loads the classes; with the others the JVM finds the methods that are called often.
"""
TOPICS = ("readings", "names_by_key", "fast", "all_of_it", "counts", "visits", "named")

RECORDS = 2_000
"""Records per micro-batch."""

DEADLINE_S = 240.0
EXIT_S = 300.0
"""The time in which the JVM must end, in seconds: it writes the archive then."""


def reading(number: int) -> Record:
    """A record of the source topic."""
    name = f"n{number % 7}"
    body = {"id": number, "name": name, "speed": number / 2, "at": 1_700_000_000_000 + number}
    return Record(name.encode(), json.dumps(body).encode())


def train(archive: Path) -> None:
    """Run the program until it has written some batches; the JVM writes the archive when it ends."""
    numbers = count()
    with Broker() as broker, tempfile.TemporaryDirectory() as state:
        for topic in TOPICS:
            broker.create_topic(topic, partitions=2)

        def feed() -> None:
            broker.produce("readings", [reading(next(numbers)) for _ in range(RECORDS)])
            broker.produce("names_by_key", [reading(next(numbers))])

        feed()
        first, *_ = runs = [request_for(mode, broker.bootstrap, state) for mode in RUNS]
        options = replace(
            jvm_options(first.settings), class_archive=None, java_options=archive_options(archive), exit_s=EXIT_S
        )
        jvm = SparkJvm(options)
        with closing(SparkEngine("training", jvm, first.settings.threads)) as engine:
            send_requests(JavaBrokers(first.settings.connection, partial(SparkChannel, jvm)))
            for request, (_, batches) in zip(runs, RUNS.values(), strict=True):
                run(engine, request, batches, feed)
    if not archive.exists():
        raise SystemExit(f"training: the JVM has written no {archive}")


def request_for(mode: str, bootstrap: str, state: str) -> StartRequest:
    """The request for a processor that runs the program of a mode."""
    return read_request(
        {
            "SQL": f"SET processing.mode='{mode}';{RUNS[mode][0]}",
            "SQL_APP_ID": f"training-{mode}",
            "SQL_BOOTSTRAP_SERVERS": bootstrap,
            "SQL_STATE_STORE_DIR": state,
            "SQL_METRIC_FREQUENCY": "500",
        }
    )


def send_requests(brokers: JavaBrokers) -> None:
    """Send the requests of a start. With Kerberos and Java key stores, a processor sends them in the JVM."""
    with closing(brokers):
        partitions = [Partition(topic, 0) for topic in brokers.topics()]
        brokers.sample("readings", 10)
        brokers.topic_ids(["readings"])
        brokers.check_create(TopicRequest("created", 1, 1))
        brokers.check_group("training")
        brokers.begins(partitions)
        brokers.limits(["fast"])
        brokers.commit("training", {partitions[0]: 0})
        brokers.group_positions("training", partitions)


def run(engine: SparkEngine, request: StartRequest, batches: int, feed: Callable[[], None]) -> None:
    """Run a processor until it has reported a number of batches; write records after each."""
    with processor_without_api(engine, request, lambda: None) as supervisor:
        deadline = time.monotonic() + DEADLINE_S
        done = 0
        while (ended := supervisor.status().batches) < batches:
            if time.monotonic() > deadline:
                raise SystemExit(f"training: {ended} batches in {DEADLINE_S:.0f} s: {supervisor.status()}")
            if ended > done:
                done = ended
                feed()
            time.sleep(0.1)


_NO_PROFILES = ("-XX:+UnlockDiagnosticVMOptions", "-XX:-AOTRecordTraining")
"""No start uses the compilers' profiles (`_NO_PROFILES` in jvm/spark_jvm.py), so the cache is made without them."""


def archive_options(archive: Path) -> tuple[str, ...]:
    """The options of a JVM that writes an archive when it ends."""
    if archive.suffix == ".aot":
        return (f"-XX:AOTCacheOutput={archive}", *_NO_PROFILES, "-Xlog:aot=off", "-Xlog:cds=off")
    return (f"-XX:ArchiveClassesAtExit={archive}", "-Xlog:cds=off", "-Xlog:cds+dynamic=off")


if __name__ == "__main__":
    train(Path(sys.argv[1]))
