"""The settings and the SQL of Flink."""

from __future__ import annotations

from collections.abc import Mapping

from bench.task import Guarantee, Task
from ci.tools.cache import ROOT

VERSION = "2.1.1"
CONNECTOR_VERSION = "4.0.1-2.0"
CHECKPOINT_MS = 2_000
"""The position is committed after each checkpoint. With 500 ms a run took more processor time."""
EXACTLY_ONCE_CHECKPOINT_MS = 500
"""Results are visible after the checkpoint."""
LOAD_CHECKPOINT_MS = 10_000
"""At a constant rate and at-least-once, where results are visible before a checkpoint."""

JVM_OPTIONS = (
    # Flink's start script opens these packages of the JDK.
    *(
        f"--add-opens=java.base/{package}=ALL-UNNAMED"
        for package in (
            *("java.lang", "java.lang.reflect", "java.net", "java.io", "java.nio", "java.text", "java.time"),
            *("java.util", "java.util.concurrent", "java.util.concurrent.atomic", "java.util.concurrent.locks"),
            "sun.nio.ch",
        )
    ),
    # It warns hundreds of times that two readers of a task have metrics of the same name.
    "-Dorg.slf4j.simpleLogger.log.org.apache.flink.metrics.MetricGroup=error",
)


def of(task: Task) -> dict[str, str]:
    """The configuration of a task: one task slot for each thread, the state in RocksDB, incremental checkpoints."""
    is_exactly_once = task.guarantee is Guarantee.EXACTLY_ONCE
    is_load = task.is_constant_load
    # By default a record waits up to 100 ms for others on its way to another task, and state is never removed.
    load = {"execution.buffer-timeout.interval": "5 ms", "table.exec.state.ttl": "15 min"} if is_load else {}
    return {
        **load,
        "parallelism.default": str(task.threads),
        "taskmanager.numberOfTaskSlots": str(task.threads),
        "pipeline.object-reuse": "true",
        "table.local-time-zone": "UTC",
        "state.backend.type": "rocksdb",
        "state.backend.rocksdb.localdir": str(task.state / "rocksdb"),
        "execution.checkpointing.interval": f"{_checkpoint_ms(task)} ms",
        "execution.checkpointing.mode": "EXACTLY_ONCE" if is_exactly_once else "AT_LEAST_ONCE",
        "execution.checkpointing.incremental": "true",
        # Otherwise a job waits for one more checkpoint at the end of its sources.
        "execution.checkpointing.checkpoints-after-tasks-finish": "false",
        "execution.checkpointing.dir": (task.state / "checkpoints").as_uri(),
        "io.tmp.dirs": str(task.state / "tmp"),
    }


def _checkpoint_ms(task: Task) -> int:
    if task.guarantee is Guarantee.EXACTLY_ONCE:
        return EXACTLY_ONCE_CHECKPOINT_MS
    return LOAD_CHECKPOINT_MS if task.is_constant_load else CHECKPOINT_MS


def program(task: Task) -> str:
    """The statements of a task."""
    text = (ROOT / "bench/flink/sql" / f"{task.name}.sql").read_text(encoding="utf-8")
    return text.format(
        source=_options(_source(task, task.source)),
        other=_options(_source(task, task.other)),
        other_table=_options(_as_table(_source(task, task.other))),
        target=_options(_target(task, task.targets[0])),
        target_table=_options({**_as_table(_target(task, task.targets[0])), "key.format": "json"}),
        second_target_table=_options({**_as_table(_target(task, task.targets[-1])), "key.format": "json"}),
        registry=task.registry,
        schema_id=task.schema_id,
    )


def _source(task: Task, topic: str) -> dict[str, str]:
    # With an end, the last windows are closed without records after them.
    end = {} if task.is_constant_load else {"scan.bounded.mode": "latest-offset"}
    return {
        "connector": "kafka",
        "topic": topic,
        "properties.bootstrap.servers": task.bootstrap,
        "properties.group.id": task.group,
        "scan.startup.mode": "earliest-offset",
        **end,
        "key.format": "raw",
        **{f"properties.{name}": value for name, value in task.consumer.items()},
    }


def _target(task: Task, topic: str) -> dict[str, str]:
    transactions = (
        {"sink.transactional-id-prefix": topic, "properties.transaction.timeout.ms": "60000"}
        if task.guarantee is Guarantee.EXACTLY_ONCE
        else {}
    )
    return {
        "connector": "kafka",
        "topic": topic,
        "properties.bootstrap.servers": task.bootstrap,
        "sink.delivery-guarantee": task.guarantee,
        **transactions,
        "key.format": "raw",
        **{f"properties.{name}": value for name, value in task.producer.items()},
    }


def _as_table(options: Mapping[str, str]) -> dict[str, str]:
    """The options of a table with a primary key, which is always read from its beginning."""
    wanted = {name: value for name, value in options.items() if name != "scan.startup.mode"}
    return {**wanted, "connector": "upsert-kafka"}


def _options(options: Mapping[str, str]) -> str:
    """The options of a WITH clause."""
    return ", ".join(f"'{name}' = '{value}'" for name, value in options.items())
