"""The decision about a start: situations in, actions out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest

from lsql_runner.config.settings import read_settings
from lsql_runner.errors import Detail, LsqlError
from lsql_runner.events.batches import Partition
from lsql_runner.formats.catalog import JSON_FORMAT, STRING_FORMAT, Catalog, Serde, TopicSchema
from lsql_runner.pipeline import plan_text
from lsql_runner.plan.fingerprint import fingerprint
from lsql_runner.start.actions import PinProgram, RegisterSchema, RewindCheckpoint, describe
from lsql_runner.start.decision import Situation, StartDecision, decide
from lsql_runner.start.registry_schemas import unregistered_schemas
from lsql_runner.start.state_partitions import state_partitions
from lsql_runner.state.folder import LocalFolder
from lsql_runner.state.offset_log import SavedCheckpoint
from lsql_runner.state.saved_state import Pinned, SavedState
from lsql_runner.types import LONG, STRING, Field, Struct

KIND = Struct((Field("g", STRING), Field("a", LONG)))
SOURCE = TopicSchema("t", Serde(STRING_FORMAT, STRING), Serde(JSON_FORMAT, KIND), partitions=2)
OTHER = TopicSchema("u", Serde(STRING_FORMAT, STRING), Serde(JSON_FORMAT, KIND), partitions=1)
CATALOG = Catalog({"t": SOURCE, "u": OTHER})
P0, P1 = Partition("t", 0), Partition("t", 1)
U0 = Partition("u", 0)
RESETS = {P0: 0, P1: 2, U0: 0}
STATE = LocalFolder(Path("/state/app"))

CREATES = "SET defaults.topic.autocreate=true;"
FILTER = f"{CREATES} INSERT INTO o SELECT STREAM * FROM t"
OTHER_FILTER = f"{CREATES} INSERT INTO o SELECT STREAM a FROM t"
COUNT = f"{CREATES} INSERT INTO o SELECT STREAM COUNT(*) AS n FROM t GROUP BY g"
SUM = f"{CREATES} INSERT INTO o SELECT STREAM SUM(a) AS n FROM t GROUP BY g"
AVRO = f"{CREATES} INSERT INTO o STORE VALUE AS AVRO SELECT STREAM a FROM t"
DEAD_LETTERS = "SET dead.letter.queue='dead'; SET error.policy.read='dlq';"

BEGIN = "begin empty checkpoints in generation 1: stateless"
BEGIN_COUNT = "begin empty checkpoints in generation 1: stateful-0"
PIN = "write program.json for generation 1"
CREATE = "create topic o"


@dataclass(frozen=True)
class Case:
    """A program, and the situation in which it starts."""

    sql: str
    old: str | None = None
    """The program that the state directory belongs to."""
    had_partitions: int = 2
    """The partitions of its state."""
    topics: tuple[str, ...] = ("o", "dead")
    generation: int = 1
    generations: frozenset[int] = frozenset()
    checkpoints: Mapping[tuple[int, str], SavedCheckpoint] = field(default_factory=dict)
    starts: Mapping[str, Mapping[Partition, int]] = field(default_factory=dict)
    """Where the checkpoints begin."""
    committed: Mapping[Partition, int] = field(default_factory=dict)
    registered: bool = False
    incompatibility: str | None = None
    on_change: str = "fail"
    on_loss: str = "fail"
    set_partitions: int = 0
    """LSQL_STATE_PARTITIONS."""
    needed_mib: int = 640
    container_mib: int | None = None
    env: Mapping[str, str] = field(default_factory=dict)
    """More settings."""
    had_topic_id: str = ""
    topic_id: str = ""
    group_topic_id: str = ""
    ends: Mapping[Partition, int] = field(default_factory=dict)


def pinned(case: Case) -> Pinned | None:
    if case.old is None:
        return None
    return Pinned(
        sql=case.old,
        fingerprint=fingerprint(plan_text(case.old, CATALOG).plan),
        schemas={"t": SOURCE},
        generation=case.generation,
        versions={},
        starts=case.starts,
        state_partitions=case.had_partitions,
        topic_ids={"t": case.had_topic_id},
    )


def decision_of(case: Case) -> StartDecision:
    environment = {"SQL": case.sql, "LSQL_STATE_ON_CHANGE": case.on_change, "LSQL_STATE_ON_LOSS": case.on_loss}
    settings = read_settings(
        {**environment, "LSQL_THREADS": "8", "LSQL_STATE_PARTITIONS": str(case.set_partitions), **case.env}
    )
    planned = plan_text(case.sql, CATALOG)
    schemas = tuple(
        replace(schema, id=7 if case.registered else None, incompatibility=case.incompatibility)
        for schema in unregistered_schemas(planned.plan)
    )
    saved = SavedState(STATE, pinned(case), case.checkpoints, case.generations)
    situation = Situation(
        planned=planned,
        topics=frozenset(case.topics),
        topic_ids={"t": case.topic_id},
        group_ids=dict.fromkeys(case.committed, case.group_topic_id),
        schemas=schemas,
        committed=case.committed,
        ends=case.ends,
        resets=RESETS,
        new_state_partitions=state_partitions(planned, settings).number,
        saved=saved,
        versions={},
        needed_mib=case.needed_mib,
        memory_limit_mib=case.container_mib,
    )
    return decide(situation, settings)


BEGUN = SavedCheckpoint()
READ = SavedCheckpoint(planned={P0: 6, P1: 3}, ended={P0: 5, P1: 3})
WITH_WORKERS = {"LSQL_WORKERS_SECRET": "secret-of-the-tests", "LSQL_WORKERS_HOST": "127.0.0.1"}
HAD_STATE = Case(
    COUNT, old=COUNT, checkpoints={(1, "stateful-0"): READ}, generations=frozenset({1}), committed={P0: 5, P1: 3}
)


@pytest.mark.parametrize(
    ("case", "actions"),
    [
        pytest.param(Case(FILTER), [BEGIN, PIN], id="first start, target exists"),
        pytest.param(Case(FILTER, topics=()), [CREATE, BEGIN, PIN], id="first start, target missing"),
        pytest.param(
            Case(f"SET topic.o.partitions=3; SET topic.o.retention.ms=-1; {FILTER}", topics=()),
            ["create topic o with 3 partitions, retention.ms=-1", BEGIN, PIN],
            id="target with settings",
        ),
        pytest.param(
            Case(AVRO, topics=()),
            ["register the AVRO schema of subject o-value", CREATE, BEGIN, PIN],
            id="schema not registered",
        ),
        pytest.param(Case(AVRO, registered=True), [BEGIN, PIN], id="schema registered"),
        pytest.param(
            Case(f"{DEAD_LETTERS} {FILTER}", topics=()), [CREATE, "create topic dead", BEGIN, PIN], id="dead letters"
        ),
        pytest.param(HAD_STATE, [PIN], id="restart"),
        pytest.param(
            Case(OTHER_FILTER, old=FILTER, checkpoints={(3, "stateless"): READ}, generation=3),
            ["write program.json for generation 3"],
            id="stateless change",
        ),
        pytest.param(
            Case(SUM, old=COUNT, on_change="reset"),
            ["begin empty checkpoints in generation 2: stateful-0", "write program.json for generation 2"],
            id="stateful change, reset",
        ),
        pytest.param(
            Case(FILTER, generations=frozenset({1, 2})),
            ["begin empty checkpoints in generation 3: stateless", "write program.json for generation 3"],
            id="a crash before program.json was written",
        ),
        pytest.param(
            replace(HAD_STATE, checkpoints={}, on_loss="reset"), [BEGIN_COUNT, PIN], id="deleted checkpoint, reset"
        ),
        pytest.param(
            Case(
                f"{DEAD_LETTERS} {COUNT}",
                old=f"{DEAD_LETTERS} {COUNT}",
                checkpoints={(1, "stateful-0"): BEGUN, (1, "dead-letters"): BEGUN},
            ),
            [PIN],
            id="same dead letters",
        ),
        pytest.param(
            Case(COUNT, old=f"{DEAD_LETTERS} {COUNT}", checkpoints={(1, "stateful-0"): READ}),
            [PIN],
            id="dead letters no longer written: their run may go on later",
        ),
        pytest.param(
            replace(HAD_STATE, checkpoints={}, committed={}), [BEGIN_COUNT, PIN], id="no state and no position"
        ),
    ],
)
def test_a_situation_determines_the_actions(case: Case, actions: list[str]) -> None:
    assert [describe(action) for action in decision_of(case).actions] == actions


@pytest.mark.parametrize(
    ("case", "generation", "position"),
    [
        pytest.param(Case(FILTER), 1, {P0: 0, P1: 2}, id="no position"),
        pytest.param(Case(FILTER, committed={P0: 5}), 1, {P0: 5, P1: 2}, id="stateless without checkpoint"),
        pytest.param(HAD_STATE, 1, {P0: 5, P1: 3}, id="restart"),
        pytest.param(replace(HAD_STATE, committed={P0: 4}), 1, {P0: 5, P1: 3}, id="the group is behind the checkpoint"),
        pytest.param(
            replace(HAD_STATE, checkpoints={(1, "stateful-0"): BEGUN}, starts={"stateful-0": {P0: 1}}),
            1,
            {P0: 1, P1: 2},
            id="restart before the first batch",
        ),
        pytest.param(replace(HAD_STATE, checkpoints={}, on_loss="reset"), 1, {P0: 5, P1: 3}, id="state lost, reset"),
        pytest.param(
            replace(HAD_STATE, checkpoints={}, on_loss="rebuild"), 1, {P0: 0, P1: 2}, id="state lost, rebuild"
        ),
        pytest.param(
            replace(HAD_STATE, old=None, checkpoints={}, generations=frozenset(), on_loss="rebuild"),
            1,
            {P0: 0, P1: 2},
            id="directory lost, rebuild",
        ),
        pytest.param(replace(HAD_STATE, old=None, on_loss="reset"), 2, {P0: 5, P1: 3}, id="program.json lost, reset"),
        pytest.param(replace(HAD_STATE, sql=SUM, on_change="reset"), 2, {P0: 5, P1: 3}, id="a new generation"),
    ],
)
def test_a_situation_determines_the_generation_and_the_position(
    case: Case, generation: int, position: dict[Partition, int]
) -> None:
    decision = decision_of(case)

    [found] = decision.positions.values()
    assert (decision.generation, found) == (generation, position)


def test_a_restart_before_the_first_batch_keeps_the_pinned_start() -> None:
    begun = replace(HAD_STATE, checkpoints={(1, "stateful-0"): BEGUN}, starts={"stateful-0": {P0: 1}})

    pin = decision_of(begun).actions[-1]

    assert isinstance(pin, PinProgram)
    assert pin.pinned.starts == {"stateful-0": {P0: 1, P1: 2}}


COPY = "INSERT INTO copy SELECT STREAM * FROM t"
FAR = SavedCheckpoint(planned={P0: 90, P1: 90}, ended={P0: 90, P1: 90})
BOTH = Case(
    f"{SUM}; {COPY}",
    old=f"{COUNT}; {COPY}",
    topics=("o", "copy"),
    checkpoints={(1, "stateful-0"): READ, (1, "stateless"): FAR},
    generations=frozenset({1}),
    committed={P0: 5, P1: 3},
    on_change="reset",
)


@pytest.mark.parametrize(
    ("case", "starts"),
    [
        pytest.param(
            BOTH, {"stateful-0": {P0: 5, P1: 3}, "stateless": {P0: 90, P1: 90}}, id="each continues at its own position"
        ),
        pytest.param(
            replace(BOTH, sql=f"{SUM}; {COPY.replace('copy', 'other')}"),
            {"stateful-0": {P0: 5, P1: 3}, "stateless": {P0: 5, P1: 3}},
            id="a new target begins at the position of the group",
        ),
        pytest.param(
            replace(BOTH, sql=f"{SUM.replace('INTO o', 'INTO copy')}; {COPY.replace('copy', 'o')}"),
            {"stateful-0": {P0: 90, P1: 90}, "stateless": {P0: 5, P1: 3}},
            id="the targets have changed places",
        ),
        pytest.param(
            replace(BOTH, sql=f"{SUM}; {COPY}; {COPY.replace('copy', 'o')}"),
            {"stateful-0": {P0: 5, P1: 3}, "stateless": {P0: 5, P1: 3}},
            id="a query that replaces two begins at the least position",
        ),
        pytest.param(
            replace(BOTH, checkpoints={(1, "stateful-0"): READ}),
            {"stateful-0": {P0: 5, P1: 3}, "stateless": {P0: 5, P1: 3}},
            id="a lost checkpoint",
        ),
        pytest.param(
            replace(
                BOTH, checkpoints={(1, "stateful-0"): BEGUN, (1, "stateless"): FAR}, starts={"stateful-0": {P0: 4}}
            ),
            {"stateful-0": {P0: 4, P1: 3}, "stateless": {P0: 90, P1: 90}},
            id="a query without a batch",
        ),
    ],
)
def test_a_query_of_a_new_generation_begins_where_its_targets_were_written_to(
    case: Case, starts: dict[str, dict[Partition, int]]
) -> None:
    assert decision_of(case).start_offsets == starts


def test_a_query_that_replaces_another_begins_at_its_position() -> None:
    case = replace(BOTH, sql=f"{COUNT}; {COPY}; INSERT INTO copy SELECT STREAM * FROM u", on_change="fail")

    decision = decision_of(case)

    assert decision.generation == 1
    assert decision.start_offsets["stateless"] == {P0: 90, P1: 90, U0: 0}


@pytest.mark.parametrize(
    ("case", "later", "first_batches"),
    [
        pytest.param(HAD_STATE, [], set(), id="restart"),
        pytest.param(
            replace(HAD_STATE, sql=SUM, on_change="reset"),
            ["delete the state of generations before 2"],
            {"stateful-0"},
            id="stateful change, reset",
        ),
        pytest.param(
            replace(HAD_STATE, generation=3, generations=frozenset({1, 3}), checkpoints={(3, "stateful-0"): BEGUN}),
            ["delete the state of generations before 3"],
            {"stateful-0"},
            id="restart before the first batch",
        ),
        pytest.param(
            replace(HAD_STATE, generation=3, generations=frozenset({1, 3}), checkpoints={(3, "stateful-0"): READ}),
            ["delete the state of generations before 3"],
            set(),
            id="restart after the first batch",
        ),
    ],
)
def test_old_generations_are_deleted_after_the_first_batches(
    case: Case, later: list[str], first_batches: set[str]
) -> None:
    decision = decision_of(case)

    assert [describe(action) for action in decision.later] == later
    assert decision.first_batches == first_batches


@pytest.mark.parametrize(
    ("case", "code"),
    [
        pytest.param(replace(HAD_STATE, checkpoints={}), "STATE_LOST", id="checkpoint lost"),
        pytest.param(replace(HAD_STATE, old=None, checkpoints={}), "STATE_LOST", id="directory lost"),
        pytest.param(replace(HAD_STATE, sql=SUM), "STATE_INCOMPATIBLE", id="another aggregate"),
        pytest.param(replace(HAD_STATE, sql=FILTER), "STATE_INCOMPATIBLE", id="no aggregate any more"),
        pytest.param(Case(AVRO, incompatibility="no default"), "SCHEMA_INCOMPATIBLE", id="schema"),
    ],
)
def test_a_start_is_refused_in_these_situations(case: Case, code: str) -> None:
    with pytest.raises(LsqlError) as caught:
        decision_of(case)

    assert caught.value.code == code


def test_a_refusal_names_group_and_path() -> None:
    with pytest.raises(LsqlError) as lost:
        decision_of(replace(HAD_STATE, checkpoints={}))
    with pytest.raises(LsqlError) as other:
        decision_of(replace(HAD_STATE, sql=SUM))

    assert lost.value.params == {"group": "lsql-processor", "path": str(STATE / "1")}
    assert other.value.params["path"] == str(STATE)


def test_a_changed_program_gives_a_warning() -> None:
    [warning] = decision_of(replace(HAD_STATE, sql=SUM, on_change="reset")).warnings

    assert "The program changed" in warning
    assert decision_of(HAD_STATE).warnings == ()


@pytest.mark.parametrize(
    ("committed", "warnings"),
    [
        pytest.param({P0: 5, P1: 3}, 0, id="the same"),
        pytest.param({P0: 6, P1: 3}, 0, id="a batch may have been running"),
        pytest.param({P0: 7, P1: 3}, 1, id="ahead by more than a batch"),
        pytest.param({P0: 7, P1: 1}, 1, id="one partition ahead"),
    ],
)
def test_a_checkpoint_that_is_older_than_the_group_is_a_warning(committed: dict[Partition, int], warnings: int) -> None:
    decision = decision_of(replace(HAD_STATE, committed=committed))

    assert len(decision.warnings) == warnings
    assert all("older than the position of the consumer group" in warning for warning in decision.warnings)


@pytest.mark.parametrize(
    ("case", "partitions"),
    [
        pytest.param(Case(COUNT), 2, id="first start: the partitions of the topic"),
        pytest.param(Case(COUNT, set_partitions=3), 3, id="first start with a setting"),
        pytest.param(Case(f"SET state.partitions=4; {COUNT}", set_partitions=3), 4, id="first start with a key"),
        pytest.param(replace(HAD_STATE, had_partitions=5), 5, id="another default keeps what there is"),
        pytest.param(replace(HAD_STATE, set_partitions=2), 2, id="the setting names what there is"),
        pytest.param(replace(HAD_STATE, sql=f"SET state.partitions=2; {COUNT}"), 2, id="the key names what there is"),
        pytest.param(replace(HAD_STATE, had_partitions=5, sql=SUM, on_change="reset"), 2, id="a new generation"),
        pytest.param(
            replace(HAD_STATE, sql=f"SET state.partitions=4; {COUNT}", on_change="reset"), 4, id="another key, reset"
        ),
        pytest.param(
            Case(f"SET state.partitions=4; {FILTER}", old=FILTER, checkpoints={(1, "stateless"): READ}),
            4,
            id="no state",
        ),
    ],
)
def test_state_keeps_its_partitions(case: Case, partitions: int) -> None:
    decision = decision_of(case)

    pin = decision.actions[-1]
    assert isinstance(pin, PinProgram)
    assert (decision.state_partitions, pin.pinned.state_partitions) == (partitions, partitions)


@pytest.mark.parametrize(
    "case",
    [
        pytest.param(replace(HAD_STATE, sql=f"SET state.partitions=4; {COUNT}"), id="key of the program"),
        pytest.param(replace(HAD_STATE, set_partitions=4), id="setting"),
    ],
)
def test_another_number_of_partitions_is_refused_with_both_numbers(case: Case) -> None:
    with pytest.raises(LsqlError) as caught:
        decision_of(case)

    assert caught.value.code == "STATE_INCOMPATIBLE"
    assert caught.value.params["change"] == "state.partitions is 4, and the state has 2 partitions"


def test_a_schema_is_registered_with_its_kind_and_text() -> None:
    action = decision_of(Case(AVRO)).actions[0]

    assert isinstance(action, RegisterSchema)
    assert (action.schema.kind, action.schema.subject, '"a"' in action.schema.text) == ("AVRO", "o-value", True)


@pytest.mark.parametrize(("limit", "warnings"), [("512Mi", 1), ("2Gi", 0), ("", 0)])
def test_a_worker_that_is_too_small_is_a_warning(limit: str, warnings: int) -> None:
    workers = {"LSQL_WORKERS_HOST": "processor", "LSQL_WORKERS_MEMORY": limit}

    found = decision_of(Case(COUNT, env=workers)).warnings

    assert len([text for text in found if "workers.resources.limits.memory" in text]) == warnings


@pytest.mark.parametrize(("container_mib", "warnings"), [(None, 0), (639, 1), (640, 0)])
def test_a_container_that_is_too_small_is_a_warning_while_the_processor_runs(
    container_mib: int | None, warnings: int
) -> None:
    decision = decision_of(Case(FILTER, container_mib=container_mib))

    assert len(decision.warnings) == warnings
    assert all("needs about 640 MiB" in warning for warning in decision.warnings)


@pytest.mark.parametrize(
    ("mode", "env", "expected"),
    [
        ("continuous", WITH_WORKERS, ["processing.mode is continuous"]),
        ("auto", WITH_WORKERS, []),
        ("continuous", {}, []),
    ],
)
def test_the_continuous_mode_with_workers_is_a_warning(mode: str, env: Mapping[str, str], expected: list[str]) -> None:
    decision = decision_of(Case(f"SET processing.mode='{mode}'; {FILTER}", env=env))

    assert [warning.split(",")[0] for warning in decision.warnings] == expected


RECREATED = replace(HAD_STATE, had_topic_id="a" * 32, topic_id="b" * 32)


def test_a_topic_that_was_created_again_refuses_the_start() -> None:
    with pytest.raises(LsqlError) as caught:
        decision_of(RECREATED)

    assert caught.value.code == "OFFSETS_OUT_OF_RANGE"
    reason = caught.value.params["reason"]
    assert isinstance(reason, Detail)
    assert (reason.code, reason.params) == ("RECREATED", {"topic": "t"})


def test_a_topic_that_was_created_again_is_read_from_its_first_record_if_records_may_be_lost() -> None:
    decision = decision_of(replace(RECREATED, env={"LSQL_ON_DATA_LOSS": "continue"}))

    begin = {P0: 0, P1: 0}
    assert RewindCheckpoint(1, "stateful-0", begin) in decision.actions
    assert decision.positions == {"stateful-0": begin}
    assert decision.warnings == ("The topic t was deleted and created again: it is read from its first record.",)


@pytest.mark.parametrize(("had", "has"), [("a" * 32, "a" * 32), ("", "b" * 32), ("a" * 32, "")])
def test_a_topic_with_the_same_id_or_an_unknown_one_is_continued(had: str, has: str) -> None:
    decision = decision_of(replace(HAD_STATE, had_topic_id=had, topic_id=has))

    assert decision.positions == {"stateful-0": {P0: 5, P1: 3}}
    assert not any(isinstance(action, RewindCheckpoint) for action in decision.actions)


LOST_VOLUME = Case(FILTER, committed={P0: 5, P1: 3}, topic_id="b" * 32, group_topic_id="a" * 32)


@pytest.mark.parametrize(
    "had_topic",
    [
        pytest.param({}, id="the volume is lost"),
        pytest.param({"old": FILTER, "had_topic_id": ""}, id="the id beside the checkpoints is not known"),
    ],
)
def test_a_position_of_the_group_in_an_earlier_topic_refuses_the_start(had_topic: dict[str, str]) -> None:
    with pytest.raises(LsqlError) as caught:
        decision_of(replace(LOST_VOLUME, **had_topic))  # type: ignore[arg-type]

    assert (caught.value.code, caught.value.params["reason"].code) == ("OFFSETS_OUT_OF_RANGE", "RECREATED")  # type: ignore[union-attr]


def test_a_position_of_the_group_in_an_earlier_topic_is_its_first_record_if_records_may_be_lost() -> None:
    decision = decision_of(replace(LOST_VOLUME, env={"LSQL_ON_DATA_LOSS": "continue"}))

    assert decision.start_offsets == {"stateless": {P0: 0, P1: 0}}
    assert decision.warnings == ("The topic t was deleted and created again: it is read from its first record.",)


def test_a_position_of_the_group_in_an_earlier_topic_is_not_used_beside_a_checkpoint_in_the_present_one() -> None:
    known = replace(HAD_STATE, had_topic_id="b" * 32, topic_id="b" * 32, group_topic_id="a" * 32)

    decision = decision_of(replace(known, committed={P0: 9, P1: 9}))

    assert decision.positions == {"stateful-0": {P0: 5, P1: 3}}
    assert decision.warnings == ()


@pytest.mark.parametrize(("of_group", "has"), [("b" * 32, "b" * 32), ("", "b" * 32), ("a" * 32, "")])
def test_a_position_of_the_group_in_the_same_topic_is_continued(of_group: str, has: str) -> None:
    decision = decision_of(replace(LOST_VOLUME, group_topic_id=of_group, topic_id=has))

    assert decision.start_offsets == {"stateless": {P0: 5, P1: 3}}


SHORTER = replace(HAD_STATE, ends={P0: 4, P1: 8})


@pytest.mark.parametrize(
    ("case", "position"),
    [
        pytest.param(SHORTER, 6, id="a checkpoint"),
        pytest.param(
            replace(SHORTER, checkpoints={(1, "stateful-0"): SavedCheckpoint(planned={P0: 4}, ended={P0: 5})}),
            5,
            id="a batch that was planned to the end of the shorter topic",
        ),
        pytest.param(Case(FILTER, committed={P0: 5}, ends={P0: 4, P1: 8}), 5, id="the group"),
    ],
)
def test_a_position_after_the_end_of_its_partition_refuses_the_start(case: Case, position: int) -> None:
    with pytest.raises(LsqlError) as caught:
        decision_of(case)

    assert caught.value.code == "OFFSETS_OUT_OF_RANGE"
    assert str(caught.value.params["reason"]) == (
        f"partition 0 of the topic t ends at 4, before the saved position {position}"
    )


def test_a_position_after_the_end_of_its_partition_is_moved_there_with_another_run_if_records_may_be_lost() -> None:
    decision = decision_of(replace(SHORTER, env={"LSQL_ON_DATA_LOSS": "continue"}))

    assert RewindCheckpoint(1, "stateful-0", {P0: 4, P1: 8}) in decision.actions
    assert decision.positions == {"stateful-0": {P0: 4, P1: 3}}
    assert decision.warnings == (
        "Partition 0 of the topic t ends at 4, before the saved position 6: it is read on from its end.",
    )


def test_a_position_at_the_end_of_its_partition_is_continued() -> None:
    decision = decision_of(replace(HAD_STATE, ends={P0: 6, P1: 3}))

    assert decision.positions == {"stateful-0": {P0: 5, P1: 3}}
    assert not any(isinstance(action, RewindCheckpoint) for action in decision.actions)
