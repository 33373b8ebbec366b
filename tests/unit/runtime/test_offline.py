"""`lsql validate` on fakes: it refuses and lists what a start would refuse and change, and changes nothing."""

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
from lsql_runner.runtime import offline
from lsql_runner.runtime.actions import describe

COUNT = "SET autocreate=true; INSERT INTO o STORE VALUE AS AVRO SELECT STREAM COUNT(*) AS n FROM t GROUP BY g"
FIRST = [
    "register the AVRO schema of subject o-value",
    "create topic o with cleanup.policy=compact",
    "write program.json for generation 1",
]


@pytest.fixture
def runtime(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> FakeRuntime:
    made = FakeRuntime(tmp_path, COUNT)
    made.brokers.add_topic("t")
    made.brokers.produce("t", (b"k", b'{"g": "x"}'))

    @contextmanager
    def fakes(_: object) -> Iterator[tuple[FakeBrokers, FakeRegistry]]:
        yield made.brokers, made.registry

    monkeypatch.setattr(offline, "connections", fakes)
    return made


def validated(runtime: FakeRuntime, sql: str = COUNT) -> list[str]:
    """What a start would do, in words."""
    environment = {
        "SQL": sql,
        "SQL_APP_ID": APP_ID,
        "SQL_BOOTSTRAP_SERVERS": SERVERS,
        "SQL_STATE_STORE_DIR": str(runtime.folder),
    }
    found = offline.validate(environment)
    assert found.on_brokers
    return [describe(action) for action in found.decision.actions]


def test_a_first_start_is_listed_and_changes_nothing(runtime: FakeRuntime) -> None:
    assert validated(runtime) == FIRST

    assert (runtime.brokers.changes, runtime.registry.texts(), list(runtime.folder.iterdir())) == ([], {}, [])


def test_the_list_is_what_a_start_then_does(runtime: FakeRuntime) -> None:
    validated(runtime)

    with runtime.process() as running:
        running.run()

    assert runtime.brokers.changes == ["create o"]
    assert validated(runtime) == ["write program.json for generation 1"]


def test_the_state_of_another_program_is_refused_where_its_directory_is(runtime: FakeRuntime) -> None:
    with runtime.process() as running:
        running.run()

    with pytest.raises(LsqlError) as caught:
        validated(runtime, COUNT.replace("GROUP BY g", "WINDOW BY TUMBLE 1m GROUP BY g"))

    assert caught.value.code == "STATE_INCOMPATIBLE"


def test_without_a_state_directory_a_position_is_no_lost_state(runtime: FakeRuntime) -> None:
    runtime.brokers.commit(APP_ID, {Partition("t", 0): 1})

    assert validated(runtime) == FIRST


def test_a_target_that_the_brokers_refuse_is_refused(runtime: FakeRuntime) -> None:
    runtime.brokers.topic_refusal = "policy"

    with pytest.raises(LsqlError) as caught:
        validated(runtime)

    assert caught.value.code == "TOPIC_REFUSED"
