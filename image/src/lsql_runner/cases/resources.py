"""The topics and subjects that a case needs on brokers and in a registry. Pure: creates nothing."""

from __future__ import annotations

from dataclasses import replace

from lsql_runner.cases.model import Case
from lsql_runner.cases.prepare import PreparedCase, declared_schemas
from lsql_runner.errors import LsqlError
from lsql_runner.kafka.ports import TopicRequest
from lsql_runner.start.registry_schemas import subject_of
from lsql_runner.start.targets import target_request

_KEEP = {"retention.ms": "-1"}
"""Without a retention time, because records of a case may have old timestamps."""

_NEVER = str(2**63 - 1)
_KEEP_COMPACTED = _KEEP | {"min.compaction.lag.ms": _NEVER, "max.compaction.lag.ms": _NEVER}
"""A compacted topic keeps every record until the case has read them."""


def required_topics(case: Case, prepared: PreparedCase) -> list[TopicRequest]:
    """The topics of a case: those that it names, and those that its program creates, with the settings of the program.

    Raises:
        LsqlError: CASE_SINK_ON_KAFKA, CASE_READS_TARGET.
    """
    if case.sinks:
        raise LsqlError("CASE_SINK_ON_KAFKA", path=str(case.path), sink=next(iter(case.sinks)))
    targets = prepared.plan.targets
    read_targets = [source.topic for source in prepared.plan.sources if source.topic in targets]
    if read_targets:
        raise LsqlError("CASE_READS_TARGET", path=str(case.path), topic=read_targets[0])
    requests = []
    for name in dict.fromkeys((*case.existing, *targets)):
        partitions = case.existing.get(name)
        settings = prepared.planned.bound.settings.topic(name)
        if name in targets and settings.autocreate:
            request = target_request(prepared.planned, name)
            config = dict(request.config)
            config |= _KEEP_COMPACTED if "compact" in config.get("cleanup.policy", "") else _KEEP
            requests.append(replace(request, partitions=request.partitions or partitions, config=tuple(config.items())))
        else:
            requests.append(TopicRequest(name, partitions, None, tuple(_KEEP.items())))
    return requests


def required_subjects(case: Case, prepared: PreparedCase) -> dict[str, str]:
    """The subjects for which the case or its program registers schemas, with their topics."""
    topics = {subject_of(topic, part): topic for topic, part, _ in declared_schemas(case)}
    for write in prepared.plan.topic_writes:
        for part, schema in (("key", write.key_schema), ("value", write.value_schema)):
            if schema is not None:
                topics[subject_of(write.topic, part)] = write.topic
    return topics
