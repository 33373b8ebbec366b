"""What a case needs on brokers and at a registry: the names that it uses, all of them its own while it runs. Pure."""

from __future__ import annotations

from dataclasses import replace

from lsql_runner.cases.model import Case
from lsql_runner.cases.prepare import PreparedCase, declared_schemas
from lsql_runner.errors import LsqlError
from lsql_runner.kafka.ports import TopicRequest
from lsql_runner.runtime.registered import subject_of
from lsql_runner.runtime.targets import target_request

_KEEP = {"retention.ms": "-1"}
"""The records of a case may be of any time, and brokers delete what is old."""


def wanted_topics(case: Case, prepared: PreparedCase) -> list[TopicRequest]:
    """Every topic of a case: those that it names, and those that its program would make, as it would.

    Raises:
        LsqlError: CASE_SINK_ON_KAFKA, CASE_READS_TARGET.
    """
    if case.sinks:
        raise LsqlError("CASE_SINK_ON_KAFKA", path=str(case.path), sink=next(iter(case.sinks)))
    targets = prepared.plan.targets
    both = [source.topic for source in prepared.plan.sources if source.topic in targets]
    if both:
        raise LsqlError("CASE_READS_TARGET", path=str(case.path), topic=both[0])
    requests = []
    for name in dict.fromkeys((*case.existing, *targets)):
        partitions = case.existing.get(name)
        made = prepared.planned.bound.settings.topic(name)
        if name in targets and made.autocreate:
            asked = target_request(prepared.planned, name)
            config = dict(asked.config) | _KEEP
            requests.append(replace(asked, partitions=asked.partitions or partitions, config=tuple(config.items())))
        else:
            requests.append(TopicRequest(name, partitions, None, tuple(_KEEP.items())))
    return requests


def wanted_subjects(case: Case, prepared: PreparedCase) -> dict[str, str]:
    """Every subject that the case or its program registers a schema of, with its topic."""
    found = {subject_of(topic, part): topic for topic, part, _ in declared_schemas(case)}
    for sink in prepared.plan.topic_sinks:
        for part, schema in (("key", sink.key_schema), ("value", sink.value_schema)):
            if schema is not None:
                found[subject_of(sink.topic, part)] = sink.topic
    return found
