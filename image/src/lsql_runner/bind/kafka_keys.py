"""Names of Kafka's own settings, as of kafka-clients 3.9: which ones pass through and which the engine owns."""

from __future__ import annotations

TOPIC_KEYS = frozenset(
    """cleanup.policy compression.type compression.gzip.level compression.lz4.level compression.zstd.level
    delete.retention.ms file.delete.delay.ms flush.messages flush.ms index.interval.bytes
    local.retention.bytes local.retention.ms
    max.compaction.lag.ms max.message.bytes message.timestamp.after.max.ms message.timestamp.before.max.ms
    message.timestamp.type min.cleanable.dirty.ratio min.compaction.lag.ms min.insync.replicas preallocate
    remote.storage.enable retention.bytes retention.ms segment.bytes segment.index.bytes segment.jitter.ms segment.ms
    unclean.leader.election.enable""".split()
)

_CLIENT_KEYS = """client.dns.lookup client.rack connections.max.idle.ms metadata.max.age.ms receive.buffer.bytes
    reconnect.backoff.max.ms reconnect.backoff.ms request.timeout.ms retry.backoff.max.ms retry.backoff.ms
    send.buffer.bytes socket.connection.setup.timeout.max.ms socket.connection.setup.timeout.ms""".split()

CONSUMER_KEYS = frozenset(
    """check.crcs default.api.timeout.ms fetch.max.bytes fetch.max.wait.ms fetch.min.bytes isolation.level
    max.partition.fetch.bytes max.poll.records""".split()
    + _CLIENT_KEYS
)

PRODUCER_KEYS = frozenset(
    """batch.size buffer.memory compression.type compression.gzip.level compression.lz4.level compression.zstd.level
    delivery.timeout.ms linger.ms max.block.ms max.in.flight.requests.per.connection max.request.size
    metadata.max.idle.ms partitioner.adaptive.partitioning.enable partitioner.availability.timeout.ms
    partitioner.ignore.keys""".split()
    + _CLIENT_KEYS
)

OWNED_KEYS: dict[str, str] = {
    "application.id": "set SQL_APP_ID",
    "group.id": "set SQL_APP_ID",
    "bootstrap.servers": "set SQL_BOOTSTRAP_SERVERS",
    "schema.registry.url": "set SQL_SCHEMA_REGISTRY_URL",
    "enable.auto.commit": "leave it out: the position is committed after each batch",
    "enable.idempotence": "leave it out: the producer always is idempotent",
    "acks": "leave it out: the producer always waits for all in-sync replicas",
    "key.deserializer": "write STORE KEY AS or declare the topic in LSQL_TOPICS",
    "value.deserializer": "write STORE VALUE AS or declare the topic in LSQL_TOPICS",
    "key.serializer": "write STORE KEY AS <format>",
    "value.serializer": "write STORE VALUE AS <format>",
    "interceptor.classes": "leave it out: the engine sets its own",
    "transactional.id": "leave it out: there are no transactions in this version",
    "dead.letter.queue": "leave it out: bad records stop the processor in this version",
    "state.dir": "set SQL_STATE_STORE_DIR",
}
"""Keys that have another home here, with what to do instead."""

STREAMS_ONLY_KEYS: dict[str, str] = {
    "commit.interval.ms": "every micro-batch commits",
    "num.stream.threads": "threads follow the CPU limit",
    "cache.max.bytes.buffering": "each micro-batch gives one result for a changed key",
    "statestore.cache.max.bytes": "each micro-batch gives one result for a changed key",
    "num.standby.replicas": "state is restored from the checkpoint",
    "topology.optimization": "plans are always optimised",
    "max.task.idle.ms": "there are no stream tasks",
}
