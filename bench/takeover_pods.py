"""The processors of `bench.takeover` in pods: lsql-runner with its chart, and Kafka Streams in the same image.

Both count the records of each key in windows of a minute, exactly-once, from a topic with one partition: so one pod has
all the work, which is the pod that a fault affects.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from confluent_kafka import KafkaException
from confluent_kafka.admin import AdminClient

from bench import streams_settings
from bench.task import Guarantee, Task
from devkit.broker import Broker
from devkit.cluster_release import Helm
from devkit.cluster_standby import await_ready_pods, leader_of
from devkit.cluster_traffic import Traffic
from devkit.kubectl import Kubectl, Resource
from devkit.release_with_traffic import ReleaseWithTraffic
from devkit.topics import CLIENT_CONFIG

READY_S = 180
TARGET_PARTITIONS = 2
HEAP_MIB = 256
"""Of Kafka Streams. lsql-runner divides the memory of its container itself."""
_COUNT = "INSERT INTO `{target}` SELECT STREAM COUNT(*) AS n FROM `{source}` WINDOW BY TUMBLE 1m GRACE BY 10m"
_STRINGS = {"key": {"format": "STRING"}, "value": {"format": "STRING"}}
_MEMORY = "768Mi"
_USER = 10001


class ProcessorInPods(Protocol):
    """A program in pods that reads the records of `traffic` and writes to `target`."""

    @property
    def target(self) -> str: ...

    @property
    def traffic(self) -> Traffic: ...

    def await_ready(self) -> None:
        """Wait until each pod does its part: one has the partition, and the other is ready to take it over."""

    def leader(self) -> Resource:
        """The pod that has the partition."""


@dataclass(frozen=True)
class LsqlPods:
    """A release of the chart."""

    release: ReleaseWithTraffic
    standbys: int

    @property
    def target(self) -> str:
        return self.release.target

    @property
    def traffic(self) -> Traffic:
        return self.release.traffic

    def await_ready(self) -> None:
        await_ready_pods(self.release, 1 + self.standbys)

    def leader(self) -> Resource:
        if not self.standbys:
            return self.release.processor.pod()
        return self.release.helm.kubectl.get("pod", leader_of(self.release))


@contextmanager
def lsql_pods(helm: Helm, broker: Broker, image: str, standbys: int) -> Iterator[LsqlPods]:
    """A release with the defaults of the chart, exactly-once; it is uninstalled after the block."""
    release = ReleaseWithTraffic(helm, broker, image, partitions=1)
    access = {"accessModes": ["ReadWriteMany"]} if standbys else {}
    release.install(
        sql=_COUNT.format(source=release.source, target=release.target),
        topics={release.source: _STRINGS},
        processing={"guarantee": "exactly_once"},
        persistence=access,
        standby={"replicas": standbys},
    )
    try:
        yield LsqlPods(release, standbys)
    finally:
        helm.run("uninstall", release.name)
        helm.kubectl.run("delete", "pods", "--all", "--grace-period=1", "--wait=false")


def source_of(name: str) -> str:
    """The topic that the instances of Kafka Streams with this application id read."""
    return f"{name}-in"


def target_of(name: str) -> str:
    """The topic that they write."""
    return f"{name}-out"


@dataclass(frozen=True, kw_only=True)
class StreamsPods:
    """One Deployment for each instance of Kafka Streams; a Deployment and its clients have the same name."""

    kubectl: Kubectl
    broker: Broker
    name: str
    replicas: int
    traffic: Traffic
    admin: AdminClient

    @property
    def source(self) -> str:
        return source_of(self.name)

    @property
    def target(self) -> str:
        return target_of(self.name)

    @property
    def instances(self) -> Sequence[str]:
        return tuple(f"{self.name}-{number}" for number in range(self.replicas))

    def await_ready(self) -> None:
        def are_members() -> bool:
            members = self._members()
            return len(members) == self.replicas and any(members.values())

        self.kubectl.wait_until(are_members, READY_S, f"members {self.instances}")

    def leader(self) -> Resource:
        name = next(instance for instance, has_partition in self._members().items() if has_partition)
        pods = [pod for pod in self.kubectl.list("pods", f"app={name}") if "deletionTimestamp" not in pod["metadata"]]
        assert len(pods) == 1, [pod["metadata"]["name"] for pod in pods]
        return pods[0]

    def _members(self) -> dict[str, bool]:
        """By instance: whether it has the partition. Empty while the group is rebalanced, or a member has failed."""
        try:
            group = self.admin.describe_consumer_groups([self.name])[self.name].result(timeout=20)
        except KafkaException:  # the broker creates the topic of positions
            return {}
        names = {member.client_id.partition("-StreamThread")[0]: member for member in group.members}
        if group.state.name != "STABLE" or len(names) != len(group.members):
            return {}
        return {
            name: any(place.topic == self.source for place in member.assignment.topic_partitions)
            for name, member in names.items()
        }


@contextmanager
def streams_pods(
    kubectl: Kubectl, broker: Broker, image: str, jars: Path, name: str, *, replicas: int, settings: Mapping[str, str]
) -> Iterator[StreamsPods]:
    """Kafka Streams in `replicas` pods, with these settings in addition to its defaults."""
    broker.create_topic(source_of(name), 1)
    broker.create_topic(target_of(name), TARGET_PARTITIONS)
    admin = AdminClient({**CLIENT_CONFIG, "bootstrap.servers": broker.bootstrap})
    traffic = Traffic(broker, source_of(name))
    pods = StreamsPods(kubectl=kubectl, broker=broker, name=name, replicas=replicas, traffic=traffic, admin=admin)
    pods.traffic.write(50)
    objects = []
    for instance in pods.instances:
        properties = _properties(pods, instance, settings)
        objects += [_config_map(instance, properties), _deployment(instance, image, jars)]
    kubectl.create(*objects)
    try:
        yield pods
    finally:
        for instance in pods.instances:
            kubectl.run("delete", "deployment,configmap", instance, "--wait=false")
            kubectl.run("delete", "pods", f"--selector=app={instance}", "--grace-period=1", "--wait=false")


def _properties(pods: StreamsPods, instance: str, settings: Mapping[str, str]) -> str:
    task = Task(
        name="tumble",
        sql="",
        lsql_topics={},
        bootstrap=pods.broker.bootstrap,
        source=pods.source,
        targets=(pods.target,),
        group=pods.name,
        state=Path("/tmp/state"),
        threads=1,
        heap_mib=HEAP_MIB,
        guarantee=Guarantee.EXACTLY_ONCE,
        is_constant_load=True,
        consumer={},
        producer={},
    )
    properties = streams_settings.of(task) | {"client.id": instance} | dict(settings)
    return "".join(f"{key}={value}\n" for key, value in properties.items())


def _config_map(name: str, properties: str) -> Resource:
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}, "data": {"properties": properties}}


def _deployment(name: str, image: str, jars: Path) -> Resource:
    container: dict[str, Any] = {
        "name": "streams",
        "image": image,
        "command": [
            "/opt/jre/bin/java",
            f"-Xmx{HEAP_MIB}m",
            "-Dorg.slf4j.simpleLogger.defaultLogLevel=warn",
            "-cp",
            "/streams/*",
            "com.lsqlrunner.bench.Launcher",
            "/settings/properties",
        ],
        "resources": {"requests": {"cpu": "250m", "memory": _MEMORY}, "limits": {"memory": _MEMORY}},
        "volumeMounts": [
            {"name": "jars", "mountPath": "/streams", "readOnly": True},
            {"name": "settings", "mountPath": "/settings"},
            {"name": "tmp", "mountPath": "/tmp"},
        ],
    }
    volumes = [
        {"name": "jars", "hostPath": {"path": str(jars), "type": "Directory"}},
        {"name": "settings", "configMap": {"name": name}},
        {"name": "tmp", "emptyDir": {}},
    ]
    labels = {"app": name}
    spec = {"containers": [container], "volumes": volumes, "securityContext": {"runAsUser": _USER, "fsGroup": _USER}}
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": name},
        "spec": {
            "selector": {"matchLabels": labels},
            "template": {"metadata": {"labels": labels}, "spec": spec},
        },
    }
