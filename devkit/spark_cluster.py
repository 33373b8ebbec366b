"""A standalone cluster of Spark for tests: a master, and workers that run executors, all of them real JVMs."""

from __future__ import annotations

import os
import secrets
import signal
from contextlib import ExitStack
from pathlib import Path
from types import TracebackType
from typing import Self

from ci.tools.ports import free_port
from devkit.jars import jar_folder
from devkit.process import Process, accepts_connections
from lsql_runner.jvm.java import spark_home
from lsql_runner.jvm.java_entries import REGISTRY_PLUGIN
from lsql_runner.jvm.spark_jvm import class_path

MEMORY_MIB = 512
LOST_S = 10
"""The driver considers an executor that does not respond for this time as lost."""


class SparkCluster:
    """A master and workers on random ports of 127.0.0.1. Each worker runs one executor with one core."""

    def __init__(self, workers: int = 2) -> None:
        self._secret = secrets.token_hex(16)
        port = free_port()
        self.url = f"spark://127.0.0.1:{port}"
        master = ["--host", "127.0.0.1", "--port", str(port), "--webui-port", "0"]
        self._master = Process(
            [*self._java("org.apache.spark.deploy.master.Master"), *master],
            name="master",
            probe=lambda: accepts_connections(port),
            deadline_s=60,
            env=_env(),
        )
        self.workers = [self._worker() for _ in range(workers)]
        self._running = ExitStack()

    def _java(self, main_class: str) -> list[str]:
        home = os.environ.get("JAVA_HOME")
        java = str(Path(home) / "bin/java") if home else "java"
        jars = ":".join(class_path(jar_folder("jars")))
        settings = {"spark.authenticate": "true", "spark.authenticate.secret": self._secret}
        properties = [f"-D{name}={value}" for name, value in settings.items()]
        quick = ["-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Xmx128m"]
        return [java, *quick, *properties, "-cp", jars, main_class]

    def _worker(self) -> Process:
        command = self._java("org.apache.spark.deploy.worker.Worker")
        resources = ["--cores", "1", "--memory", f"{MEMORY_MIB}m", "--work-dir", "."]
        arguments = ["--host", "127.0.0.1", "--webui-port", "0", *resources, self.url]
        worker = Process(
            [*command, *arguments],
            name="worker",
            probe=lambda: "Successfully registered with master" in worker.output(),
            deadline_s=60,
            env=_env(),
        )
        return worker

    @property
    def settings(self) -> dict[str, str]:
        """Spark's settings of a driver."""
        return {
            "spark.master": self.url,
            "spark.authenticate.secret": self._secret,
            "spark.plugins": REGISTRY_PLUGIN,
            "spark.executor.memory": f"{MEMORY_MIB}m",
            "spark.executor.extraClassPath": f"{jar_folder('jars')}/*",
            "spark.executor.extraJavaOptions": "-XX:+UseSerialGC -XX:TieredStopAtLevel=1",
            "spark.executor.heartbeatInterval": "1s",
            "spark.network.timeout": f"{LOST_S}s",
            "spark.network.timeoutInterval": "1s",
            "spark.locality.wait": "0s",
            "spark.scheduler.minRegisteredResourcesRatio": "1.0",
            "spark.cores.max": str(len(self.workers)),
        }

    def executors(self) -> list[int]:
        """The process ids of the executors that run, in the order of their workers."""
        return [pid for worker in self.workers for pid in _children(worker.pid)]

    def __enter__(self) -> Self:
        self._running.enter_context(self._master)
        for worker in self.workers:
            self._running.enter_context(worker)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for pid in self.executors():
            os.kill(pid, signal.SIGKILL)
        self._running.close()


def _env() -> dict[str, str]:
    return {"SPARK_HOME": str(spark_home()), "SPARK_LOCAL_IP": "127.0.0.1", "SPARK_SCALA_VERSION": "2.13"}


def _children(pid: int) -> list[int]:
    found = [int(child) for task in Path(f"/proc/{pid}/task").glob("*/children") for child in task.read_text().split()]
    return sorted(set(found))
