"""Workers of a processor, as `lsql worker` runs them."""

from ci.tools.child_processes import children_of
from ci.tools.ports import free_port
from devkit.process import Process
from devkit.runner import FAST_COMPILER, LSQL
from lsql_runner.jvm.workers import Workers

SECRET = "secret-of-the-tests"
PORTS = 3
"""A processor with workers uses a port, and the next two."""


def worker_environment(port: int, **more: str) -> dict[str, str]:
    """The variables that a processor on this machine and its workers share.

    Args:
        port: LSQL_WORKERS_PORT.
        more: other variables.
    """
    return {
        "LSQL_WORKERS_SECRET": SECRET,
        "LSQL_WORKERS_HOST": "127.0.0.1",
        "LSQL_WORKERS_PORT": str(port),
        **more,
    }


def workers_at(port: int) -> Workers:
    """What `worker_environment` says, for a session in this process."""
    return Workers(host="127.0.0.1", port=port, secret=SECRET)


def free_ports() -> int:
    """Returns the first of the free ports of a processor with workers."""
    return free_port(PORTS)


def jvms_of(worker: Process) -> tuple[int, int]:
    """The process ids of a worker's JVM and of its child, the executor; 0 while there is none."""
    jvm = next(iter(children_of(worker.pid)), 0)
    return jvm, next(iter(children_of(jvm)), 0) if jvm else 0


def executor_of(worker: Process) -> int:
    """The process id of the executor of a worker; 0 while there is none."""
    return jvms_of(worker)[1]


class WorkerProcess(Process):
    """`lsql worker` with folders of its own; it is ready when it runs tasks of the processor at a port.

    Args:
        port: LSQL_WORKERS_PORT.
        ready: whether to wait until it has joined.
        env: more environment variables.
    """

    def __init__(self, port: int, *, ready: bool = True, **env: str) -> None:
        self.workers_port = port
        variables = {"JAVA_OPTS": FAST_COMPILER, "LSQL_HEAP_MIB": "200", "LSQL_THREADS": "1", "MALLOC_ARENA_MAX": "2"}
        super().__init__(
            [LSQL, "worker"],
            name="worker",
            probe=lambda: not ready or self.has_joined(),
            deadline_s=240,
            grace_s=60,
            env=worker_environment(port) | variables | env,
        )

    def has_joined(self) -> bool:
        """Whether it runs tasks of the processor."""
        return (self.folder / "lsql-worker" / "joined").exists()
