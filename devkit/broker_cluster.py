"""Kafka brokers that replicate their topics: three processes in KRaft mode, the first of which is the controller."""

from __future__ import annotations

import socket
from types import TracebackType
from typing import Self

from confluent_kafka import KafkaException
from confluent_kafka.admin import AdminClient

from ci.tools.ports import free_port
from devkit.broker import LOOPBACK, SETTINGS, broker_command, format_storage, new_id, write_properties
from devkit.process import Process
from devkit.topics import CLIENT_CONFIG, Topics

SIZE = 3

_REPLICATED = {
    "offsets.topic.replication.factor": str(SIZE),
    "transaction.state.log.replication.factor": str(SIZE),
    "transaction.state.log.min.isr": "2",
    "share.coordinator.state.topic.replication.factor": str(SIZE),
    "share.coordinator.state.topic.min.isr": "2",
    "min.insync.replicas": "2",
    # A follower that does not fetch for this time no longer counts for an acknowledgement.
    "replica.lag.time.max.ms": "3000",
}


class BrokerCluster(Topics):
    """Three brokers, with acknowledgements by at least two. `create_topic` needs `replication=SIZE`.

    `nodes` are their processes, which a test may pause, kill and start again. The first one is the only controller:
    without it the others elect no leaders.
    """

    def __init__(self) -> None:
        ports = [free_port() for _ in range(SIZE)]
        controller = f"127.0.0.1:{free_port()}"
        super().__init__(",".join(f"{LOOPBACK}:{port}" for port in ports))
        cluster_id = new_id()
        self.nodes = [_node(number, port, controller, cluster_id) for number, port in enumerate(ports, start=1)]

    def __enter__(self) -> Self:
        try:
            for node in self.nodes:
                node.start()
        except BaseException:
            self._stop()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stop()

    def _stop(self) -> None:
        self.close_clients()
        for node in reversed(self.nodes):
            node.kill()


def _node(number: int, port: int, controller: str, cluster_id: str) -> Process:
    node = Process(broker_command(), name=f"broker-{number}", probe=lambda: _answers(number, port), deadline_s=60)
    listeners = [f"PLAINTEXT://{LOOPBACK}:{port}", *([f"CONTROLLER://{controller}"] if number == 1 else [])]
    properties = {
        **SETTINGS,
        **_REPLICATED,
        "node.id": str(number),
        "process.roles": "broker,controller" if number == 1 else "broker",
        "listeners": ",".join(listeners),
        "advertised.listeners": listeners[0],
        "listener.security.protocol.map": "CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT",
        "controller.quorum.voters": f"1@{controller}",
        "log.dirs": str(node.folder / "data"),
    }
    write_properties(node.folder / "server.properties", properties)
    format_storage(node.folder / "data", number, cluster_id)
    return node


def _answers(number: int, port: int) -> bool:
    """Whether a broker knows itself as a member of the cluster."""
    with socket.create_connection((LOOPBACK, port), timeout=1):
        pass  # a refused connection is an OSError, which means not ready
    admin = AdminClient({**CLIENT_CONFIG, "bootstrap.servers": f"{LOOPBACK}:{port}"})
    try:
        return number in admin.list_topics(timeout=5).brokers
    except KafkaException:
        return False
