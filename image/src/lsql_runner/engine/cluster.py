"""The master of Spark's standalone cluster, in the JVM of the driver."""

from __future__ import annotations

import json
from importlib.metadata import version

from pyspark import SparkContext

from lsql_runner.events.workers import JoinedWorker, RefusedWorker
from lsql_runner.jvm.call import java_class
from lsql_runner.jvm.java_entries import CLUSTER
from lsql_runner.jvm.workers import Workers, master_settings


def start_master(workers: Workers) -> None:
    """Start the master in the JVM to which pyspark connects. Must run before the session is opened."""
    SparkContext._ensure_initialized()
    settings = master_settings(workers)
    java_class(CLUSTER).start(workers.bind_address, workers.host, workers.port, version("lsql-runner"), settings)


def read_cluster() -> tuple[tuple[JoinedWorker, ...], tuple[RefusedWorker, ...]]:
    """The workers, by address, and those that were refused since the last call."""
    document = json.loads(java_class(CLUSTER).json())
    workers = sorted(
        (
            JoinedWorker(worker["address"], worker["cores"], leaving=worker["state"] == _LEAVING)
            for worker in document["workers"]
            if worker["state"] in (_ALIVE, _LEAVING)
        ),
        key=lambda worker: worker.address,
    )
    return tuple(workers), tuple(RefusedWorker(**refused) for refused in document["refused"])


_ALIVE, _LEAVING = "ALIVE", "DECOMMISSIONED"
"""States of a worker in Spark's master. It keeps those that have ended, as DEAD, for a while."""
