"""The master of Spark's standalone cluster, in the JVM of the driver."""

from __future__ import annotations

import json
from dataclasses import dataclass
from importlib.metadata import version

from pyspark import SparkContext

from lsql_runner.engine.call import java_class
from lsql_runner.jvm.java_entries import CLUSTER
from lsql_runner.jvm.workers import Workers, master_settings


@dataclass(frozen=True, slots=True)
class JoinedWorker:
    """A worker that has joined."""

    address: str
    """Host and port."""
    cores: int
    state: str
    """`ALIVE`, `DECOMMISSIONED` while its tasks end, or `DEAD`."""


@dataclass(frozen=True, slots=True)
class RefusedWorker:
    """A worker of another version."""

    address: str
    version: str


def start_master(workers: Workers) -> None:
    """Start the master in the JVM to which pyspark connects. Must run before the session is opened."""
    SparkContext._ensure_initialized()
    settings = master_settings(workers)
    java_class(CLUSTER).start(workers.bind_address, workers.host, workers.port, version("lsql-runner"), settings)


def read_cluster() -> tuple[tuple[JoinedWorker, ...], tuple[RefusedWorker, ...]]:
    """The workers, and those that were refused since the last call."""
    found = json.loads(java_class(CLUSTER).json())
    workers = tuple(JoinedWorker(**worker) for worker in found["workers"])
    return workers, tuple(RefusedWorker(**refused) for refused in found["refused"])
