"""How the processes of a processor with workers reach each other: addresses, ports, authentication, time limits.

The processor and its workers are a standalone cluster of Spark (decision 0039).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from ipaddress import ip_address

from lsql_runner.jvm.java_entries import MARK_PLUGIN, REGISTRY_PLUGIN

EXECUTOR_MIB = 160
"""The memory that the driver demands of a worker and that a worker offers: each worker runs one executor. The worker
sets the real size of its heap, from the limit of its container."""

_LOST_AFTER_S = 20
"""A process without a heartbeat for this time is lost; a closed connection is detected immediately."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Workers:
    """Where workers register, and their secret."""

    host: str
    """The name or address by which workers reach the driver; an IPv6 address is in brackets."""
    port: int
    """The port of the master. The driver's two ports are the next ones."""
    secret: str = field(repr=False)
    encryption: bool = True
    """Whether the connections between driver and workers are encrypted."""

    @property
    def driver_port(self) -> int:
        return self.port + 1

    @property
    def block_port(self) -> int:
        """The port at which workers get the driver's blocks: code and small tables of a batch."""
        return self.port + 2

    @property
    def bind_address(self) -> str:
        """The address on which the driver listens: all for a name, because a new pod may not find its own name yet."""
        try:
            ip_address(self.host.strip("[]"))
        except ValueError:
            return "0.0.0.0"  # connections are authenticated
        return self.host


def connection_settings(workers: Workers) -> dict[str, str]:
    """The settings of Spark that driver, master and workers share, except the secret."""
    return {
        "spark.authenticate": "true",
        "spark.network.crypto.enabled": str(workers.encryption).lower(),
        "spark.network.crypto.saslFallback": "false",
        "spark.port.maxRetries": "0",  # the ports of the driver are those that a network policy allows
        "spark.network.timeout": f"{_LOST_AFTER_S}s",
        "spark.worker.timeout": str(_LOST_AFTER_S),
        "spark.decommission.enabled": "true",
    }


def master_settings(workers: Workers) -> dict[str, str]:
    """The settings of the master."""
    return connection_settings(workers) | {
        "spark.authenticate.secret": workers.secret,
        # An executor whose processor is out of memory ends again and again; the query fails, not the cluster.
        "spark.deploy.maxExecutorRetries": "-1",
        "spark.master.rest.enabled": "false",
        "spark.ui.killEnabled": "false",
        "spark.deploy.retainedApplications": "1",
        "spark.deploy.retainedDrivers": "1",
    }


def driver_settings(workers: Workers) -> dict[str, str]:
    """The settings of a session whose tasks run on workers, which replace the settings of one JVM."""
    return connection_settings(workers) | {
        "spark.master": f"spark://{workers.host}:{workers.port}",
        "spark.authenticate.secret": workers.secret,
        "spark.driver.host": workers.host,
        "spark.driver.bindAddress": workers.bind_address,
        "spark.driver.port": str(workers.driver_port),
        "spark.driver.blockManager.port": str(workers.block_port),
        "spark.plugins": f"{REGISTRY_PLUGIN},{MARK_PLUGIN}",
        "spark.executor.memory": f"{EXECUTOR_MIB}m",
        "spark.executor.heartbeatInterval": "2s",
        "spark.network.timeoutInterval": "2s",
        # Larger blocks are stored in a file. By default 200 MiB, and a JVM with a smaller heap refuses to run.
        "spark.network.maxRemoteBlockSizeFetchToMem": "32m",
        # Shuffled rows of a worker that leaves move to the others; they are small, so that this is tried often.
        "spark.storage.decommission.enabled": "true",
        "spark.storage.decommission.shuffleBlocks.enabled": "true",
        "spark.storage.decommission.rddBlocks.enabled": "false",
        "spark.storage.decommission.replicationReattemptInterval": "1s",
        # Rows of a worker that is lost: the task that needs them fails after three tries, and its stage runs again.
        "spark.shuffle.io.retryWait": "1s",
        # A task prefers the worker that has its state, but does not wait long while another one is free.
        "spark.locality.wait": "100ms",
        "spark.speculation": "false",  # a copy would take the transactional id of the task that it should help
    }
