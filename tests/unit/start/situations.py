"""Situations in which a program starts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from lsql_runner.config.settings import read_settings
from lsql_runner.events.batches import Partition
from lsql_runner.formats.catalog import JSON_FORMAT, STRING_FORMAT, Catalog, Serde, TopicSchema
from lsql_runner.pipeline import plan_text
from lsql_runner.plan.fingerprint import NOTHING, Fingerprint, fingerprint
from lsql_runner.plan.queries import Query
from lsql_runner.start.blue_green import BlueQuery, Runs, earlier_query, wanted_blues
from lsql_runner.start.decision import StartDecision, decide
from lsql_runner.start.registry_schemas import unregistered_schemas
from lsql_runner.start.replaced_state import SourceOffsets, continuation
from lsql_runner.start.situation import Situation
from lsql_runner.start.state_partitions import state_partitions
from lsql_runner.state.folder import LocalFolder
from lsql_runner.state.offset_log import SavedCheckpoint
from lsql_runner.state.saved_state import Blue, Pinned, Rebuild, SavedState
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
    begins: Mapping[Partition, int] = field(default_factory=lambda: {P0: 1, P1: 1, U0: 0})
    now: Mapping[Partition, int] = field(default_factory=lambda: {P0: 20, P1: 20, U0: 9})
    """The ends of the source partitions, if state is replaced."""
    since: Mapping[int, Mapping[Partition, int]] = field(default_factory=dict)
    """By time: the first offsets since then."""
    kept: str | None = None
    """The program whose state was replaced, and kept as `stateful-9`."""
    rebuilds: Mapping[str, Rebuild] = field(default_factory=dict)
    blues: Mapping[str, Blue] = field(default_factory=dict)
    runs: Runs = "both"


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
        kept=NOTHING if case.kept is None else _kept(case.kept),
        rebuilds=case.rebuilds,
        blues=case.blues,
    )


def _kept(sql: str) -> Fingerprint:
    return Fingerprint(
        tuple(replace(query, name="stateful-9") for query in fingerprint(plan_text(sql, CATALOG).plan).queries)
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
    continued = continuation(planned, saved, settings)
    blues = {} if case.runs == "green" else wanted_blues(saved, continued, settings)
    situation = Situation(
        planned=planned,
        continued=continued,
        runs=case.runs,
        blues={green: BlueQuery(blue, _earlier_query(blue.query, blue.sql, saved)) for green, blue in blues.items()},
        earlier={name: _earlier_query(name, case.old or "", saved) for name in continued.conversions},
        topics=frozenset(case.topics),
        topic_ids={"t": case.topic_id},
        group_ids=dict.fromkeys(case.committed, case.group_topic_id),
        schemas=schemas,
        committed=case.committed,
        ends=case.ends,
        resets=RESETS,
        offsets=SourceOffsets(case.begins, case.now, case.since),
        new_state_partitions=state_partitions(planned, settings).number,
        saved=saved,
        versions={},
        needed_mib=case.needed_mib,
        memory_limit_mib=case.container_mib,
    )
    return decide(situation, settings)


def _earlier_query(name: str, sql: str, saved: SavedState) -> Query:
    assert saved.pinned is not None
    query = earlier_query(name, plan_text(sql, CATALOG).plan, saved.pinned)
    assert query is not None
    return query


BEGUN = SavedCheckpoint()
READ = SavedCheckpoint(planned={P0: 6, P1: 3}, ended={P0: 5, P1: 3})
WITH_WORKERS = {"LSQL_WORKERS_SECRET": "secret-of-the-tests", "LSQL_WORKERS_HOST": "127.0.0.1"}
HAD_STATE = Case(
    COUNT, old=COUNT, checkpoints={(1, "stateful-0"): READ}, generations=frozenset({1}), committed={P0: 5, P1: 3}
)
