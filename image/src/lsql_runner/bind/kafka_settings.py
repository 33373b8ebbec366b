"""The settings of Kafka, as of kafka-clients 3.9: those that a program can set, and those that are ignored."""

from __future__ import annotations

import re

from lsql_runner.bind.expected import EXPECTED
from lsql_runner.errors import Detail

TOPIC_KEYS = frozenset(
    """cleanup.policy compression.type compression.gzip.level compression.lz4.level compression.zstd.level
    delete.retention.ms file.delete.delay.ms flush.messages flush.ms index.interval.bytes
    local.retention.bytes local.retention.ms
    max.compaction.lag.ms max.message.bytes message.timestamp.after.max.ms message.timestamp.before.max.ms
    message.timestamp.type min.cleanable.dirty.ratio min.compaction.lag.ms min.insync.replicas preallocate
    remote.storage.enable retention.bytes retention.ms segment.bytes segment.index.bytes segment.jitter.ms segment.ms
    unclean.leader.election.enable""".split()
)

_CLIENT_KEYS = """client.dns.lookup client.id connections.max.idle.ms enable.metrics.push
    metadata.max.age.ms metadata.recovery.strategy metrics.num.samples metrics.recording.level metrics.sample.window.ms
    receive.buffer.bytes reconnect.backoff.max.ms reconnect.backoff.ms request.timeout.ms retry.backoff.max.ms
    retry.backoff.ms send.buffer.bytes socket.connection.setup.timeout.max.ms
    socket.connection.setup.timeout.ms""".split()

CONSUMER_KEYS = frozenset(
    """check.crcs client.rack default.api.timeout.ms fetch.max.bytes fetch.max.wait.ms fetch.min.bytes isolation.level
    max.partition.fetch.bytes max.poll.records""".split()
    + _CLIENT_KEYS
)

PRODUCER_KEYS = frozenset(
    """batch.size buffer.memory compression.type compression.gzip.level compression.lz4.level compression.zstd.level
    delivery.timeout.ms linger.ms max.block.ms max.in.flight.requests.per.connection max.request.size
    metadata.max.idle.ms partitioner.adaptive.partitioning.enable partitioner.availability.timeout.ms
    partitioner.ignore.keys retries transaction.timeout.ms""".split()
    + _CLIENT_KEYS
)

_CHOICES = {
    "client.dns.lookup": ("use_all_dns_ips", "resolve_canonical_bootstrap_servers_only"),
    "compression.type": ("none", "gzip", "snappy", "lz4", "zstd"),
    "isolation.level": ("read_committed", "read_uncommitted"),
    "metadata.recovery.strategy": ("none", "rebootstrap"),
    "metrics.recording.level": ("INFO", "DEBUG", "TRACE"),
}
_FLAGS = """check.crcs enable.metrics.push partitioner.adaptive.partitioning.enable partitioner.ignore.keys""".split()
_TEXTS = ("client.id", "client.rack")
_AT_MOST = {"max.in.flight.requests.per.connection": 5, "retries": 2**31 - 1}
"""An idempotent producer accepts values from 1 to this. With other values it fails at the first record."""


def expected_value(key: str, value: str) -> Detail | None:
    """A description of the valid values of a consumer or producer setting; None if `value` is valid.

    Of other numbers only the client checks the range.
    """
    if key in _TEXTS:
        return None
    if key in _CHOICES:
        return None if value in _CHOICES[key] else EXPECTED("ONE_OF", known=", ".join(_CHOICES[key]))
    if key in _FLAGS:
        return None if value.lower() in ("true", "false") else EXPECTED("BOOLEAN")
    is_whole = re.fullmatch(r"-?\d{1,18}", value, re.ASCII) is not None
    if key in _AT_MOST:
        fits = is_whole and 1 <= int(value) <= _AT_MOST[key]
        return None if fits else EXPECTED("INTEGER_RANGE", least=1, most=_AT_MOST[key])
    return None if is_whole else EXPECTED("INTEGER")


_NO_GROUP = "partitions are assigned to queries, and no consumer joins the group"

IGNORED_KEYS: dict[str, str] = {
    "auto.commit.interval.ms": "every micro-batch commits",
    **dict.fromkeys(
        """group.instance.id group.protocol group.remote.assignor heartbeat.interval.ms max.poll.interval.ms
        partition.assignment.strategy session.timeout.ms exclude.internal.topics""".split(),
        _NO_GROUP,
    ),
    "num.stream.threads": "the number of threads follows the CPU limit",
    "poll.ms": "each micro-batch reads all available records",
    "buffered.records.per.partition": "each micro-batch reads all available records",
    "cache.max.bytes.buffering": "each micro-batch writes one result for each changed key",
    "statestore.cache.max.bytes": "each micro-batch writes one result for each changed key",
    "num.standby.replicas": "a standby process reads the state from the checkpoint (standby.replicas of the chart)",
    "max.warmup.replicas": "state is restored from the checkpoint",
    "acceptable.recovery.lag": "state is restored from the checkpoint",
    "state.cleanup.delay.ms": "state is restored from the checkpoint",
    "probing.rebalance.interval.ms": "there are no stream tasks",
    "max.task.idle.ms": "there are no stream tasks",
    "task.timeout.ms": "there are no stream tasks",
    "replication.factor": "there are no internal topics",
    "repartition.purge.interval.ms": "there are no internal topics",
    "windowstore.changelog.additional.retention.ms": "there are no internal topics",
    "topology.optimization": "plans are always optimised",
    "upgrade.from": "the state of Kafka Streams is not read",
    "application.server": "GET /metadata lists the state stores",
    "auto.include.jmx.reporter": "metrics are on GET /metrics",
    "built.in.metrics.version": "metrics are on GET /metrics",
    "log.summary.interval.ms": "each micro-batch is logged at the level DEBUG",
}
"""Settings of Kafka Streams and of group members that have no effect, with the reason. They cause a warning."""

FIXED_VALUES: dict[str, tuple[str, ...]] = {
    "acks": ("all", "-1"),
    "enable.auto.commit": ("false",),
    "enable.idempotence": ("true",),
}
"""Settings of the engine's clients with the values that they always have. These values cause a warning only."""


def environment_name(key: str) -> str | None:
    """The environment variable for a setting of the connection or its credentials; None for other settings."""
    if key.startswith(("sasl.", "ssl.")) or key == "security.protocol":
        return key.upper().replace(".", "_")
    return None
