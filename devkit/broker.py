"""A real Kafka broker for tests: one process in KRaft mode, from its jars."""

import base64
import socket
import sys
import uuid
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Self

from confluent_kafka import KafkaException
from confluent_kafka.admin import AdminClient

from ci.tools.ports import free_port
from devkit.jars import jar_folder, java_command
from devkit.process import Process
from devkit.topics import CLIENT_CONFIG, Topics

NODE_ID = 1
LOOPBACK = "127.0.0.1"

# Small and quick to start: no setting waits for a second broker.
SETTINGS = {
    "process.roles": "broker,controller",
    "node.id": str(NODE_ID),
    "controller.listener.names": "CONTROLLER",
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
    # How often the broker asks the controller whether it is unfenced, which determines the time of its start.
    "broker.heartbeat.interval.ms": "200",
    # How long a killed broker counts as alive; until then it cannot register again.
    "broker.session.timeout.ms": "2000",
    "num.network.threads": "2",
    "num.io.threads": "2",
    "background.threads": "2",
    # Tests read every record that was written to a compacted topic. The cleaner would remove some of them at a time of
    # its own: transaction markers have the current time, so they roll a segment whose records have old timestamps.
    "log.cleaner.enable": "false",
    "log.index.size.max.bytes": "1048576",
}


@dataclass(frozen=True)
class Listener:
    """An additional listener of a broker. `settings` are keys of the listener: `ssl.client.auth`,
    `plain.sasl.jaas.config`.
    """

    protocol: str
    """SSL, SASL_SSL or SASL_PLAINTEXT."""
    mechanisms: tuple[str, ...] = ()
    settings: Mapping[str, str] = field(default_factory=dict)


class Broker(Topics):
    """A broker on random ports of `host`, an address of this machine; ready within a few seconds.

    `stop` (or `kill`) and `start` keep port and data. `settings` are added to server.properties; `jvm_options` follow
    the default options, for a benchmark that needs more memory.

    `listeners` are additional listeners, by name in lower case; `addresses` has their addresses.

    `users` (passwords by name) opens a listener `secured` with SASL/PLAIN, where users have the permissions of access
    rules (ACLs). Clients of the first listener may do everything.

    `train` is a new file for the archive of the classes, which is written when the broker stops.
    """

    def __init__(
        self,
        settings: Mapping[str, str] | None = None,
        *,
        jvm_options: tuple[str, ...] = (),
        users: Mapping[str, str] | None = None,
        host: str = LOOPBACK,
        listeners: Mapping[str, Listener] | None = None,
        train: Path | None = None,
    ) -> None:
        port, controller_port = free_port(), free_port()
        super().__init__(f"{host}:{port}")
        additional = {**(listeners or {}), **({"secured": _plain(users)} if users is not None else {})}
        self.addresses = {name: f"{host}:{free_port()}" for name in additional}
        command = broker_command(*jvm_options, train=train)
        self.process = Process(command, name="broker", probe=lambda: self._answers(host, port), deadline_s=60)
        properties = {
            **SETTINGS,
            "listeners": ",".join(
                [
                    f"PLAINTEXT://{host}:{port}",
                    f"CONTROLLER://127.0.0.1:{controller_port}",
                    *(f"{name.upper()}://{address}" for name, address in self.addresses.items()),
                ]
            ),
            "listener.security.protocol.map": ",".join(
                [
                    "CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT",
                    *(f"{name.upper()}:{listener.protocol}" for name, listener in additional.items()),
                ]
            ),
            "controller.quorum.voters": f"{NODE_ID}@127.0.0.1:{controller_port}",
            "log.dirs": str(self.process.folder / "data"),
            **{
                key: value
                for name, listener in additional.items()
                for key, value in _settings_of(name, listener).items()
            },
            **(ACCESS_RULES if users is not None else {}),
            **(settings or {}),
        }
        write_properties(self.process.folder / "server.properties", properties)
        format_storage(self.process.folder / "data")

    def start(self) -> Self:
        """Start the broker, always on the same port with the same data; returns when clients can use it."""
        self.process.start()
        return self

    def stop(self) -> None:
        """Shut the broker down."""
        self.close_clients()
        self.process.stop()

    def kill(self) -> None:
        """Kill the broker, as a crash would."""
        self.close_clients()
        self.process.kill()

    def pause(self) -> None:
        """Suspend the broker: connections stay open and get no response."""
        self.process.pause()

    def resume(self) -> None:
        """Continue a suspended broker."""
        self.process.resume()

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    def _answers(self, host: str, port: int) -> bool:
        with socket.create_connection((host, port), timeout=1):
            pass  # a refused connection is an OSError, which means not ready
        admin = AdminClient({**CLIENT_CONFIG, "bootstrap.servers": self.bootstrap})
        try:
            return len(admin.list_topics(timeout=5).brokers) == 1
        except KafkaException:
            return False


ACCESS_RULES = {
    "authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
    "super.users": "User:ANONYMOUS",
}


def _settings_of(name: str, listener: Listener) -> dict[str, str]:
    prefix = f"listener.name.{name}."
    enabled = {f"{prefix}sasl.enabled.mechanisms": ",".join(listener.mechanisms)} if listener.mechanisms else {}
    return enabled | {f"{prefix}{key}": value for key, value in listener.settings.items()}


def _plain(users: Mapping[str, str]) -> Listener:
    known = " ".join(f'user_{name}="{password}"' for name, password in users.items())
    login = f"org.apache.kafka.common.security.plain.PlainLoginModule required {known};"
    return Listener("SASL_PLAINTEXT", ("PLAIN",), {"plain.sasl.jaas.config": login})


# Without these settings a broker that dies logs nothing.
LOGGING = ("-Dorg.slf4j.simpleLogger.defaultLogLevel=warn", "-Dorg.slf4j.simpleLogger.showDateTime=true")


def broker_command(*jvm_options: str, train: Path | None = None) -> list[str]:
    """The command of a broker, in whose working directory `server.properties` is. With the archive of its classes, a
    broker starts in half of the time; `train` is a file to write it to.
    """
    archive = Path(sys.prefix) / "share/lsql-runner/broker-classes/classes.jsa"
    used = [f"-XX:SharedArchiveFile={archive}"] if archive.exists() else []  # the build of the image has none
    written = [f"-XX:ArchiveClassesAtExit={train}"]
    options = (*(written if train else used), *LOGGING, "-Djava.io.tmpdir=.", *jvm_options)
    return [*java_command(jar_folder("broker-jars"), "kafka.Kafka", *options), "server.properties"]


def write_properties(path: Path, properties: Mapping[str, str]) -> None:
    """Write a Java properties file; keys must need no escapes."""
    lines = [f"{key}={_escaped(value)}\n" for key, value in properties.items()]
    path.write_text("".join(lines), encoding="ascii")


def _escaped(value: str) -> str:
    plain = value.replace("\\", "\\\\")
    return "".join(char if char.isascii() else f"\\u{ord(char):04x}" for char in plain)


def format_storage(folder: Path, node_id: int = NODE_ID, cluster_id: str | None = None) -> None:
    """Create an empty data folder for a broker, as Kafka's StorageTool does, without its JVM."""
    folder.mkdir()
    properties = {"cluster.id": cluster_id or new_id(), "node.id": str(node_id), "directory.id": new_id()}
    write_properties(folder / "meta.properties", {"version": "1", **properties})


def new_id() -> str:
    """A random id of a cluster or a folder, as Kafka writes it."""
    return base64.urlsafe_b64encode(uuid.uuid4().bytes).decode().rstrip("=")


if __name__ == "__main__":
    with Broker(train=Path(sys.argv[1])):
        pass
