"""`lsql validate` on fakes: it reports the error or the changes of a start, and changes nothing."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from devkit.fake_brokers import SERVERS, FakeBrokers
from devkit.fake_registry import FakeRegistry
from devkit.fake_runtime import APP_ID, FakeRuntime
from lsql_runner.errors import LsqlError
from lsql_runner.events.batches import Partition
from lsql_runner.start import dry_run
from lsql_runner.start.actions import describe

COUNT = "SET autocreate=true; INSERT INTO o STORE VALUE AS AVRO SELECT STREAM COUNT(*) AS n FROM t GROUP BY g"
FIRST = [
    "register the AVRO schema of subject o-value",
    "create topic o with cleanup.policy=compact",
    "begin empty checkpoints in generation 1: stateful-0",
    "write program.json for generation 1",
]


@pytest.fixture
def runtime(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> FakeRuntime:
    runtime = FakeRuntime(tmp_path, COUNT)
    runtime.brokers.add_topic("t")
    runtime.brokers.produce("t", (b"k", b'{"g": "x"}'))

    @contextmanager
    def fakes(_: object) -> Iterator[tuple[FakeBrokers, FakeRegistry]]:
        yield runtime.brokers, runtime.registry

    monkeypatch.setattr(dry_run, "connections", fakes)
    return runtime


def validated(runtime: FakeRuntime, sql: str = COUNT) -> list[str]:
    """The changes of a start, as text."""
    environment = {
        "SQL": sql,
        "SQL_APP_ID": APP_ID,
        "SQL_BOOTSTRAP_SERVERS": SERVERS,
        "SQL_STATE_STORE_DIR": str(runtime.folder),
    }
    validation = dry_run.validate(environment)
    assert validation.on_brokers
    return [describe(action) for action in validation.decision.actions]


def test_a_first_start_is_listed_and_changes_nothing(runtime: FakeRuntime) -> None:
    assert validated(runtime) == FIRST

    assert (runtime.brokers.changes, runtime.registry.texts(), list(runtime.folder.iterdir())) == ([], {}, [])


def test_a_start_makes_the_listed_changes(runtime: FakeRuntime) -> None:
    validated(runtime)

    with runtime.process() as running:
        running.run()

    assert runtime.brokers.changes == ["create o"]
    assert validated(runtime) == ["write program.json for generation 1"]


def test_state_of_another_program_is_refused_if_its_directory_exists(runtime: FakeRuntime) -> None:
    with runtime.process() as running:
        running.run()

    with pytest.raises(LsqlError) as caught:
        validated(runtime, COUNT.replace("GROUP BY g", "WINDOW BY TUMBLE 1m GROUP BY g"))

    assert caught.value.code == "STATE_INCOMPATIBLE"


def test_a_position_without_a_state_directory_is_not_lost_state(runtime: FakeRuntime) -> None:
    runtime.brokers.commit(APP_ID, {Partition("t", 0): 1})

    assert validated(runtime) == FIRST


def test_state_at_a_uri_is_not_read_which_is_said(runtime: FakeRuntime) -> None:
    """Nor is the state directory of this machine, which may have the state of before."""
    with runtime.process() as running:
        running.run()
    environment = {
        "SQL": COUNT,
        "SQL_APP_ID": APP_ID,
        "SQL_BOOTSTRAP_SERVERS": SERVERS,
        "SQL_STATE_STORE_DIR": str(runtime.folder),
        "LSQL_STATE_URI": "s3a://states/fleet",
    }

    validation = dry_run.validate(environment)

    assert validation.unread_state == "s3a://states/fleet"
    assert [describe(action) for action in validation.decision.actions] == FIRST[2:]
    assert "the state at s3a://states/fleet was not read" in dry_run.explain_from_environment(environment)


def test_a_file_with_settings_of_the_store_that_is_invalid_is_refused(runtime: FakeRuntime, tmp_path: Path) -> None:
    site = tmp_path / "core-site.xml"
    site.write_text("fs.s3a.access.key=x")

    with pytest.raises(LsqlError) as caught:
        dry_run.validate({"SQL": COUNT, "LSQL_STATE_URI": "s3a://states/fleet", "LSQL_STATE_SITE": str(site)})

    assert (caught.value.code, caught.value.params["name"]) == ("ENV_INVALID", "LSQL_STATE_SITE")


def test_a_target_that_the_brokers_refuse_is_refused(runtime: FakeRuntime) -> None:
    runtime.brokers.topic_refusal = "policy"

    with pytest.raises(LsqlError) as caught:
        validated(runtime)

    assert caught.value.code == "TOPIC_REFUSED"


def test_a_group_that_may_not_be_read_is_refused(runtime: FakeRuntime) -> None:
    runtime.brokers.readable_groups = set()

    with pytest.raises(LsqlError) as caught:
        validated(runtime)

    assert caught.value.code == "BROKER_REFUSED"
    assert APP_ID in str(caught.value.params["reason"])


def test_missing_rights_are_refused(runtime: FakeRuntime) -> None:
    runtime.brokers.transactional_prefixes = set()

    with pytest.raises(LsqlError) as caught:
        validated(runtime)

    assert caught.value.code == "BROKER_REFUSED"
    assert f"{APP_ID}/validate" in str(caught.value.params["reason"])


@pytest.mark.parametrize("mode", ["auto", "continuous"])
@pytest.mark.parametrize("servers", [SERVERS, ""])
def test_with_workers_all_queries_process_batches(runtime: FakeRuntime, mode: str, servers: str) -> None:
    """A task of a continuous query never ends, so that a worker could not leave."""
    environment = {
        "SQL": f"SET autocreate=true; SET processing.mode={mode}; INSERT INTO o SELECT STREAM * FROM t",
        "SQL_APP_ID": APP_ID,
        "SQL_BOOTSTRAP_SERVERS": servers,
        "SQL_STATE_STORE_DIR": str(runtime.folder),
        "LSQL_TOPICS": '{"t": {"value": {"format": "JSON", "schema": {"g": "string"}}}}',
    }
    host = {"LSQL_WORKERS_HOST": "processor"}
    secret = {"LSQL_WORKERS_SECRET": "0123456789abcdef"}

    assert dry_run.validate(environment).planned.plan.continuous
    for workers in (host | secret, host):  # the chart's Secret does not exist before the first install
        validation = dry_run.validate(environment | workers)
        assert not validation.planned.plan.continuous
        assert any("workers do not support" in text for text in validation.decision.warnings) is (mode == "continuous")


@pytest.mark.parametrize(
    ("workers", "code", "name"),
    [
        ({"LSQL_WORKERS_SECRET": "0123456789abcdef"}, "ENV_MISSING", "LSQL_WORKERS_HOST"),
        ({"LSQL_WORKERS_HOST": "processor", "LSQL_WORKERS_SECRET": "short"}, "ENV_INVALID", "LSQL_WORKERS_SECRET"),
        ({"LSQL_WORKERS_HOST": "a host"}, "ENV_INVALID", "LSQL_WORKERS_HOST"),
        ({"LSQL_WORKERS_HOST": "processor", "LSQL_WORKERS_PORT": "x"}, "ENV_INVALID", "LSQL_WORKERS_PORT"),
        ({"LSQL_WORKERS_HOST": "processor", "LSQL_WORKERS_MEMORY": "x"}, "ENV_INVALID", "LSQL_WORKERS_MEMORY"),
    ],
)
def test_wrong_settings_of_workers_are_refused(
    runtime: FakeRuntime, workers: dict[str, str], code: str, name: str
) -> None:
    with pytest.raises(LsqlError) as caught:
        dry_run.validate({"SQL": COUNT, "SQL_BOOTSTRAP_SERVERS": SERVERS, **workers})

    assert (caught.value.code, caught.value.params["name"]) == (code, name)
