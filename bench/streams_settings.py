"""The settings of Kafka Streams, and of the topologies in `bench/streams`."""

from __future__ import annotations

from bench.task import Guarantee, Task

VERSION = "4.1.0"
COMMIT_INTERVAL_MS = 200
"""The default of 30 s would hide the position; 200 ms cost almost nothing."""
LOAD_COMMIT_INTERVAL_MS = 10_000
"""At a constant rate the position is not observed, and results are visible before the commit."""
EXACTLY_ONCE_COMMIT_INTERVAL_MS = 100
"""The default: results are visible after the commit."""


def of(task: Task) -> dict[str, str]:
    """The properties file of a task."""
    is_exactly_once = task.guarantee is Guarantee.EXACTLY_ONCE
    settings = {
        "bootstrap.servers": task.bootstrap,
        "application.id": task.group,
        "state.dir": str(task.state),
        "num.stream.threads": str(task.threads),
        "commit.interval.ms": str(_commit_interval_ms(task)),
        "processing.guarantee": "exactly_once_v2" if is_exactly_once else "at_least_once",
        "consumer.auto.offset.reset": "earliest",
        **{f"consumer.{name}": value for name, value in task.consumer.items()},
        **{f"producer.{name}": value for name, value in task.producer.items()},
        "bench.workload": task.name,
        "bench.source": task.source,
        "bench.other": task.other,
        "bench.targets": ",".join(task.targets),
        "bench.registry": task.registry,
        "bench.schema.id": str(task.schema_id),
    }
    if task.is_constant_load:
        # A cache delays a count until the next commit.
        settings["statestore.cache.max.bytes"] = "0"
    return settings


def _commit_interval_ms(task: Task) -> int:
    if task.guarantee is Guarantee.EXACTLY_ONCE:
        return EXACTLY_ONCE_COMMIT_INTERVAL_MS
    return LOAD_COMMIT_INTERVAL_MS if task.is_constant_load else COMMIT_INTERVAL_MS
