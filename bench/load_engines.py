"""The engines under a constant load: lsql-runner in a container, or any engine on the host."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Protocol
from urllib.error import URLError
from urllib.request import urlopen

from bench.engines import ComparedEngine
from bench.load_programs import FIELDS, LoadProgram
from bench.task import Guarantee, Task
from bench.usage import private_mib, processor_s
from ci.tools.ports import free_port
from devkit.container import Container
from devkit.process import Process

_START_S = 120
# Kafka's defaults for latency, instead of the settings for a backlog.
_PRODUCER = {"linger.ms": "5", "compression.type": "lz4"}


@dataclass(frozen=True, slots=True)
class LoadTopics:
    """The topics of a processor. The processors of a run have the same source."""

    name: str
    """Of the run."""
    inserts: int
    processor: int = 0
    """The number of the processor."""

    @property
    def app_id(self) -> str:
        return f"{self.name}-{self.processor}" if self.processor else self.name

    @property
    def source(self) -> str:
        return f"{self.name}-in"

    @property
    def targets(self) -> tuple[str, ...]:
        return tuple(f"{self.app_id}-out-{number}" for number in range(self.inserts))


class Running(Protocol):
    """An engine that processes records."""

    @property
    def is_running(self) -> bool: ...

    def cpu_s(self) -> float:
        """Its processor time in seconds."""

    def private_mib(self) -> float:
        """Its memory that no file backs."""


@dataclass(frozen=True, slots=True)
class Together:
    """Several processors."""

    processors: tuple[Running, ...]

    @property
    def is_running(self) -> bool:
        return all(each.is_running for each in self.processors)

    def cpu_s(self) -> float:
        return sum(each.cpu_s() for each in self.processors)

    def private_mib(self) -> float:
        return sum(each.private_mib() for each in self.processors)


@dataclass(frozen=True, slots=True)
class Contained:
    """A container."""

    container: Container

    @property
    def is_running(self) -> bool:
        return self.container.running

    def cpu_s(self) -> float:
        return self.container.cpu_s()

    def private_mib(self) -> float:
        return self.container.anonymous_mib()


@dataclass(frozen=True, slots=True)
class OnHost:
    """A process with its children."""

    process: Process

    @property
    def is_running(self) -> bool:
        return self.process.running

    def cpu_s(self) -> float:
        return processor_s(self.process.pid)

    def private_mib(self) -> float:
        return private_mib(self.process.pid)


@contextmanager
def contained(
    image: str,
    program: LoadProgram,
    topics: LoadTopics,
    bootstrap: str,
    limits: tuple[float, int],
    variables: dict[str, str],
) -> Iterator[Running]:
    """lsql-runner in a container that is ready; `limits` are processors and MiB."""
    with runner_container(
        image,
        sql=program.sql(topics.source, topics.targets),
        app_id=topics.app_id,
        lsql_topics=_lsql_topics(topics),
        bootstrap=bootstrap,
        port=free_port(),
        limits=limits,
        variables=variables,
    ) as container:
        yield Contained(container)


def runner_container(
    image: str,
    *,
    sql: str,
    app_id: str,
    lsql_topics: Mapping[str, object],
    bootstrap: str,
    port: int,
    limits: tuple[float, int],
    variables: Mapping[str, str] | None = None,
) -> Container:
    """A container of lsql-runner, which is ready when the processor is; `limits` are processors and MiB."""
    return Container(
        image,
        probe=lambda: _is_ready(port),
        env={
            "SQL": sql,
            "SQL_APP_ID": app_id,
            "SQL_BOOTSTRAP_SERVERS": bootstrap,
            "SQL_PORT": str(port),
            "LSQL_TOPICS": json.dumps(lsql_topics),
            **(variables or {}),
        },
        cpus=limits[0],
        memory_mib=limits[1],
        deadline_s=_START_S,
    )


@contextmanager
def on_host(
    engine: ComparedEngine,
    program: LoadProgram,
    topics: LoadTopics,
    bootstrap: str,
    guarantee: Guarantee,
    resources: tuple[int, int],
    variables: dict[str, str],
) -> Iterator[Running]:
    """An engine on the host that has been started, and may not be ready; `resources` are threads and MiB of heap."""
    with TemporaryDirectory(prefix="lsql-bench-") as state:
        task = Task(
            name=program.name,
            sql=program.sql(topics.source, topics.targets),
            lsql_topics=_lsql_topics(topics),
            bootstrap=bootstrap,
            source=topics.source,
            targets=topics.targets,
            group=topics.app_id,
            state=Path(state),
            threads=resources[0],
            heap_mib=resources[1],
            engine_env=tuple(variables.items()),
            guarantee=guarantee,
            is_constant_load=True,
            producer=_PRODUCER,
        )
        with engine.start(task) as process:
            yield OnHost(process)


def _lsql_topics(topics: LoadTopics) -> dict[str, object]:
    return {topics.source: {"key": {"format": "STRING"}, "value": {"format": "JSON", "schema": FIELDS}}}


def _is_ready(port: int) -> bool:
    try:
        with urlopen(f"http://127.0.0.1:{port}/health/ready", timeout=5) as answer:
            return bool(answer.status == 200)
    except (URLError, ConnectionError):
        return False
