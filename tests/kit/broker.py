"""A real Kafka broker for tests: one process in KRaft mode, from its jars."""

import base64
import socket
import uuid
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import Self

from confluent_kafka import KafkaException
from confluent_kafka.admin import AdminClient

from tests.kit.jars import jar_folder, java_command
from tests.kit.process import Process, free_port
from tests.kit.topics import CLIENT_CONFIG, Topics

NODE_ID = 1
LOOPBACK = "127.0.0.1"

# Small and quick: every reason to wait for a second broker is taken out.
SETTINGS = {
    "process.roles": "broker,controller",
    "node.id": str(NODE_ID),
    "controller.listener.names": "CONTROLLER",
    "listener.security.protocol.map": "CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT",
    "auto.create.topics.enable": "false",
    "group.initial.rebalance.delay.ms": "0",
    "offsets.topic.num.partitions": "1",
    "offsets.topic.replication.factor": "1",
    "transaction.state.log.num.partitions": "1",
    "transaction.state.log.replication.factor": "1",
    "transaction.state.log.min.isr": "1",
    "share.coordinator.state.topic.num.partitions": "1",
    "share.coordinator.state.topic.replication.factor": "1",
    "share.coordinator.state.topic.min.isr": "1",
    # How often the broker asks the controller whether it may serve: the wait at start.
    "broker.heartbeat.interval.ms": "50",
    # How long a broker that was killed counts as alive: one that starts again is not let in before.
    "broker.session.timeout.ms": "2000",
    "num.network.threads": "2",
    "num.io.threads": "2",
    "background.threads": "2",
    # The default of the cleaner's buffer is half of the heap below.
    "log.cleaner.dedupe.buffer.size": "4194304",
    "log.index.size.max.bytes": "1048576",
}


class Broker(Topics):
    """A broker on random ports of `host`, an address of this machine; ready within a few seconds.

    `stop` (or `kill`) and `start` keep port and data. `settings` are added to server.properties;
    `jvm_options` come after the small ones of the kit, for a benchmark that wants more memory.

    `users` (password by name) opens a second listener, `secured`: SASL/PLAIN, and what a user may do there is
    what access rules (ACLs) say. Whoever comes by the first listener may do anything.
    """

    def __init__(
        self,
        settings: Mapping[str, str] | None = None,
        jvm_options: tuple[str, ...] = (),
        users: Mapping[str, str] | None = None,
        host: str = LOOPBACK,
    ) -> None:
        port, controller_port, secured_port = free_port(), free_port(), free_port()
        super().__init__(f"{host}:{port}")
        self.secured = f"{host}:{secured_port}"
        command = java_command(jar_folder("broker-jars"), "kafka.Kafka", *LOGGING, "-Djava.io.tmpdir=.", *jvm_options)
        self.process = Process(
            [*command, "server.properties"], name="broker", probe=lambda: self._answers(host, port), deadline_s=60
        )
        properties = {
            **SETTINGS,
            "listeners": f"PLAINTEXT://{host}:{port},CONTROLLER://127.0.0.1:{controller_port}",
            "controller.quorum.voters": f"{NODE_ID}@127.0.0.1:{controller_port}",
            "log.dirs": str(self.process.folder / "data"),
            **(settings or {}),
        }
        if users is not None:
            properties |= _secured(users) | {"listeners": f"{properties['listeners']},SECURED://{self.secured}"}
        write_properties(self.process.folder / "server.properties", properties)
        format_storage(self.process.folder / "data")

    def start(self) -> Self:
        """Starts the broker, again on the same port and data; returns when clients can use it."""
        self.process.start()
        return self

    def stop(self) -> None:
        """Ends the broker in good order."""
        self.close_clients()
        self.process.stop()

    def kill(self) -> None:
        """Ends the broker as a crash would."""
        self.close_clients()
        self.process.kill()

    def pause(self) -> None:
        """Freezes the broker: connections stay open and nothing answers."""
        self.process.pause()

    def resume(self) -> None:
        """Lets a frozen broker go on."""
        self.process.resume()

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    def _answers(self, host: str, port: int) -> bool:
        with socket.create_connection((host, port), timeout=1):
            pass  # a refusal is an OSError: not yet
        admin = AdminClient({**CLIENT_CONFIG, "bootstrap.servers": self.bootstrap})
        try:
            return len(admin.list_topics(timeout=5).brokers) == 1
        except KafkaException:
            return False


def _secured(users: Mapping[str, str]) -> dict[str, str]:
    known = " ".join(f'user_{name}="{password}"' for name, password in users.items())
    return {
        "listener.security.protocol.map": "CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT,SECURED:SASL_PLAINTEXT",
        "sasl.enabled.mechanisms": "PLAIN",
        "listener.name.secured.plain.sasl.jaas.config": (
            f"org.apache.kafka.common.security.plain.PlainLoginModule required {known};"
        ),
        "authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
        "super.users": "User:ANONYMOUS",
    }


# Without these a broker that dies says nothing.
LOGGING = ("-Dorg.slf4j.simpleLogger.defaultLogLevel=warn", "-Dorg.slf4j.simpleLogger.showDateTime=true")


def write_properties(path: Path, properties: Mapping[str, str]) -> None:
    """Writes a Java properties file; keys and values must need no escapes."""
    path.write_text("".join(f"{key}={value}\n" for key, value in properties.items()))


def format_storage(folder: Path) -> None:
    """Makes an empty data folder that a broker accepts: what Kafka's StorageTool does, without its JVM."""
    folder.mkdir()
    cluster_id, directory_id = (base64.urlsafe_b64encode(uuid.uuid4().bytes).decode().rstrip("=") for _ in range(2))
    write_properties(
        folder / "meta.properties",
        {"version": "1", "cluster.id": cluster_id, "node.id": str(NODE_ID), "directory.id": directory_id},
    )
