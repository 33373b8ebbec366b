"""A start on fakes: a start that is refused changes nothing."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from devkit.fake_runtime import APP_ID, FakeRuntime
from lsql_runner.errors import LsqlError
from lsql_runner.events.state import State

RECORD = (b"k", b'{"g": "x", "a": 3}')
TARGETS = "SET defaults.topic.autocreate=true;"
COUNT = f"{TARGETS} INSERT INTO o STORE VALUE AS AVRO SELECT STREAM COUNT(*) AS n FROM t GROUP BY g"
SUM = COUNT.replace("COUNT(*)", "SUM(a)")
DEAD_LETTERS = "SET dead.letter.queue='dead'; SET error.policy.read='dlq';"


def runtime_with(folder: Path, sql: str = COUNT, **env: str) -> FakeRuntime:
    """A runtime with a registry and a source with one record."""
    runtime = FakeRuntime(folder, sql, **env)
    runtime.brokers.add_topic("t", 2)
    runtime.brokers.produce("t", RECORD)
    return runtime


def snapshot(runtime: FakeRuntime) -> tuple[object, ...]:
    """Everything that a start may change."""
    state = runtime.folder / APP_ID
    files = {path.relative_to(state): path.read_bytes() for path in state.rglob("*") if path.is_file()}
    files.pop(Path("lock"), None)
    return list(runtime.brokers.changes), runtime.registry.texts(), files


def refused(runtime: FakeRuntime) -> LsqlError:
    with pytest.raises(LsqlError) as caught, runtime.process():
        pass
    return caught.value


def lose_state(runtime: FakeRuntime) -> None:
    for file in (runtime.folder / APP_ID / "1").rglob("*"):
        if file.is_file():
            file.unlink()


def change_aggregate(runtime: FakeRuntime) -> None:
    runtime.sql = f"{DEAD_LETTERS} {SUM.replace('INTO o', 'INTO other')}"


def lose_and_drop_dead_letters(runtime: FakeRuntime) -> None:
    """Without dead letters their checkpoint is to be deleted, but the state is lost too."""
    lose_state(runtime)
    runtime.sql = COUNT.replace("INTO o", "INTO other")


def spoil_program_file(runtime: FakeRuntime) -> None:
    (runtime.folder / APP_ID / "program.json").write_text("{}")


@pytest.mark.parametrize(
    ("spoil", "code"),
    [
        (lose_state, "STATE_LOST"),
        (lose_and_drop_dead_letters, "STATE_LOST"),
        (change_aggregate, "STATE_INCOMPATIBLE"),
        (spoil_program_file, "STATE_UNREADABLE"),
    ],
)
def test_a_refused_state_changes_nothing(tmp_path: Path, spoil: Callable[[FakeRuntime], None], code: str) -> None:
    runtime = runtime_with(tmp_path, f"{DEAD_LETTERS} {COUNT}")
    with runtime.process() as running:
        running.run()
    spoil(runtime)
    before = snapshot(runtime)

    with runtime.process() as running:
        running.turn()
        assert (running.state, running.reason) == (State.FAILED, code)
    assert snapshot(runtime) == before


def test_a_topic_without_its_id_is_not_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It was deleted after it was looked up; the next topic with its name would be read in its place."""
    runtime = runtime_with(tmp_path)
    monkeypatch.setattr(runtime.brokers, "topic_ids", lambda topics: {})

    with runtime.process() as running:
        assert (running.state, running.reason) == (State.RESTARTING, "TOPIC_DELETED")


def test_a_start_whose_schema_is_incompatible_changes_nothing(tmp_path: Path) -> None:
    first = "INSERT INTO first STORE VALUE AS AVRO SELECT STREAM a FROM t"
    runtime = runtime_with(tmp_path, f"{TARGETS} {first}; {COUNT.removeprefix(TARGETS)}")
    runtime.registry.register("o-value", "AVRO", '{"type": "record", "name": "R", "fields": []}')
    runtime.registry.strict.add("o-value")
    before = snapshot(runtime)

    with runtime.process() as running:  # the start is tried again, because the subject's rules may change
        assert running.reason == "SCHEMA_INCOMPATIBLE"
    assert snapshot(runtime) == before


def test_a_start_whose_topic_is_refused_changes_nothing(tmp_path: Path) -> None:
    runtime = runtime_with(tmp_path)
    runtime.brokers.topic_refusal = "Replication factor: 3 larger than available brokers: 1."
    before = snapshot(runtime)

    with runtime.process() as running:
        assert running.reason == "TOPIC_REFUSED"
    assert snapshot(runtime) == before


def test_a_start_whose_topic_setting_is_refused_changes_nothing(tmp_path: Path) -> None:
    runtime = runtime_with(tmp_path, f"SET topic.o.retention.ms=soon; {COUNT}")
    before = snapshot(runtime)

    with runtime.process() as running:
        assert running.reason == "TOPIC_REFUSED"
    assert snapshot(runtime) == before


TRANSACTION_REFUSED = f"the ACLs do not allow Write on the transactional id {APP_ID}/validate"


def limit_reading(runtime: FakeRuntime) -> None:
    runtime.brokers.rights["t"] = {"DESCRIBE"}


def limit_target(runtime: FakeRuntime, *rights: str) -> None:
    runtime.brokers.add_topic("o")
    runtime.brokers.rights["o"] = set(rights)


def limit_dead_letters(runtime: FakeRuntime) -> None:
    runtime.brokers.add_topic("dead")
    runtime.brokers.rights["dead"] = {"READ", "DESCRIBE_CONFIGS"}
    runtime.sql = f"{DEAD_LETTERS} {COUNT}"


def limit_transactions(runtime: FakeRuntime) -> None:
    runtime.brokers.transactional_prefixes = {"another/"}


@pytest.mark.parametrize(
    ("limit", "reason"),
    [
        (limit_reading, "the ACLs do not allow Read on the topic t"),
        (lambda r: limit_target(r, "READ"), "the ACLs do not allow Write on the topic o"),
        (lambda r: limit_target(r, "WRITE"), "the ACLs do not allow Read on the topic o"),
        (limit_dead_letters, "the ACLs do not allow Write on the topic dead"),
        (limit_transactions, TRANSACTION_REFUSED),
    ],
    ids=["read-source", "write-target", "read-target", "write-dead-letters", "transactions"],
)
def test_a_start_without_a_right_changes_nothing(
    tmp_path: Path, limit: Callable[[FakeRuntime], None], reason: str
) -> None:
    runtime = runtime_with(tmp_path)
    limit(runtime)
    before = snapshot(runtime)

    with runtime.process() as running:
        error = running.status.last_error

    assert error is not None
    assert (error.code, error.params["reason"]) == ("BROKER_REFUSED", reason)
    assert snapshot(runtime) == before


@pytest.mark.parametrize(
    ("variables", "use", "topic"),
    [
        ({"LSQL_POLICY_READ_DENY": "t*"}, "read", "t"),
        ({"LSQL_POLICY_WRITE_ALLOW": "other"}, "write", "o"),
        ({"SQL_METRICS_TOPIC": "metrics", "LSQL_POLICY_WRITE_ALLOW": "o"}, "write", "metrics"),
    ],
    ids=["read", "write", "metrics"],
)
def test_a_topic_that_the_policies_do_not_allow_is_refused_before_anything_is_read(
    tmp_path: Path, variables: dict[str, str], use: str, topic: str
) -> None:
    runtime = runtime_with(tmp_path)
    runtime.brokers.outage = LsqlError("BROKER_UNREACHABLE", servers="k", reason="no request was expected")

    with pytest.raises(LsqlError) as caught, runtime.process(**variables):
        pass

    assert (caught.value.code, caught.value.params["use"], caught.value.params["topic"]) == (
        "TOPIC_NOT_ALLOWED",
        use,
        topic,
    )


def test_at_least_once_needs_neither_transactions_nor_read_on_targets(tmp_path: Path) -> None:
    runtime = runtime_with(tmp_path, f"SET processing.guarantee='at_least_once'; {COUNT}")
    limit_target(runtime, "WRITE")
    limit_transactions(runtime)

    with runtime.process() as running:
        assert running.status.last_error is None


def test_a_start_without_the_registry_changes_nothing(tmp_path: Path) -> None:
    runtime = runtime_with(tmp_path)
    runtime.registry.outage = LsqlError("REGISTRY_UNREACHABLE", urls="http://r", reason="no answer")
    before = snapshot(runtime)

    with runtime.process() as running:
        assert running.reason == "REGISTRY_UNREACHABLE"
    assert snapshot(runtime) == before


def test_a_start_registers_schemas_creates_topics_and_writes_program_json(tmp_path: Path) -> None:
    runtime = runtime_with(tmp_path)

    with runtime.process() as running:
        running.run()

    assert runtime.brokers.changes == ["create o"]
    assert runtime.registry.ids("o-value") == (1,)
    write = runtime.engine.jobs[0].plan.topic_writes[0]
    assert write.value_id == 1
    assert running.state_dir.saved().pinned is not None


def test_a_second_start_changes_neither_topics_nor_schemas(tmp_path: Path) -> None:
    runtime = runtime_with(tmp_path)
    with runtime.process() as running:
        running.run()
    runtime.registry.register("o-value", "AVRO", '{"type": "record", "name": "Newer", "fields": []}')
    runtime.registry.strict.add("o-value")  # the older schema would now be refused as a new version
    before = runtime.brokers.changes.copy(), runtime.registry.ids("o-value")

    with runtime.process() as running:
        running.turn()

    assert (runtime.brokers.changes, runtime.registry.ids("o-value")) == before
    assert runtime.engine.jobs[-1].plan.topic_writes[0].value_id == 1


def test_two_inserts_into_one_topic_have_their_own_schemas(tmp_path: Path) -> None:
    insert = "INSERT INTO o STORE VALUE AS AVRO SELECT STREAM"
    runtime = runtime_with(tmp_path, f"{TARGETS} {insert} a FROM t; {insert} g FROM t")

    with runtime.process() as running:
        running.run()

    assert [write.value_id for write in runtime.engine.jobs[0].plan.topic_writes] == [1, 2]


def test_the_checkpoint_of_dead_letters_stays_while_the_program_writes_none(tmp_path: Path) -> None:
    runtime = runtime_with(tmp_path, f"{DEAD_LETTERS} {COUNT}")
    with runtime.process() as running:
        running.run()
    assert (1, "dead-letters") in running.state_dir.saved().checkpoints
    runtime.sql = COUNT

    with runtime.process() as running:
        running.turn()

    assert set(running.state_dir.saved().checkpoints) == {(1, "stateful-0"), (1, "dead-letters")}
