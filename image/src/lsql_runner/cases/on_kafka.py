"""Runs cases on real brokers, with a processor as in production and with topics that the case creates."""

from __future__ import annotations

import json
import signal
import sys
import tempfile
import threading
import time
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path

from lsql_runner.cases.case_run import CaseRun
from lsql_runner.cases.cleanup import Cleanup, deferred_interrupts
from lsql_runner.cases.compare import ActualRecord
from lsql_runner.cases.model import Case
from lsql_runner.cases.on_memory import topic_records
from lsql_runner.cases.prepare import Batches, EncodedRecord, PreparedCase, encode_batches, register_writers
from lsql_runner.cases.resources import required_subjects, required_topics
from lsql_runner.cases.stepwise import StepwiseRun
from lsql_runner.cases.values import NO_SCHEMAS, Schemas
from lsql_runner.config.settings import Settings, read_settings
from lsql_runner.engine.processor import SparkEngine
from lsql_runner.engine.records import read_records, write_records
from lsql_runner.errors import LsqlError, render
from lsql_runner.events.batches import Partition
from lsql_runner.formats.declared import as_declaration
from lsql_runner.jvm.spark_jvm import SparkJvm, short_lived
from lsql_runner.kafka.ports import Brokers, TopicRequest
from lsql_runner.kafka.registry import SchemaRegistry
from lsql_runner.plan.clocks import clock_of
from lsql_runner.runtime.supervisor import Supervisor
from lsql_runner.service import processor_without_api
from lsql_runner.start.connections import brokers_of, registry_of
from lsql_runner.start.decision import partitions_of
from lsql_runner.start.request import request_of

_READY_S = 30.0
_POLL_S = 0.05
_TERMINATED = 143

_OF_THE_CASE = ("SQL", "SQL_APP_ID", "SQL_STATE_STORE_DIR", "LSQL_TOPICS")
"""Variables that are ignored here, because each case sets them."""


@contextmanager
def kafka_cases(
    environment: Mapping[str, str], servers: str, registry_url: str | None, warn: Callable[[str], None]
) -> Iterator[KafkaCases]:
    """An engine for cases on brokers, with a new JVM. TERM ends the block as Ctrl-C does.

    Args:
        environment: the settings of a processor, including credentials.
        servers: as in SQL_BOOTSTRAP_SERVERS.
        registry_url: as in SQL_SCHEMA_REGISTRY_URL; None uses the environment.
        warn: receives the resources that could not be deleted after a case was interrupted.

    Raises:
        LsqlError: a setting is invalid; BROKER_UNREACHABLE, BROKER_REFUSED; JAVA_MISSING, JARS_MISSING.
    """
    settings = settings_of(environment, servers, registry_url)
    with ExitStack() as stack:
        stack.enter_context(_clean_up_on_term())
        brokers = stack.enter_context(closing(brokers_of(settings)))
        registry = registry_of(settings)
        if registry is not None:
            stack.enter_context(closing(registry))
        brokers.topics()  # fails before a JVM is started for unreachable brokers
        options = short_lived(settings.jars_dir, settings.class_archive, settings.heap_mib, settings.udf_dir)
        engine = stack.enter_context(closing(SparkEngine("lsql-test", SparkJvm(options), settings.threads)))
        yield KafkaCases(settings=settings, engine=engine, brokers=brokers, registry=registry, warn=warn)


def settings_of(environment: Mapping[str, str], servers: str, registry_url: str | None) -> Settings:
    """The settings that all cases share: a processor's settings, without the variables that each case sets.

    Raises:
        LsqlError: as `read_settings`.
    """
    given = {"SQL": "", "SQL_BOOTSTRAP_SERVERS": servers}
    if registry_url is not None:
        given["SQL_SCHEMA_REGISTRY_URL"] = registry_url
    replaced = {*_OF_THE_CASE, *given}
    kept = {name: value for name, value in environment.items() if name.removesuffix("_FILE") not in replaced}
    return read_settings(kept | given)


@contextmanager
def _clean_up_on_term() -> Iterator[None]:
    """Run the cleanup on TERM, which by default would end the process and leave topics on the brokers."""
    before = signal.signal(signal.SIGTERM, lambda *_: sys.exit(_TERMINATED))
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


class KafkaCases:
    """A CaseEngine. The caller closes the brokers, the registry and the SparkEngine.

    Each micro-batch is written to the topics while the processor is stopped, and then read to its end. So the batches
    are the batches of the case, and after the first the processor restarts on its state each time.
    """

    def __init__(
        self,
        *,
        settings: Settings,
        engine: SparkEngine,
        brokers: Brokers,
        registry: SchemaRegistry | None,
        warn: Callable[[str], None],
    ) -> None:
        self._settings = settings
        self._engine = engine
        self._brokers = brokers
        self._registry = registry
        self._warn = warn

    def run(self, case: Case, prepared: PreparedCase) -> CaseRun:
        topics, subjects = required_topics(case, prepared), required_subjects(case, prepared)
        if subjects and self._registry is None:
            raise LsqlError("REGISTRY_MISSING", topic=next(iter(subjects.values())))
        self._refuse_existing(case, topics, subjects)
        cleanup = Cleanup(path=case.path, brokers=self._brokers, registry=self._registry, subjects=list(subjects))
        try:
            self._create(case, topics, cleanup)
            error = self._process(case, prepared, cleanup)
            records = () if error is not None else tuple(self._output(case, prepared))
            schemas = self._schemas(subjects)
        except BaseException:
            for error in cleanup.run():
                self._warn(render(error))
            raise
        return CaseRun(records, error, schemas, cleanup.run())

    # --- topics and subjects ---

    def _refuse_existing(self, case: Case, topics: Sequence[TopicRequest], subjects: Mapping[str, str]) -> None:
        existing = self._brokers.topics()
        conflicts = [("topic", topic.name) for topic in topics if topic.name in existing]
        if self._registry is not None:
            conflicts += [("subject", subject) for subject in subjects if self._registry.is_taken(subject)]
        if conflicts:
            resource, name = conflicts[0]
            raise LsqlError("CASE_CONFLICT", path=str(case.path), resource=resource, name=name)

    def _create(self, case: Case, topics: Sequence[TopicRequest], cleanup: Cleanup) -> None:
        for topic in topics:
            cleanup.topics.append(topic.name)
            try:
                with deferred_interrupts():
                    created = self._brokers.create(topic)
            except LsqlError as error:
                if error.code == "TOPIC_REFUSED":
                    cleanup.topics.remove(topic.name)
                raise
            if not created:
                cleanup.topics.remove(topic.name)  # another program created it in the meantime
                raise LsqlError("CASE_CONFLICT", path=str(case.path), resource="topic", name=topic.name)
        deadline = time.monotonic() + _READY_S
        while not {topic.name for topic in topics} <= self._brokers.topics().keys():
            if time.monotonic() > deadline:
                raise LsqlError("CASE_TOPICS_MISSING", path=str(case.path), seconds=round(_READY_S))
            time.sleep(_POLL_S)

    def _schemas(self, subjects: Mapping[str, str]) -> Schemas:
        """All schemas of the case's subjects, by id."""
        registry = self._registry
        if registry is None:
            return NO_SCHEMAS
        known = [subject for subject in subjects if registry.latest(subject) is not None]
        ids = {schema_id for subject in known for schema_id in registry.ids(subject)}
        return {schema_id: registry.schema(schema_id).text for schema_id in ids}

    # --- the processor ---

    def _process(self, case: Case, prepared: PreparedCase, cleanup: Cleanup) -> LsqlError | None:
        """Run the program over all batches. Returns the error that ended it, or None."""
        batches = self._encode_input(case, prepared)
        sources = {source.topic for source in prepared.plan.sources}
        ends: dict[Partition, int] = {}
        with tempfile.TemporaryDirectory(prefix="lsql-test-") as folder, ExitStack() as stack:
            settings = self._settings_of(case, prepared, Path(folder))
            self._write(case, batches[0] if batches else (), sources, ends)
            cleanup.groups.append(settings.app_id)
            if _starts_at_latest(prepared):
                # The input exists before the processor starts. A committed position makes it read from the beginning.
                self._brokers.commit(settings.app_id, dict.fromkeys(partitions_of(prepared.plan.sources), 0))
            jvm_gone = threading.Event()
            try:
                running = StepwiseRun(case.path, self._launch(settings, jvm_gone, stack), jvm_gone)
            except LsqlError as error:
                return error
            clocks = {query.name: clock for query in prepared.plan.queries if (clock := clock_of(query))}
            for number, batch in enumerate(batches):
                if number:
                    failed = running.pause()
                    if failed is not None:
                        return failed
                    self._write(case, batch, sources, ends)
                    running.resume()
                failed = running.read_to(ends)
                failed = failed or running.pass_time(case.idle_ms.get(number, 0), clocks)
                if failed is not None:
                    return failed
            stack.close()  # commits the position
            return running.broker_error() or self._commit_error(case, settings.app_id, ends)

    def _encode_input(self, case: Case, prepared: PreparedCase) -> Batches:
        """The encoded input, with schema ids of this registry."""
        with deferred_interrupts():
            writers = {} if self._registry is None else register_writers(case, self._registry)
        return encode_batches(case, prepared.planned.program, prepared.planned.bound.settings, writers)

    def _settings_of(self, case: Case, prepared: PreparedCase, folder: Path) -> Settings:
        """The settings of the processor. They declare sampled schemas: the first batch may not have all fields."""
        declared = as_declaration({source.topic: source for source in prepared.plan.sources})
        changed = {
            "sql": case.sql,
            "app_id": f"lsql-test-{uuid.uuid4().hex[:12]}",
            "state_dir": folder,
            "topics": json.dumps(declared),
        }
        if _starts_at_latest(prepared):
            changed["state_on_loss"] = "reset"  # the committed position has no state
        return self._settings.model_copy(update=changed)

    def _launch(self, settings: Settings, jvm_gone: threading.Event, stack: ExitStack) -> Supervisor:
        deadline = time.monotonic() + _READY_S
        while True:
            try:
                return stack.enter_context(processor_without_api(self._engine, request_of(settings), jvm_gone.set))
            except LsqlError as error:
                if not error.kind.is_of_metadata or time.monotonic() > deadline:
                    raise
            time.sleep(_POLL_S)

    def _commit_error(self, case: Case, group: str, ends: Mapping[Partition, int]) -> LsqlError | None:
        """CASE_NOT_COMMITTED if the committed position of the processor is not at the ends."""
        committed = self._brokers.group_positions(group, ends)
        late = next((place for place, end in ends.items() if committed.get(place, 0) < end), None)
        if late is None:
            return None
        return LsqlError(
            "CASE_NOT_COMMITTED",
            path=str(case.path),
            topic=late.topic,
            partition=late.partition,
            committed=committed.get(late, 0),
            end=ends[late],
        )

    # --- records ---

    def _write(
        self, case: Case, batch: tuple[EncodedRecord, ...], sources: set[str], ends: dict[Partition, int]
    ) -> None:
        """Write a batch, and update the ends of the program's sources."""
        if not batch:
            return
        with self._aborting(case, "write-input"):
            write_records(self._engine.session, self._settings.connection, topic_records(batch))
        for record in batch:
            if record.topic in sources:
                ends[Partition(record.topic, record.partition)] = record.offset + 1

    def _output(self, case: Case, prepared: PreparedCase) -> Iterator[ActualRecord]:
        counts = self._brokers.topics()
        for topic in prepared.plan.targets:
            ends = self._brokers.ends(Partition(topic, number) for number in range(counts.get(topic, 0)))
            ranges = {place: (0, end) for place, end in ends.items() if end > 0}
            with self._aborting(case, "read-output"):
                records = read_records(self._engine.session, self._settings.connection, topic, ranges)
            for record in records:
                yield ActualRecord(
                    topic=topic,
                    key=record.key,
                    value=record.value,
                    timestamp_ms=record.timestamp_ms,
                    headers=record.headers,
                )

    @contextmanager
    def _aborting(self, case: Case, stage: str) -> Iterator[None]:
        try:
            yield
        except LsqlError as error:
            if error.code != "QUERY_FAILED":
                raise
            reason = error.params["reason"]
            raise LsqlError("CASE_ABORTED", path=str(case.path), stage=stage, reason=reason) from None


def _starts_at_latest(prepared: PreparedCase) -> bool:
    """Whether the program skips the records that its topics hold when it starts."""
    return prepared.planned.bound.settings.auto_offset_reset == "latest"
