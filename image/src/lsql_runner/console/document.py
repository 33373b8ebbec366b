"""The document that the recovery job publishes: every processor of the configured namespaces.

    workloads, reports of their runners, the former document -> [ merge ] -> Document

Field names are camelCase in JSON, times RFC 3339 in UTC.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from datetime import datetime, timedelta
from typing import Annotated, Literal

from pydantic import AwareDatetime, BeforeValidator, Field

from lsql_runner.console.workloads import Kind, ProcessorWorkload, WorkloadKey
from lsql_runner.events.state import State
from lsql_runner.reports.model import Model
from lsql_runner.reports.stream import ScalingReport

FORMAT = 1
SQL_CHARS = 16_384
"""The document keeps at most this many characters of a program; the workload has all of it."""
TEXT_CHARS = 500
"""The document keeps at most this many characters of a message."""
TOPICS = 100
"""The document keeps at most this many source topics, and as many target topics."""

Topic = Annotated[str, Field(max_length=249)]
Text = Annotated[str, BeforeValidator(lambda text: str(text)[:TEXT_CHARS])]
Code = Annotated[str, BeforeValidator(lambda text: str(text)[:64])]


class ReportedViolation(Model):
    """A rule for workloads of processors that this workload violates. docs/guides/console.md lists the codes."""

    code: str
    text: str


class RunnerError(Model):
    """An error that a runner reports."""

    code: Code
    message: Text
    way_out: Text = ""
    at: AwareDatetime | None = None


class RunnerReport(Model):
    """The report of a runner, or the reason why there is none."""

    state: State | Literal["scaled-down", "unreachable", "deleted"] = Field(
        description="The state that the runner reports, or one of three that the console adds."
    )
    since: datetime | None = None
    reason: RunnerError | None = Field(default=None, description="Why it waits, restarts or has failed.")
    healthy: bool | None = Field(default=None, description="Null if the runner did not report it.")
    health_reasons: tuple[Text, ...] = ()
    lag: int | None = Field(default=None, ge=0)
    records_in_per_second: float | None = None
    records_out_per_second: float | None = None
    topics_in: tuple[Topic, ...] = ()
    topics_out: tuple[Topic, ...] = ()
    last_error: RunnerError | None = None
    runner_version: str = ""
    scaling: ScalingReport | None = Field(default=None, description="Null if autoscaling is off.")
    unreachable: str | None = Field(default=None, description="Why the runner did not respond; null if it did.")


class ProcessorSummary(RunnerReport):
    """A processor without its program."""

    id: str = Field(description="The label lenses-id; never changes.")
    name: str
    namespace: str
    kind: Kind
    user: str = ""
    pipeline: str = ""
    release: str = Field(default="", description="The Helm release.")
    chart: str = ""
    chart_version: str = ""
    image: str = ""
    image_version: str = ""
    created: Literal["inside", "outside"] = Field(
        default="outside", description="Inside: created by this project's chart."
    )
    created_by: str = Field(default="unknown", description="lsql-runner, helm, kubectl or unknown.")
    created_at: datetime | None = None
    legacy: bool = Field(default=False, description="A processor of the old public chart.")
    app_id: str = ""
    runners: int = Field(default=1, description="Replicas in the workload's spec.")
    workers: int | None = Field(
        default=None, description="Replicas of the Deployment of its workers; null if it has no workers."
    )
    violations: tuple[ReportedViolation, ...] = ()
    first_seen_at: datetime
    seen_at: datetime
    deleted_at: datetime | None = None


class ProcessorEntry(ProcessorSummary):
    """One processor, with its program."""

    bootstrap_servers: str = ""
    sql: str | None = Field(default=None, description="The program, or its beginning.")
    sql_chars: int = 0
    sql_truncated: bool = False

    @property
    def key(self) -> WorkloadKey:
        return (self.namespace, self.kind, self.name)


class NamespaceFailure(Model):
    """A namespace that could not be read: its entries come from the previous document."""

    namespace: str
    text: str


class Document(Model):
    """The processors of the configured namespaces, at one time."""

    format: int = FORMAT
    at: datetime = Field(description="When the document was made.")
    version: str = Field(description="Version of the program that made the document.")
    namespaces: tuple[str, ...]
    failures: tuple[NamespaceFailure, ...] = ()
    processors: tuple[ProcessorEntry, ...] = ()


def cut_program(sql: str | None, chars: int = SQL_CHARS) -> tuple[str | None, bool]:
    """The first `chars` characters of a program, and whether it is longer."""
    return (sql, False) if sql is None or len(sql) <= chars else (sql[:chars], True)


def identity(processor: ProcessorWorkload, former: Iterable[ProcessorEntry], living_ids: Collection[str]) -> str:
    """The id of a processor: its label, else its former id, else the uid of its workload.

    A workload that was created again with the same name and SQL_APP_ID keeps its former id: its consumer group,
    state and history are the same.
    """
    if processor.id is not None:
        return processor.id
    for entry in former:
        same = (entry.namespace, entry.name, entry.app_id) == (processor.namespace, processor.name, processor.app_id)
        if same and entry.id not in living_ids:
            return entry.id
    return processor.uid


def merge(
    processors: Iterable[tuple[str, ProcessorWorkload, RunnerReport]],
    former: Document | None,
    at: datetime,
    version: str,
    namespaces: Collection[str],
    failures: Mapping[str, str],
    keep: timedelta,
) -> Document:
    """The new document. `processors` are tuples of an id, a workload and the report of its runner.

    A processor that no longer exists is kept as deleted for `keep`. The entries of a namespace that could not be
    read do not change.
    """
    before = {entry.id: entry for entry in former.processors} if former else {}
    entries = [_entry(identifier, p, live, before.get(identifier), at) for identifier, p, live in processors]
    alive = {entry.id for entry in entries}
    for entry in before.values():
        if entry.id in alive or entry.namespace not in namespaces:
            continue
        if entry.namespace in failures:
            entries.append(entry)
            continue
        deleted_at = entry.deleted_at or at
        if at - deleted_at < keep:
            entries.append(entry.model_copy(update={**_NO_REPORT, "state": "deleted", "deleted_at": deleted_at}))
    return Document(
        at=at,
        version=version,
        namespaces=tuple(sorted(namespaces)),
        failures=tuple(
            NamespaceFailure(namespace=namespace, text=text) for namespace, text in sorted(failures.items())
        ),
        processors=tuple(sorted(entries, key=lambda entry: (entry.namespace, entry.name, entry.kind, entry.id))),
    )


_NO_REPORT = {
    "healthy": None,
    "health_reasons": (),
    "unreachable": None,
    "reason": None,
    "lag": None,
    "records_in_per_second": None,
    "records_out_per_second": None,
    "scaling": None,
}
"""Fields that are unknown for a deleted processor."""


def _entry(
    identifier: str, p: ProcessorWorkload, live: RunnerReport, before: ProcessorEntry | None, at: datetime
) -> ProcessorEntry:
    sql, cut = cut_program(p.sql)
    fields = live.model_dump()
    if live.unreachable is not None and before is not None:  # the last known topics are better than none
        fields |= {"topics_in": before.topics_in, "topics_out": before.topics_out, "last_error": before.last_error}
    return ProcessorEntry(
        **fields,
        id=identifier,
        name=p.name,
        namespace=p.namespace,
        kind=p.kind,
        user=p.user,
        pipeline=p.pipeline,
        release=p.release,
        chart=p.chart,
        chart_version=p.chart_version,
        image=p.image,
        image_version=p.image_version,
        created=p.created,
        created_by=p.created_by,
        created_at=p.created_at,
        legacy=p.legacy,
        app_id=p.app_id,
        bootstrap_servers=p.bootstrap_servers,
        runners=p.runners,
        workers=p.workers.replicas if p.workers else None,
        violations=tuple(ReportedViolation(code=v.code, text=v.text) for v in p.violations),
        sql=sql,
        sql_chars=p.sql_chars,
        sql_truncated=cut or p.sql_chars > len(p.sql or ""),
        first_seen_at=before.first_seen_at if before else at,
        seen_at=at,
    )
