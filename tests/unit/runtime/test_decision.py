"""The decision about a start: situations in, actions out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest

from lsql_runner.config.settings import read_settings
from lsql_runner.errors import LsqlError
from lsql_runner.events.batches import Partition
from lsql_runner.formats.catalog import JSON_FORMAT, STRING_FORMAT, Catalog, Serde, TopicSchema
from lsql_runner.pipeline import plan_text
from lsql_runner.plan.fingerprint import fingerprint
from lsql_runner.runtime.actions import RegisterSchema, describe
from lsql_runner.runtime.decision import Situation, StartDecision, decide
from lsql_runner.runtime.registry_schemas import unregistered_schemas
from lsql_runner.runtime.statedir import Pinned, SavedState
from lsql_runner.types import LONG, STRING, Field, Struct

KIND = Struct((Field("g", STRING), Field("a", LONG)))
SOURCE = TopicSchema("t", Serde(STRING_FORMAT, STRING), Serde(JSON_FORMAT, KIND), partitions=2)
CATALOG = Catalog({"t": SOURCE})
P0, P1 = Partition("t", 0), Partition("t", 1)
STATE = Path("/state/app")

CREATES = "SET defaults.topic.autocreate=true;"
FILTER = f"{CREATES} INSERT INTO o SELECT STREAM * FROM t"
OTHER_FILTER = f"{CREATES} INSERT INTO o SELECT STREAM a FROM t"
COUNT = f"{CREATES} INSERT INTO o SELECT STREAM COUNT(*) AS n FROM t GROUP BY g"
SUM = f"{CREATES} INSERT INTO o SELECT STREAM SUM(a) AS n FROM t GROUP BY g"
AVRO = f"{CREATES} INSERT INTO o STORE VALUE AS AVRO SELECT STREAM a FROM t"
DEAD_LETTERS = "SET dead.letter.queue='dead'; SET error.policy.read='dlq';"

PIN = "write program.json for generation 1"
CREATE = "create topic o"


@dataclass(frozen=True)
class Case:
    """A program, and the situation in which it starts."""

    sql: str
    old: str | None = None
    """The program that the state directory belongs to."""
    topics: tuple[str, ...] = ("o", "dead")
    generation: int = 1
    generations: frozenset[int] = frozenset()
    checkpoints: frozenset[tuple[int, str]] = frozenset()
    not_begun: frozenset[tuple[int, str]] = frozenset()
    """Checkpoints without a batch."""
    committed: Mapping[Partition, int] = field(default_factory=dict)
    registered: bool = False
    incompatibility: str | None = None
    on_change: str = "fail"
    on_loss: str = "fail"
    needed_mib: int = 640
    container_mib: int | None = None


def pinned(case: Case) -> Pinned | None:
    if case.old is None:
        return None
    return Pinned(
        sql=case.old,
        fingerprint=fingerprint(plan_text(case.old, CATALOG).plan),
        schemas={"t": SOURCE},
        generation=case.generation,
        versions={},
    )


def decision_of(case: Case) -> StartDecision:
    planned = plan_text(case.sql, CATALOG)
    schemas = tuple(
        replace(schema, id=7 if case.registered else None, incompatibility=case.incompatibility)
        for schema in unregistered_schemas(planned.plan)
    )
    saved = SavedState(
        STATE,
        pinned(case),
        case.checkpoints,
        case.generations or frozenset({case.generation}),
        folders=case.checkpoints | case.not_begun,
    )
    situation = Situation(
        planned=planned,
        topics=frozenset(case.topics),
        schemas=schemas,
        committed=case.committed,
        saved=saved,
        versions={},
        needed_mib=case.needed_mib,
        memory_limit_mib=case.container_mib,
    )
    settings = {"SQL": case.sql, "LSQL_STATE_ON_CHANGE": case.on_change, "LSQL_STATE_ON_LOSS": case.on_loss}
    return decide(situation, read_settings(settings))


HAD_STATE = Case(COUNT, old=COUNT, checkpoints=frozenset({(1, "stateful-0")}), committed={P0: 5})


@pytest.mark.parametrize(
    ("case", "actions"),
    [
        pytest.param(Case(FILTER), [PIN], id="first start, target exists"),
        pytest.param(Case(FILTER, topics=()), [CREATE, PIN], id="first start, target missing"),
        pytest.param(
            Case(f"SET topic.o.partitions=3; SET topic.o.retention.ms=-1; {FILTER}", topics=()),
            ["create topic o with 3 partitions, retention.ms=-1", PIN],
            id="target with settings",
        ),
        pytest.param(
            Case(AVRO, topics=()),
            ["register the AVRO schema of subject o-value", CREATE, PIN],
            id="schema not registered",
        ),
        pytest.param(Case(AVRO, registered=True), [PIN], id="schema registered"),
        pytest.param(
            Case(f"{DEAD_LETTERS} {FILTER}", topics=()), [CREATE, "create topic dead", PIN], id="dead letters"
        ),
        pytest.param(HAD_STATE, [PIN], id="restart"),
        pytest.param(
            Case(OTHER_FILTER, old=FILTER, generation=3), ["write program.json for generation 3"], id="stateless change"
        ),
        pytest.param(
            Case(SUM, old=COUNT, on_change="reset"),
            ["write program.json for generation 2", "delete the state of generations before 2"],
            id="stateful change, reset",
        ),
        pytest.param(
            Case(COUNT, old=COUNT, generation=3, generations=frozenset({1, 2, 3}), on_loss="reset"),
            ["write program.json for generation 3", "delete the state of generations before 3"],
            id="old generations left by a crash",
        ),
        pytest.param(
            Case(f"{DEAD_LETTERS} {COUNT}", old=f"{DEAD_LETTERS} {COUNT}"),
            [PIN],
            id="same dead letters",
        ),
        pytest.param(
            Case(COUNT, old=f"{DEAD_LETTERS} {COUNT}"),
            ["delete the checkpoint of query dead-letters in generation 1", PIN],
            id="dead letters no longer written",
        ),
        pytest.param(replace(HAD_STATE, checkpoints=frozenset(), committed={}), [PIN], id="no state and no position"),
    ],
)
def test_a_situation_determines_the_actions(case: Case, actions: list[str]) -> None:
    assert [describe(action) for action in decision_of(case).actions] == actions


@pytest.mark.parametrize(
    ("case", "generation", "starts"),
    [
        pytest.param(Case(FILTER, committed={P0: 5}), 1, {P0: 5}, id="stateless without checkpoint"),
        pytest.param(HAD_STATE, 1, {P0: 5}, id="restart"),
        pytest.param(
            replace(HAD_STATE, checkpoints=frozenset(), not_begun=HAD_STATE.checkpoints, committed={P0: 0}),
            1,
            {P0: 0},
            id="ended before the first batch",
        ),
        pytest.param(replace(HAD_STATE, checkpoints=frozenset(), on_loss="reset"), 1, {P0: 5}, id="state lost, reset"),
        pytest.param(replace(HAD_STATE, checkpoints=frozenset(), on_loss="rebuild"), 1, {}, id="state lost, rebuild"),
        pytest.param(
            replace(HAD_STATE, old=None, checkpoints=frozenset(), on_loss="rebuild"),
            1,
            {},
            id="directory lost, rebuild",
        ),
        pytest.param(replace(HAD_STATE, sql=SUM, on_change="reset"), 2, {P0: 5}, id="a new generation, no lost state"),
    ],
)
def test_a_situation_determines_the_generation_and_the_position(
    case: Case, generation: int, starts: dict[Partition, int]
) -> None:
    decision = decision_of(case)

    assert (decision.generation, decision.start_offsets) == (generation, starts)


@pytest.mark.parametrize(
    ("case", "code"),
    [
        pytest.param(replace(HAD_STATE, checkpoints=frozenset()), "STATE_LOST", id="checkpoint lost"),
        pytest.param(replace(HAD_STATE, old=None, checkpoints=frozenset()), "STATE_LOST", id="directory lost"),
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
        decision_of(replace(HAD_STATE, checkpoints=frozenset()))
    with pytest.raises(LsqlError) as other:
        decision_of(replace(HAD_STATE, sql=SUM))

    assert lost.value.params == {"group": "lsql-processor", "path": str(STATE / "1")}
    assert other.value.params["path"] == str(STATE)


def test_a_changed_program_gives_a_warning() -> None:
    [warning] = decision_of(replace(HAD_STATE, sql=SUM, on_change="reset")).warnings

    assert "The program changed" in warning
    assert decision_of(HAD_STATE).warnings == ()


def test_a_schema_is_registered_with_its_kind_and_text() -> None:
    action = decision_of(Case(AVRO)).actions[0]

    assert isinstance(action, RegisterSchema)
    assert (action.schema.kind, action.schema.subject, '"a"' in action.schema.text) == ("AVRO", "o-value", True)


@pytest.mark.parametrize(("container_mib", "warnings"), [(None, 0), (639, 1), (640, 0)])
def test_a_container_that_is_too_small_is_a_warning_while_the_processor_runs(
    container_mib: int | None, warnings: int
) -> None:
    decision = decision_of(Case(FILTER, container_mib=container_mib))

    assert len(decision.warnings) == warnings
    assert all("needs about 640 MiB" in warning for warning in decision.warnings)
