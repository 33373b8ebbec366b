"""`lsql test --kafka`: what it creates on the brokers and in the registry, what it reports, and its cleanup."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing
from dataclasses import dataclass
from pathlib import Path
from xml.etree import ElementTree

import pytest
from confluent_kafka.admin import AclOperation, AdminClient, ResourceType  # type: ignore[attr-defined]

from ci.tools.ports import free_port
from devkit.access_rules import USER, allow
from devkit.broker import Broker
from devkit.records import Record
from devkit.registry import Registry
from lsql_runner.cases.case_run import run_case
from lsql_runner.cases.load import load_case
from lsql_runner.cases.on_kafka import KafkaCases
from lsql_runner.config.settings import read_settings
from lsql_runner.engine.processor import SparkEngine
from lsql_runner.errors import LsqlError
from lsql_runner.kafka.librdkafka import LibrdkafkaBrokers
from lsql_runner.kafka.registry import RestRegistry

pytestmark = pytest.mark.timeout(240)

LSQL = Path(sys.prefix, "bin", "lsql")
PASSWORD = "right"

CASE = """
sql: |
  SET autocreate=true;
  SET partitions=2;
  INSERT INTO {out} STORE VALUE AS AVRO SELECT STREAM plate, speed * 2 AS twice FROM {source} WHERE speed > 10
topics:
  {source}:
    key: {{format: STRING}}
    value:
      format: AVRO
      schema:
        type: record
        name: V
        fields: [{{name: plate, type: string}}, {{name: speed, type: int, default: 60}}]
      writers:
        old: {{type: record, name: V, fields: [{{name: plate, type: string}}]}}
input:
  - {{topic: {source}, key: a, timestamp: 0, value: {{plate: a, speed: 20}}}}
  - {{topic: {source}, key: b, value: {{plate: b, speed: 5}}}}
  - batch: the next
  - {{topic: {source}, key: c, value_writer: old, value: {{plate: c}}}}
expect:
  - {{topic: {out}, key: a, timestamp: 0, value: {{plate: a, twice: {twice}}}}}
  - {{topic: {out}, key: c, value: {{plate: c, twice: 120}}}}
"""
STRING_CASE = """
sql: SET autocreate=true; INSERT INTO {out} SELECT STREAM n + 1 AS n FROM {source}
topics:
  {source}: {{key: {{format: STRING}}, value: {{format: JSON, schema: {{n: long}}}}}}
input:
  - {{topic: {source}, key: a, value: {{n: 1}}}}
expect:
  - {{topic: {out}, key: a, value: {{n: 2}}}}
"""


@dataclass(frozen=True)
class CaseFile:
    """A case file with unique names of topics."""

    path: Path
    source: str
    out: str

    @property
    def subjects(self) -> list[str]:
        return [f"{self.source}-value", f"{self.out}-value"]


WriteCase = Callable[..., CaseFile]


@pytest.fixture
def write_case(tmp_path: Path) -> WriteCase:
    """Writes a case file."""

    def write(text: str = CASE, twice: int = 40) -> CaseFile:
        mark = uuid.uuid4().hex[:8]
        file = CaseFile(tmp_path / f"{mark}.case.yaml", f"in-{mark}", f"out-{mark}")
        file.path.write_text(text.format(source=file.source, out=file.out, twice=twice), encoding="utf-8")
        return file

    return write


@dataclass(frozen=True)
class BrokersAndRegistry:
    """The names of topics, groups and subjects, to find what a run leaves behind."""

    broker: Broker
    registry: Registry

    def names(self) -> set[str]:
        admin = AdminClient({"bootstrap.servers": self.broker.bootstrap})
        topics = admin.list_topics(timeout=30).topics
        groups = admin.list_consumer_groups().result(30).valid
        return {
            *(name for name in topics if not name.startswith("__")),
            *(group.group_id for group in groups if group.group_id.startswith("lsql-test")),
            *self.registry.request("GET", "/subjects?deleted=true"),
        }


@pytest.fixture
def resources(broker: Broker, registry: Registry) -> BrokersAndRegistry:
    return BrokersAndRegistry(broker, registry)


@pytest.fixture
def unchanged(resources: BrokersAndRegistry) -> Iterator[None]:
    """Afterwards the same topics, groups and subjects exist as before."""
    before = resources.names()
    yield
    assert resources.names() == before


def run_lsql_test(*arguments: str | Path, **env: str) -> subprocess.CompletedProcess[str]:
    argv = [str(LSQL), "test", *map(str, arguments)]
    return subprocess.run(argv, env=dict(os.environ) | env, capture_output=True, text=True, timeout=200, check=False)


def on_brokers(broker: Broker, registry: Registry) -> list[str]:
    return ["--kafka", broker.bootstrap, "--registry", registry.url]


# --- the command ---


@pytest.mark.usefixtures("unchanged")
def test_cases_run_on_brokers_and_everything_is_deleted(
    broker: Broker, registry: Registry, write_case: WriteCase, tmp_path: Path
) -> None:
    good, wrong, report = write_case(), write_case(twice=41), tmp_path / "report.xml"

    result = run_lsql_test(good.path, wrong.path, *on_brokers(broker, registry), "--junit", report)

    assert (result.returncode, result.stderr) == (1, "")
    lines = result.stdout.splitlines()
    assert re.fullmatch(rf"ok      {good.path.name.split('.')[0]} \(\d+\.\d s\)", lines[0])
    assert lines[1:6] == [
        f"FAILED  {wrong.path.name.split('.')[0]} ({wrong.path})",
        f'    {wrong.out}, key "a": - expected, + found',
        '      - {"plate": "a", "twice": 41}  timestamp 0',
        '      + {"plate": "a", "twice": 40}  timestamp 0',
        "1 passed, 1 failed",
    ]
    suite = ElementTree.parse(report).getroot()
    assert (suite.get("tests"), suite.get("failures")) == ("2", "1")
    assert [case.findtext("failure") is None for case in suite] == [True, False]


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
@pytest.mark.usefixtures("unchanged")
def test_a_signal_ends_a_run_and_everything_is_deleted(
    broker: Broker, registry: Registry, write_case: WriteCase, resources: BrokersAndRegistry, number: int, code: int
) -> None:
    file = write_case()
    argv = [str(LSQL), "test", str(file.path), *on_brokers(broker, registry)]
    running = subprocess.Popen(argv, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    deadline = time.monotonic() + 120
    while not {file.source, file.subjects[0]} <= resources.names():
        assert running.poll() is None, running.communicate()
        assert time.monotonic() < deadline
        time.sleep(0.05)

    running.send_signal(number)
    out, err = running.communicate(timeout=120)

    assert (running.returncode, out, err) == (code, "", "")


def test_unreachable_brokers_are_reported_without_a_stack_trace(write_case: WriteCase) -> None:
    result = run_lsql_test(write_case(STRING_CASE).path, "--kafka", f"127.0.0.1:{free_port()}")

    assert (result.returncode, result.stdout, result.stderr.split(":")[0]) == (3, "", "BROKER_UNREACHABLE")
    assert "Traceback" not in result.stderr


@pytest.fixture(scope="module")
def secured() -> Iterator[Broker]:
    with Broker(users={USER: PASSWORD}) as own:
        yield own


def credentials(broker: Broker, password: str) -> dict[str, str]:
    """Environment variables of a user who has only the permissions of access rules."""
    return {
        "SQL_BOOTSTRAP_SERVERS": broker.addresses["secured"],
        "SECURITY_PROTOCOL": "SASL_PLAINTEXT",
        "SASL_MECHANISM": "PLAIN",
        "SASL_USERNAME": USER,
        "SASL_PASSWORD": password,
    }


def test_wrong_credentials_are_reported_without_a_stack_trace(secured: Broker, write_case: WriteCase) -> None:
    env = credentials(secured, "wrong")

    result = run_lsql_test(write_case(STRING_CASE).path, "--kafka", secured.addresses["secured"], **env)

    assert (result.returncode, result.stdout, result.stderr.split(":")[0]) == (3, "", "BROKER_REFUSED")
    assert "Traceback" not in result.stderr


# --- topics and subjects ---

OpenCases = Callable[..., KafkaCases]


@pytest.fixture
def open_cases(engine: SparkEngine) -> Iterator[OpenCases]:
    """Opens engines for cases, with environment variables of a processor; their warnings fail the test."""
    with ExitStack() as stack:

        def cases(warned: list[str] | None = None, **env: str) -> KafkaCases:
            settings = read_settings({"SQL": ""} | env)
            brokers = stack.enter_context(closing(LibrdkafkaBrokers(settings.connection, 5)))
            known = settings.registry
            schemas = None if known is None else stack.enter_context(closing(RestRegistry(known, 5)))
            return KafkaCases(
                settings=settings,
                engine=engine,
                brokers=brokers,
                registry=schemas,
                warn=pytest.fail if warned is None else warned.append,
            )

        yield cases


@pytest.fixture
def cases(open_cases: OpenCases, broker: Broker, registry: Registry) -> KafkaCases:
    return open_cases(SQL_BOOTSTRAP_SERVERS=broker.bootstrap, SQL_SCHEMA_REGISTRY_URL=registry.url)


def refusal(file: CaseFile, cases: KafkaCases) -> LsqlError:
    with pytest.raises(LsqlError) as caught:
        run_case(load_case(file.path), cases)
    assert str(caught.value)  # every sentence has its values
    return caught.value


@pytest.mark.parametrize("which", ["source", "out"])
def test_an_existing_topic_is_refused_and_not_changed(
    cases: KafkaCases, broker: Broker, write_case: WriteCase, which: str
) -> None:
    file = write_case()
    topic = getattr(file, which)
    broker.create_topic(topic)
    broker.produce(topic, [Record(b"k", b"theirs")])
    try:
        error = refusal(file, cases)
        left = broker.consume_all(topic)
    finally:
        broker.delete_topic(topic)

    assert (error.code, error.params["resource"], error.params["name"]) == ("CASE_CONFLICT", "topic", topic)
    assert [record.value for record in left] == [b"theirs"]


@pytest.mark.parametrize("which", [0, 1])
@pytest.mark.usefixtures("unchanged")
def test_an_existing_subject_is_refused_and_not_changed(
    cases: KafkaCases, registry: Registry, write_case: WriteCase, which: int
) -> None:
    file = write_case()
    subject = file.subjects[which]
    registry.register(subject)
    try:
        error = refusal(file, cases)
        versions = registry.versions(subject)
    finally:
        registry.delete(subject)
        registry.delete_permanently(subject)

    assert (error.code, error.params["resource"], error.params["name"]) == ("CASE_CONFLICT", "subject", subject)
    assert versions == [1]


@pytest.mark.usefixtures("unchanged")
def test_a_subject_that_is_only_soft_deleted_is_refused_and_not_changed(
    cases: KafkaCases, registry: Registry, write_case: WriteCase
) -> None:
    """Its permanent deletion would also delete the versions that existed before."""
    file = write_case()
    subject = file.subjects[0]
    registry.register(subject)
    registry.delete(subject)
    try:
        error = refusal(file, cases)
        left = registry.request("GET", f"/subjects/{subject}/versions?deleted=true")
    finally:
        registry.delete_permanently(subject)

    assert (error.code, error.params["resource"], error.params["name"]) == ("CASE_CONFLICT", "subject", subject)
    assert left == [1]


@pytest.mark.usefixtures("unchanged")
def test_avro_needs_a_registry(open_cases: OpenCases, broker: Broker, write_case: WriteCase) -> None:
    file = write_case()

    error = refusal(file, open_cases(SQL_BOOTSTRAP_SERVERS=broker.bootstrap))

    assert (error.code, error.params["topic"]) == ("REGISTRY_MISSING", file.source)


@pytest.mark.usefixtures("unchanged")
def test_only_subjects_remain_if_the_registry_becomes_unavailable(
    open_cases: OpenCases, broker: Broker, write_case: WriteCase
) -> None:
    """It becomes unavailable between the check of its subjects and their registration."""
    warned: list[str] = []
    with Registry() as own:
        cases = open_cases(warned, SQL_BOOTSTRAP_SERVERS=broker.bootstrap, SQL_SCHEMA_REGISTRY_URL=own.url)
        registry = cases._registry
        assert registry is not None
        is_taken = registry.is_taken

        def request_and_stop(subject: str) -> bool:
            taken = is_taken(subject)
            if subject.startswith("out"):
                own.stop()
            return taken

        registry.is_taken = request_and_stop  # type: ignore[method-assign]
        error = refusal(file := write_case(), cases)

    assert error.code == "REGISTRY_UNREACHABLE"
    assert [
        f"The subject {subject} of the case" in text and "could not be deleted" in text
        for subject, text in zip(file.subjects, warned, strict=True)
    ] == [True, True]


@pytest.mark.usefixtures("unchanged")
def test_a_program_that_reads_what_it_writes_is_refused(cases: KafkaCases, write_case: WriteCase) -> None:
    again = "; INSERT INTO copy-{out} SELECT STREAM n FROM {out}\n"
    also = "topics:\n  {out}: {{key: {{format: STRING}}, value: {{format: JSON, schema: {{n: long}}}}}}\n"
    text = STRING_CASE.replace("FROM {source}\n", "FROM {source}" + again).replace("topics:\n", also)

    error = refusal(write_case(text), cases)

    assert error.code == "CASE_READS_TARGET"


@pytest.mark.usefixtures("unchanged")
def test_the_input_is_read_also_if_the_program_starts_at_the_end(cases: KafkaCases, write_case: WriteCase) -> None:
    file = write_case(STRING_CASE.replace("SET autocreate=true;", "SET autocreate=true; SET auto.offset.reset=latest;"))

    assert run_case(load_case(file.path), cases) == []


COUNT_CASE = """
sql: |
  SET autocreate=true;
  SET auto.offset.reset=latest;
  INSERT INTO {out} SELECT STREAM COUNT(*) AS n FROM {source} GROUP BY shop
topics:
  {source}: {{key: {{format: STRING}}, value: {{format: JSON, schema: {{shop: string}}}}}}
input:
  - {{topic: {source}, key: a, value: {{shop: north}}}}
  - batch: the next
  - {{topic: {source}, key: b, value: {{shop: north}}}}
expect:
  - {{topic: {out}, key: north, value: {{n: 1}}}}
  - {{topic: {out}, key: north, value: {{n: 2}}}}
"""


@pytest.mark.usefixtures("unchanged")
def test_a_position_without_state_does_not_count_as_lost_state(cases: KafkaCases, write_case: WriteCase) -> None:
    assert run_case(load_case(write_case(COUNT_CASE).path), cases) == []


@pytest.mark.usefixtures("unchanged")
def test_topics_that_the_program_creates_have_its_settings(
    cases: KafkaCases, resources: BrokersAndRegistry, write_case: WriteCase, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = write_case()
    partitions: dict[str, int] = {}
    process = KafkaCases._process

    def listing(*arguments: object) -> object:
        topics = AdminClient({"bootstrap.servers": resources.broker.bootstrap}).list_topics(timeout=30).topics
        partitions.update({name: len(topics[name].partitions) for name in (file.source, file.out)})
        return process(*arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(KafkaCases, "_process", listing)

    assert run_case(load_case(file.path), cases) == []
    assert partitions == {file.source: 1, file.out: 2}


# --- rights ---


def test_missing_permissions_are_reported_one_by_one(
    open_cases: OpenCases, secured: Broker, write_case: WriteCase
) -> None:
    """In the order in which a run needs them."""
    topic, group = ResourceType.TOPIC, ResourceType.GROUP
    warned: list[str] = []
    cases = open_cases(warned, **credentials(secured, PASSWORD))
    file = write_case(STRING_CASE)

    assert refusal(file, cases).code == "TOPIC_REFUSED"

    allow(secured, topic, "*", AclOperation.CREATE, AclOperation.DESCRIBE)
    assert refusal(file, cases).code == "BROKER_REFUSED"  # to write its input
    assert [
        f"The topic {name} of the case" in text for name, text in zip((file.source, file.out), warned, strict=True)
    ] == [True, True]

    allow(secured, topic, "*", AclOperation.DELETE, AclOperation.WRITE, AclOperation.READ)
    allow(secured, ResourceType.TRANSACTIONAL_ID, "*", AclOperation.WRITE)
    file = write_case(STRING_CASE)
    [first, *_] = run_case(load_case(file.path), cases)
    assert first.startswith("BROKER_REFUSED: ")  # to commit its position
    assert len(warned) == 2

    allow(secured, group, "*", AclOperation.READ, AclOperation.DESCRIBE)
    left = run_case(load_case(file.path), cases)
    assert [line.split(":")[0] for line in left if not line.startswith(" ")] == ["CASE_CLEANUP_FAILED"]  # the group

    allow(secured, group, "*", AclOperation.DELETE)
    assert run_case(load_case(file.path), cases) == []
