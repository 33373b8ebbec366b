"""Kafka's Java client in the small JVM and in that of Spark: when it starts, ends and restarts."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import pytest
from py4j.protocol import Py4JJavaError  # type: ignore[import-untyped]

from ci.tools.ports import free_port
from devkit.broker import Broker
from devkit.broker_clients import java_brokers, spark_brokers
from devkit.jars import jar_folder
from devkit.process import POLL_S
from lsql_runner.engine.broker_channel import SparkChannel
from lsql_runner.engine.processor import SparkEngine
from lsql_runner.errors import LsqlError
from lsql_runner.events.batches import Partition
from lsql_runner.jvm.call import java_class
from lsql_runner.kafka.channel import ChannelTimeoutError
from lsql_runner.kafka.connection import KafkaConnection
from lsql_runner.kafka.java_brokers import JavaBrokers
from lsql_runner.kafka.java_process import JavaProcess

pytestmark = pytest.mark.timeout(120)

# Connects to unreachable brokers, prints the JVM's process id, and is killed while it waits.
WAITS_FOR_BROKERS = """
import sys
from pathlib import Path
from threading import Thread
from lsql_runner.kafka.connection import KafkaConnection
from lsql_runner.kafka.broker_jvm import BrokerJvm
from lsql_runner.kafka.java_brokers import JavaBrokers
process = BrokerJvm(Path(sys.argv[2])).start()
brokers = JavaBrokers(KafkaConnection(sys.argv[1]), lambda: process, 30)
Thread(target=brokers.topics).start()
print(process.pid, flush=True)
"""


@pytest.fixture
def brokers(broker: Broker) -> Iterator[JavaBrokers]:
    with closing(java_brokers(KafkaConnection(broker.bootstrap))) as opened:
        yield opened


def pid_of(brokers: JavaBrokers) -> int:
    process = brokers._channel
    assert isinstance(process, JavaProcess)
    return process.pid


def ended(pid: int, deadline_s: float = 20) -> bool:
    """Whether a process ends within the deadline."""
    deadline = time.monotonic() + deadline_s
    while Path(f"/proc/{pid}").exists() and Path(f"/proc/{pid}/stat").read_text().split(") ")[1][0] != "Z":
        if time.monotonic() > deadline:
            return False
        time.sleep(POLL_S)
    return True


def test_a_killed_jvm_is_started_again_by_the_next_request(brokers: JavaBrokers) -> None:
    first = pid_of(brokers)
    os.kill(first, signal.SIGKILL)
    assert ended(first)

    assert isinstance(brokers.topics(), dict)
    assert pid_of(brokers) != first


def test_a_jvm_that_does_not_respond_is_killed(broker: Broker) -> None:
    with closing(java_brokers(KafkaConnection(broker.bootstrap), 0.5)) as brokers:
        frozen = pid_of(brokers)
        os.kill(frozen, signal.SIGSTOP)

        with pytest.raises(LsqlError) as caught:
            brokers.topics()

        assert caught.value.code == "BROKER_UNREACHABLE"
        assert ended(frozen)


def test_the_jvm_ends_with_its_client_and_leaves_no_files(
    broker: Broker, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    brokers = java_brokers(KafkaConnection(broker.bootstrap))
    pid = pid_of(brokers)
    assert list(tmp_path.iterdir())

    brokers.close()
    brokers.close()

    assert ended(pid, 0)
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(LsqlError) as caught:
        brokers.ends([Partition("any", 0)])
    assert caught.value.code == "BROKER_UNREACHABLE"


def test_the_jvm_ends_when_the_process_that_started_it_is_killed_even_while_it_waits_for_brokers(
    tmp_path: Path,
) -> None:
    command = [sys.executable, "-c", WAITS_FOR_BROKERS, f"127.0.0.1:{free_port()}", str(jar_folder("jars"))]
    env = {**os.environ, "TMPDIR": str(tmp_path)}
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=env) as process:
        assert process.stdout is not None
        pid = int(process.stdout.readline())
        process.kill()

    assert ended(pid, 15)


def requests_of_spark() -> int:
    """The number of threads in the JVM of Spark that execute requests, or belong to their clients."""
    threads = java_class("java.lang.Thread").getAllStackTraces().keySet()
    return sum(thread.getName().startswith(("broker-requests", "kafka-admin-client")) for thread in threads)


def test_a_request_in_the_jvm_of_spark_ends_with_its_client(engine: SparkEngine) -> None:
    before = requests_of_spark()
    nobody = spark_brokers(engine._jvm)(KafkaConnection(f"127.0.0.1:{free_port()}"), 30)
    with ThreadPoolExecutor(1) as pool:
        asked = pool.submit(nobody.topics)
        while requests_of_spark() == before:
            time.sleep(POLL_S)
        nobody.close()
        error = asked.exception(timeout=10)

    assert isinstance(error, LsqlError)
    assert error.code == "BROKER_UNREACHABLE"
    deadline = time.monotonic() + 10
    while requests_of_spark() > before:
        assert time.monotonic() < deadline
        time.sleep(POLL_S)


def test_a_channel_that_does_not_answer_in_time_is_not_used_again(engine: SparkEngine) -> None:
    channel = SparkChannel(engine._jvm)
    with closing(channel):
        with pytest.raises(ChannelTimeoutError):
            channel._line(0.1)  # nothing was asked

        assert not channel.runs


def test_an_error_of_a_living_jvm_is_not_taken_for_a_missing_answer(engine: SparkEngine) -> None:
    with closing(SparkChannel(engine._jvm)) as channel, pytest.raises(Py4JJavaError, match="NullPointerException"):
        channel._send(None)  # type: ignore[arg-type]


def test_a_partition_without_an_end_offset_has_no_leader(brokers: JavaBrokers, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(brokers, "_request", lambda _: [["seen", 2, -1]])

    with pytest.raises(LsqlError) as caught:
        brokers.ends([Partition("seen", 2)])

    assert (caught.value.code, caught.value.params["reason"]) == (
        "BROKER_UNREACHABLE",
        "no leader for seen, partition 2",
    )


@pytest.mark.parametrize(
    ("security", "why"),
    [
        ({"security.protocol": "SASL_PLAINTEXT", "sasl.mechanism": "NONESUCH"}, "JAAS"),
        ({"security.protocol": "SSL", "ssl.truststore.location": "/nowhere.jks"}, "the file does not exist"),
        (
            {
                "security.protocol": "SASL_PLAINTEXT",
                "sasl.mechanism": "PLAIN",
                "sasl.jaas.config": "com.example.Login required;",
            },
            "com.example.Login",
        ),
        (
            {
                "security.protocol": "SASL_PLAINTEXT",
                "sasl.mechanism": "PLAIN",
                "sasl.client.callback.handler.class": "com.example.Handler",
            },
            "com.example.Handler",
        ),
    ],
)
@pytest.mark.parametrize("jvm", ["small", "spark"])
def test_settings_that_the_java_client_cannot_use_are_refused(
    engine: SparkEngine, jvm: str, security: dict[str, str], why: str
) -> None:
    open_client = java_brokers if jvm == "small" else spark_brokers(engine._jvm)

    with pytest.raises(LsqlError) as caught:
        open_client(KafkaConnection("127.0.0.1:1", tuple(security.items())))

    assert caught.value.code == "KAFKA_SETTINGS_INVALID"
    assert why in str(caught.value.params["reason"])
    assert "xception" not in str(caught.value.params["reason"])
