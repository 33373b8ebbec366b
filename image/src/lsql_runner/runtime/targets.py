"""The topics that a program makes for what it writes."""

from __future__ import annotations

from lsql_runner.kafka.ports import TopicRequest
from lsql_runner.pipeline import PlannedProgram

_CLEANUP = "cleanup.policy"


def compacted_targets(planned: PlannedProgram) -> frozenset[str]:
    """Of the topics that the program makes those that take no record without a key."""
    made = (topic for topic in planned.plan.targets if planned.bound.settings.topic(topic).autocreate)
    return frozenset(t for t in made if "compact" in dict(target_request(planned, t).config).get(_CLEANUP, ""))


def target_request(planned: PlannedProgram, topic: str) -> TopicRequest:
    """A target as the program makes it.

    Of a table each key's newest row counts, so its topic is compacted, if the program does not say otherwise. Windows
    have new keys for ever: their topics forget, as the brokers' own settings say.
    """
    made = planned.bound.settings.topic(topic)
    config = made.config
    written = [sink.input for sink in planned.plan.topic_sinks if sink.topic == topic]
    is_table = bool(written) and all(rows.of_table and not rows.windowed for rows in written)
    if is_table and _CLEANUP not in dict(config):
        config = (*config, (_CLEANUP, "compact"))
    return TopicRequest(topic, made.partitions, made.replication, config)
