"""The target topics that a program creates."""

from __future__ import annotations

from lsql_runner.kafka.ports import TopicRequest
from lsql_runner.pipeline import PlannedProgram

_CLEANUP = "cleanup.policy"
_IN_SYNC = "min.insync.replicas"
_REPLICAS_FOR_TWO = 3
"""With two replicas in sync of three, one broker may fail without stopping the processor or losing its results."""


def compacted_targets(planned: PlannedProgram) -> frozenset[str]:
    """The compacted topics among those that the program creates. They accept no record without a key."""
    created = (topic for topic in planned.plan.targets if planned.bound.settings.topic(topic).autocreate)
    return frozenset(t for t in created if "compact" in dict(target_request(planned, t).config).get(_CLEANUP, ""))


def target_request(planned: PlannedProgram, topic: str) -> TopicRequest:
    """The request to create a target topic, with the program's settings.

    A table has one row for each key, so its topic is compacted unless the program sets another policy. Windowed results
    always have new keys: their topics have the brokers' default retention.

    The producer waits for all replicas in sync. If the program sets the replication, the topic refuses records that
    only one of three replicas would have. Otherwise the brokers choose both.
    """
    settings = planned.bound.settings.topic(topic)
    config = settings.config
    written = [write.input for write in planned.plan.topic_writes if write.topic == topic]
    is_table = bool(written) and all(rows.of_table and not rows.windowed for rows in written)
    if is_table and _CLEANUP not in dict(config):
        config = (*config, (_CLEANUP, "compact"))
    if settings.replication is not None and _IN_SYNC not in dict(config):
        config = (*config, (_IN_SYNC, "2" if settings.replication >= _REPLICAS_FOR_TWO else "1"))
    return TopicRequest(topic, settings.partitions, settings.replication, config)
