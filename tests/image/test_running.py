"""Containers of the image, with the limits and permissions of a pod."""

import json
import os
import re
import signal
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from devkit.broker import Broker
from devkit.container import MIB, Container
from devkit.records import Record
from lsql_runner.jvm.collector import FIRST_OLD_MIB
from tests.conftest import TopicFactory
from tests.image.conftest import ProcessorOptions, RunProcessor

pytestmark = pytest.mark.timeout(300)

STATELESS_MIB = 768
"""The chart's default of the memory limit."""
LOOP_S = 0.1
"""What `loop_s` is on the machine on which a start was measured."""


def reading(number: int) -> Record:
    return Record(b"k%d" % (number % 7), json.dumps({"id": number, "name": f"n{number}", "speed": number}).encode())


def filtering(source: str, target: str) -> str:
    return f"INSERT INTO {target} SELECT STREAM id, UPPER(name) AS name FROM {source} WHERE speed >= 0"


def counting(source: str, target: str) -> str:
    return f"INSERT INTO {target} SELECT STREAM COUNT(*) AS n FROM {source} WINDOW BY TUMBLE 1h"


def half_a_gigabyte(source: str, target: str) -> str:
    """A program that makes a record of half a gigabyte."""
    return f"INSERT INTO {target} SELECT STREAM id, LPAD(name, 500000000, '.') AS name FROM {source}"


def loop_s() -> float:
    """The processor time of a loop of Python, in seconds."""
    started = time.process_time()
    total = 0
    for number in range(5_000_000):
        total += number
    return time.process_time() - started


def mapped(pid: int, name: str) -> bool:
    """Whether a process has mapped a file with this name."""
    return any(line.rstrip().endswith(f"/{name}") for line in Path(f"/proc/{pid}/maps").read_text().splitlines())


def jvm_of(container: Container) -> int:
    return next(pid for pid in container.pids() if Path(f"/proc/{pid}/comm").read_text().strip() == "java")


def test_a_processor_runs_with_the_permissions_of_a_restricted_pod(
    broker: Broker, topic: TopicFactory, run_processor: RunProcessor
) -> None:
    source, target = topic("seen", partitions=2), topic("out")
    broker.produce(source, [reading(number) for number in range(1000)])

    with run_processor(ProcessorOptions(filtering(source, target), broker.bootstrap)) as processor:
        processor.wait_for(lambda s: s["recordsOut"] == 1000, "1000 records")
        users = {os.stat(f"/proc/{pid}").st_uid for pid in processor.container.pids()}

    assert users == {10001}
    assert processor.container.exit_code == 0
    assert {json.loads(record.value or b"")["id"] for record in broker.consume_all(target)} == set(range(1000))


@pytest.mark.parametrize(("program", "mode"), [(filtering, "continuous"), (counting, "real_time")])
def test_the_jvm_uses_the_ahead_of_time_cache(
    program: Callable[[str, str], str], mode: str, broker: Broker, topic: TopicFactory, run_processor: RunProcessor
) -> None:
    """With AOTMode=on, a JVM that cannot use its cache ends at once."""
    source, target = topic("seen"), topic("out")
    broker.produce(source, [reading(0)])
    logs = "-Xlog:class+load:file=/tmp/classes.log -Xlog:aot=info:file=/tmp/cache.log"
    required_cache = {"JAVA_OPTS": f"-XX:AOTMode=on {logs}"}

    with run_processor(ProcessorOptions(program(source, target), broker.bootstrap, env=required_cache)) as processor:
        processor.wait_for(lambda s: s["recordsOut"] == 1, "record")
        processor.wait_for(lambda s: [query["mode"] for query in s["queries"]] == [mode], mode)
        broker.produce(source, [reading(1)])
        processor.wait_for(lambda s: s["recordsOut"] == 2, "another record")

        assert mapped(jvm_of(processor.container), "classes.aot")
        loaded = (processor.container.folder / "tmp/classes.log").read_text().splitlines()
        [objects] = re.findall(
            r"Loaded heap +region .* size (\d+)", (processor.container.folder / "tmp/cache.log").read_text()
        )
    not_cached = [line for line in loaded if "source: shared objects file" not in line]
    assert len(loaded) > 15_000
    assert len(not_cached) < 1_000, f"{len(not_cached)} classes are not from the cache; the last: {not_cached[-5:]}"
    assert int(objects) < FIRST_OLD_MIB * 2**20 / 2, "a JVM whose heap is too small for these objects ends at its start"


def test_a_stateless_processor_uses_much_less_than_the_default_limit(
    broker: Broker, topic: TopicFactory, run_processor: RunProcessor
) -> None:
    count = 1_000_000
    source, target = topic("seen", partitions=4), topic("out", partitions=4)
    broker.produce(source, [reading(number) for number in range(count)])

    with run_processor(
        ProcessorOptions(filtering(source, target), broker.bootstrap, memory_mib=STATELESS_MIB)
    ) as processor:
        processor.wait_for(lambda s: s["recordsOut"] == count, f"{count} records")
        resident, anonymous = processor.container.resident_mib(), processor.container.anonymous_mib()

    assert resident < STATELESS_MIB - 64, f"{resident:.0f} MiB"
    assert anonymous < STATELESS_MIB - 160, f"{anonymous:.0f} MiB that the kernel cannot take back"


def test_the_first_record_takes_a_few_seconds_on_one_core(
    broker: Broker, topic: TopicFactory, run_processor: RunProcessor
) -> None:
    """Five seconds on an idle machine. The test limits processor time, which other work on the machine affects less.

    A machine that is slower, or whose cores are shared, may use more of it, as a loop of Python does there.
    """
    source, target = topic("seen", partitions=2), topic("out")
    broker.produce(source, [reading(number) for number in range(1000)])

    with run_processor(ProcessorOptions(filtering(source, target), broker.bootstrap, cpus=1)) as processor:
        processor.wait_for(lambda s: s["recordsOut"] == 1000, "1000 records")
        spent = processor.container.cpu_s()

    slower = loop_s() / LOOP_S
    assert spent < 9 * max(1, slower), f"{spent:.1f} s of processor time; a loop takes {slower:.1f} times as long"


def test_a_heap_that_is_too_small_is_reported_and_ends_the_container(
    broker: Broker, topic: TopicFactory, run_processor: RunProcessor
) -> None:
    source, target = topic("seen"), topic("out")
    broker.produce(source, [reading(0)])

    with run_processor(ProcessorOptions(half_a_gigabyte(source, target), broker.bootstrap)) as processor:
        code = processor.container.wait(90)

    assert code == 3
    assert "JVM_GONE" in processor.container.output()
    assert "too small" in processor.container.output()


@pytest.mark.parametrize(
    "greedy",
    [
        pytest.param({"LSQL_HEAP_MIB": "4096"}, id="while it runs"),
        pytest.param({"JAVA_OPTS": "-Xms1g -Xmx1g -XX:+AlwaysPreTouch"}, id="at start"),
    ],
)
def test_a_kill_for_lack_of_memory_is_reported(
    broker: Broker, topic: TopicFactory, run_processor: RunProcessor, greedy: dict[str, str]
) -> None:
    """With a heap larger than the container, set by hand, and a record that fills it, the kernel kills the JVM.

    It may also kill the child process while it frees the memory of the JVM; the remaining process reports it.
    """
    source, target = topic("seen"), topic("out")
    broker.produce(source, [reading(0)])
    options = ProcessorOptions(
        half_a_gigabyte(source, target), broker.bootstrap, memory_mib=640, env=greedy, may_die_early=True
    )

    with run_processor(options) as processor:
        code = processor.container.wait(90)

    assert code == 3
    assert (
        "the kernel killed it because the container reached its memory limit of 640 MiB" in processor.container.output()
    )


def test_the_heap_is_derived_from_the_memory_limit(
    broker: Broker, topic: TopicFactory, run_processor: RunProcessor
) -> None:
    source, target = topic("seen"), topic("out")
    broker.produce(source, [reading(0)])

    with run_processor(ProcessorOptions(filtering(source, target), broker.bootstrap, memory_mib=1536)) as processor:
        processor.wait_for(lambda s: s["recordsOut"] == 1, "record")
        arguments = Path(f"/proc/{jvm_of(processor.container)}/cmdline").read_text().split("\0")

    heap = next(int(argument[4:-1]) for argument in arguments if argument.startswith("-Xmx"))
    assert 600 * MIB < heap * MIB < (1536 - 256) * MIB


def test_temporary_files_that_cannot_be_executed_are_reported_at_the_start(run_processor: RunProcessor) -> None:
    """As in all containers, /dev/shm is mounted with noexec. Without the check, the first batch with state would fail,
    again and again."""
    options = ProcessorOptions(filtering("a", "b"), "127.0.0.1:1", env={"TMPDIR": "/dev/shm"}, may_die_early=True)

    with run_processor(options) as processor:
        code = processor.container.wait(30)

    assert code == 1
    assert '"code": "TEMPORARY_FOLDER_NOEXEC"' in processor.container.output()


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_it_gracefully(
    broker: Broker, topic: TopicFactory, run_processor: RunProcessor, number: signal.Signals
) -> None:
    source, target = topic("seen"), topic("out")
    broker.produce(source, [reading(0)])

    with run_processor(ProcessorOptions(filtering(source, target), broker.bootstrap)) as processor:
        processor.wait_for(lambda s: s["recordsOut"] == 1, "record")
        processor.container.signal(number.name.removeprefix("SIG"))

        assert processor.container.wait(45) == 0


def test_a_new_secret_restarts_the_container(
    broker: Broker, topic: TopicFactory, run_processor: RunProcessor, tmp_path: Path
) -> None:
    """In a pod the kubelet restarts the container; this test shows its end."""
    source, target = topic("seen"), topic("out")
    broker.produce(source, [reading(0)])
    secret = tmp_path / "state" / "scope"
    secret.parent.mkdir()
    secret.write_text("old")
    inside = {"SASL_OAUTHBEARER_SCOPE_FILE": "/var/lib/lsql-runner/scope"}

    with run_processor(
        ProcessorOptions(filtering(source, target), broker.bootstrap, state=secret.parent, env=inside)
    ) as processor:
        processor.wait_for(lambda s: s["recordsOut"] == 1, "record")
        secret.write_text("new")

        assert processor.container.wait(60) == 0
    assert "a settings file changed" in processor.container.output()
