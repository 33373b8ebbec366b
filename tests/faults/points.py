"""The points at which a JVM is killed. Byteman, a Java agent, adds the kill to the classes when the JVM loads them.

A point is armed by a file, and the kill happens when a thread arrives there for the nth time from then on.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from devkit.jars import jar_folder
from tests.faults.programs import CONTINUOUS, DELETIONS, GROUPS, JOINS, REAL_TIME, STATELESS, Suite

_LOGS = "org.apache.spark.sql.execution.streaming.checkpointing"
_STATE = "org.apache.spark.sql.execution.streaming.state"
_TOPIC = "com.lsqlrunner.topic"
_DELIVERY = "com.lsqlrunner.delivery"


class Guarantee(StrEnum):
    """What is required of the results."""

    AT_LEAST_ONCE = "at_least_once"
    EXACTLY_ONCE = "exactly_once"


class Repeats(StrEnum):
    """Whether a processor that is killed at a point writes results again, under at-least-once."""

    NEVER = "never"
    ALWAYS = "always"
    MAYBE = "maybe"


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """Where a rule of Byteman applies. `condition` is an expression of Byteman; `action` replaces the kill."""

    class_name: str
    method: str
    location: str = "ENTRY"
    """`ENTRY`, `EXIT`, `INVOKE close` ..."""
    condition: str = "true"
    action: str = "killJVM()"


@dataclass(frozen=True, slots=True, kw_only=True)
class Point:
    """A point of the code. `suites` are those that pass it, `arrival` is the pass that ends the JVM."""

    name: str
    rule: Rule
    suites: tuple[Suite, ...]
    arrival: int = 1
    repeats: Repeats
    """Of at-least-once: tells whether the kill happens where the name says."""
    more: tuple[Rule, ...] = ()
    """Rules without a kill, that apply from the start and at each pass."""
    in_recovery: bool = False
    """Passed by the start after a kill, not while records are processed."""
    only: Guarantee | None = None
    """The guarantee whose protocol has the point; None for all."""


def _log(name: str) -> str:
    return f'$0.getClass().getSimpleName().equals("{name}")'


_REAL_TIME = "com.lsqlrunner.realtime"

_BATCHES = (STATELESS, GROUPS, JOINS)
_LOGGED = (*_BATCHES, REAL_TIME)
_STATEFUL = (GROUPS, JOINS)

# The product takes a snapshot after sixty batches, and Spark uploads it within a minute.
_SNAPSHOTS = (
    Rule(class_name=f"{_STATE}.StateStoreConf", method="minDeltasForSnapshot()", action="return 1"),
    Rule(class_name=f"{_STATE}.StateStoreConf", method="maintenanceInterval()", action="return 200L"),
)

# An open batch is closed after 30 s.
_CLOSED_SOON = (
    Rule(class_name=f"{_REAL_TIME}.RealTime", method="open", action="$2 = java.time.Duration.ofSeconds(2)"),
)

POINTS = (
    Point(
        name="before-offset-log",
        rule=Rule(class_name=f"{_LOGS}.HDFSMetadataLog", method="add", condition=_log("OffsetSeqLog")),
        suites=_LOGGED,
        arrival=2,
        repeats=Repeats.MAYBE,
        more=_CLOSED_SOON,
    ),
    Point(
        name="after-offset-log",
        rule=Rule(class_name=f"{_LOGS}.HDFSMetadataLog", method="add", location="EXIT", condition=_log("OffsetSeqLog")),
        suites=_LOGGED,
        arrival=2,
        repeats=Repeats.MAYBE,
        more=_CLOSED_SOON,
    ),
    Point(
        name="at-an-acknowledgement",
        rule=Rule(class_name="com.lsqlrunner.topic.BatchAcknowledgements", method="onCompletion"),
        suites=_BATCHES,
        arrival=17,
        repeats=Repeats.ALWAYS,
    ),
    Point(
        name="at-an-acknowledgement-of-a-continuous-task",
        rule=Rule(class_name="com.lsqlrunner.continuous.ContinuousTask$Interval", method="onCompletion"),
        suites=(CONTINUOUS,),
        arrival=17,
        repeats=Repeats.ALWAYS,
    ),
    Point(
        name="opening-saved",
        rule=Rule(class_name=f"{_DELIVERY}.Openings", method="open", location="EXIT"),
        suites=(REAL_TIME, DELETIONS),
        repeats=Repeats.NEVER,
        more=_CLOSED_SOON,
        only=Guarantee.EXACTLY_ONCE,
    ),
    Point(
        name="at-an-acknowledgement-of-an-open-batch",
        rule=Rule(class_name=f"{_REAL_TIME}.OpenWriter", method="onCompletion"),
        suites=(REAL_TIME, DELETIONS),
        arrival=17,
        repeats=Repeats.MAYBE,
    ),
    Point(
        name="open-batch-closed",
        rule=Rule(class_name=f"{_REAL_TIME}.OpenBatch", method="close", location="EXIT"),
        suites=(REAL_TIME, DELETIONS),
        repeats=Repeats.MAYBE,
        more=_CLOSED_SOON,
    ),
    Point(
        name="state-of-an-open-batch-taken",
        rule=Rule(class_name=f"{_REAL_TIME}.OpenStateStores", method="take", location="EXIT"),
        suites=(REAL_TIME, DELETIONS),
        repeats=Repeats.ALWAYS,
        more=_CLOSED_SOON,
    ),
    Point(
        name="records-sent",
        rule=Rule(class_name=f"{_TOPIC}.TopicWriter", method="commit"),
        suites=_BATCHES,
        repeats=Repeats.MAYBE,
    ),
    Point(
        name="records-acknowledged",
        rule=Rule(class_name=f"{_TOPIC}.TopicWriter", method="commit", location="EXIT"),
        suites=_BATCHES,
        arrival=2,
        repeats=Repeats.ALWAYS,
    ),
    Point(
        name="before-commit-log",
        rule=Rule(class_name=f"{_LOGS}.HDFSMetadataLog", method="add", condition=_log("CommitLog")),
        suites=_LOGGED,
        arrival=2,
        repeats=Repeats.ALWAYS,
        more=_CLOSED_SOON,
    ),
    Point(
        name="after-commit-log",
        rule=Rule(class_name=f"{_LOGS}.HDFSMetadataLog", method="add", location="EXIT", condition=_log("CommitLog")),
        suites=_LOGGED,
        arrival=2,
        repeats=Repeats.MAYBE,
        more=_CLOSED_SOON,
    ),
    Point(
        name="changes-of-state-saved",
        rule=Rule(class_name=f"{_STATE}.StateStoreChangelogWriterV1", method="commit", location="EXIT"),
        suites=(GROUPS, REAL_TIME),
        arrival=2,
        repeats=Repeats.MAYBE,
        more=_CLOSED_SOON,
    ),
    Point(
        name="changes-of-state-saved",
        rule=Rule(class_name=f"{_STATE}.StateStoreChangelogWriterV2", method="commit", location="EXIT"),
        suites=(JOINS,),
        arrival=2,
        repeats=Repeats.MAYBE,
    ),
    Point(
        name="snapshot-of-state",
        rule=Rule(class_name=f"{_STATE}.RocksDBFileManager", method="zipToDfsFile"),
        suites=_STATEFUL,
        arrival=2,
        repeats=Repeats.MAYBE,
        more=_SNAPSHOTS,
    ),
    Point(
        name="results-of-the-replay-acknowledged",
        rule=Rule(class_name=f"{_TOPIC}.TopicWriter", method="commit", location="EXIT"),
        suites=_LOGGED,
        repeats=Repeats.ALWAYS,
        in_recovery=True,
    ),
    Point(
        name="commit-of-a-transaction",
        rule=Rule(class_name="org.apache.kafka.clients.producer.KafkaProducer", method="commitTransaction"),
        suites=(STATELESS, GROUPS, REAL_TIME, JOINS, CONTINUOUS),
        arrival=2,
        repeats=Repeats.NEVER,
        only=Guarantee.EXACTLY_ONCE,
    ),
    Point(
        name="transaction-committed",
        rule=Rule(
            class_name="org.apache.kafka.clients.producer.KafkaProducer", method="commitTransaction", location="EXIT"
        ),
        suites=(STATELESS, GROUPS, REAL_TIME, JOINS, CONTINUOUS),
        arrival=2,
        repeats=Repeats.NEVER,
        only=Guarantee.EXACTLY_ONCE,
    ),
    Point(
        name="ends-of-the-targets-saved",
        rule=Rule(class_name=f"{_DELIVERY}.TargetOffsets", method="save", location="EXIT"),
        suites=(STATELESS, CONTINUOUS),
        repeats=Repeats.NEVER,
        only=Guarantee.EXACTLY_ONCE,
    ),
    Point(
        name="before-open-transactions-are-committed",
        rule=Rule(class_name=f"{_DELIVERY}.TransactionRecovery", method="commitOpen"),
        suites=(STATELESS, CONTINUOUS, GROUPS, REAL_TIME),
        repeats=Repeats.NEVER,
        in_recovery=True,
        only=Guarantee.EXACTLY_ONCE,
    ),
    Point(
        name="open-transactions-committed",
        rule=Rule(class_name=f"{_DELIVERY}.TransactionRecovery", method="commitOpen", location="EXIT"),
        suites=(STATELESS, CONTINUOUS, GROUPS, REAL_TIME),
        repeats=Repeats.NEVER,
        in_recovery=True,
        only=Guarantee.EXACTLY_ONCE,
    ),
    Point(
        name="producers-fenced",
        rule=Rule(class_name=f"{_DELIVERY}.ProducerSlots", method="fence", location="EXIT"),
        suites=(STATELESS, CONTINUOUS, GROUPS, REAL_TIME),
        repeats=Repeats.NEVER,
        in_recovery=True,
        only=Guarantee.EXACTLY_ONCE,
    ),
    Point(
        name="record-of-a-target-read",
        rule=Rule(class_name=f"{_DELIVERY}.TargetScan", method="add"),
        suites=(STATELESS, CONTINUOUS, GROUPS, REAL_TIME, JOINS),
        repeats=Repeats.NEVER,
        in_recovery=True,
        only=Guarantee.EXACTLY_ONCE,
    ),
    Point(
        name="targets-scanned",
        rule=Rule(class_name=f"{_DELIVERY}.TransactionalOutput", method="findWritten", location="EXIT"),
        suites=(STATELESS, CONTINUOUS, GROUPS, REAL_TIME),
        repeats=Repeats.NEVER,
        in_recovery=True,
        only=Guarantee.EXACTLY_ONCE,
    ),
)

_BY_NAME = {point.name: point for point in POINTS}
CRASHES = {
    "batch": _BY_NAME["at-an-acknowledgement"],
    "continuous": _BY_NAME["at-an-acknowledgement-of-a-continuous-task"],
    "auto": _BY_NAME["at-an-acknowledgement-of-an-open-batch"],
}
"""By mode, a point at which the JVM is killed while it writes results."""
TARGET_ENDS_SAVED = _BY_NAME["ends-of-the-targets-saved"]


def first_batch_held(held: Path) -> Point:
    """The query `stateful-1` waits before its first batch. The file `held` exists then."""
    rule = Rule(
        class_name=f"{_LOGS}.HDFSMetadataLog",
        method="add",
        condition='$0.metadataPath().toString().endsWith("/stateful-1/offsets")',
        action=f'openTrace("held", "{held}"); delay(120000)',
    )
    return Point(name="first-batch-held", rule=rule, suites=(), repeats=Repeats.NEVER)


def task_held(held: Path) -> Point:
    """A task waits between two records. The file `held` exists then."""
    rule = Rule(class_name=f"{_TOPIC}.TopicWriter", method="write", action=f'openTrace("held", "{held}"); delay(45000)')
    return Point(name="task-held", rule=rule, suites=(), arrival=5, repeats=Repeats.MAYBE)


@dataclass(frozen=True, slots=True)
class Agent:
    """The agent of a JVM with the rules of a point. `folder` gets its files."""

    point: Point
    folder: Path

    @property
    def armed(self) -> Path:
        """The file that arms the point."""
        return self.folder / "armed"

    def option(self) -> str:
        """The option of the JVM. Writes the rules."""
        script = self.script()
        return f"-javaagent:{byteman()}=script:{script}"

    def script(self) -> Path:
        """Write the rules to a file."""
        script = self.folder / "rules.btm"
        once = f'armed.exists() AND incrementCounter("passes") == {self.point.arrival}'
        bound = f'armed:java.io.File = new java.io.File("{self.armed}")'
        rules = [_text("kill", self.point.rule, f"BIND {bound}\n", f" AND {once}")]
        rules += [_text(f"more {number}", rule) for number, rule in enumerate(self.point.more)]
        script.write_text("\n".join(rules))
        return script


def byteman() -> Path:
    """The jar of Byteman."""
    [jar] = jar_folder("faults-jars").glob("byteman-*.jar")
    return jar


def _text(name: str, rule: Rule, bindings: str = "", condition: str = "") -> str:
    return (
        f"RULE {name}\nCLASS {rule.class_name}\nMETHOD {rule.method}\nAT {rule.location}\n{bindings}"
        f"IF {rule.condition}{condition}\nDO {rule.action}\nENDRULE\n"
    )
