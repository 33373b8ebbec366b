"""`python -m bench.takeover`: the time from a fault of the pod that processes records to the next result.

A program counts records in windows, exactly-once, in pods of the test cluster: lsql-runner with and without a standby,
and Kafka Streams with and without one. The fault is one of:

- killed: the pod is deleted by force. The kubelet ends its container, and another pod starts at once.
- suspended: all processes of its container get SIGSTOP, as if the node had been lost or cut off.

The measured time ends when a consumer of committed records has the first result after the longest pause. It needs root,
podman, `make cluster-tools` and `make image`.
"""

from __future__ import annotations

import argparse
import signal
import sys
import time
import uuid
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

from bench.command import print_table, say
from bench.engines import build
from bench.follow import Follower
from bench.machine import machine
from bench.pauses import resumed_ms
from bench.takeover_pods import TARGET_PARTITIONS, ProcessorInPods, lsql_pods, streams_pods
from ci.cluster.lifecycle import CannotRun
from ci.cluster.processes import ClusterFailed
from ci.tools.image import default_tag
from devkit.broker import Broker
from devkit.cluster import KubernetesCluster, running_cluster
from devkit.cluster_release import Helm
from devkit.container import built_image
from devkit.helm import HELMS, tool
from devkit.jars import jar_folder
from devkit.kubectl import Kubectl

KILLED, SUSPENDED = "killed", "suspended"
LONGEST_S = 75
"""A result later than this counts as none. The session of a member of Kafka's groups lasts for 45 s by default."""
STEADY_S = 10
"""How long results arrive before a fault: the pod that is ready for it is warm then."""
TUNED = {"consumer.session.timeout.ms": "6000", "consumer.heartbeat.interval.ms": "1500"}
"""The shortest session that brokers allow by default (`group.min.session.timeout.ms`)."""
STANDBY = {"num.standby.replicas": "1"}
_POLL_S = 0.2
_STEADY_DEADLINE_S = 180


@dataclass(frozen=True, slots=True, kw_only=True)
class PodEnvironment:
    """What the pods of all processors share."""

    cluster: KubernetesCluster
    kubectl: Kubectl
    helm: Helm
    broker: Broker
    image: str
    jars: Path


@dataclass(frozen=True, slots=True)
class TakeOverRow:
    """A row of the table."""

    title: str
    start: Callable[[PodEnvironment], AbstractContextManager[ProcessorInPods]]
    faults: Sequence[str] = (KILLED, SUSPENDED)
    """Without a second pod, a suspended one is replaced when its liveness probe has failed, if it has one."""
    runs: int | None = None
    """The most runs of each fault; None for the number of the option."""


@dataclass(frozen=True, slots=True)
class TakeOver:
    """One fault, and the seconds until the next result; None if there was none within LONGEST_S."""

    title: str
    fault: str
    seconds: float | None


def _lsql(standbys: int) -> Callable[[PodEnvironment], AbstractContextManager[ProcessorInPods]]:
    return lambda pods: lsql_pods(pods.helm, pods.broker, pods.image, standbys)


def _streams(
    replicas: int, settings: dict[str, str]
) -> Callable[[PodEnvironment], AbstractContextManager[ProcessorInPods]]:
    def start(pods: PodEnvironment) -> AbstractContextManager[ProcessorInPods]:
        name = f"streams-{uuid.uuid4().hex[:6]}"
        return streams_pods(
            pods.kubectl, pods.broker, pods.image, pods.jars, name, replicas=replicas, settings=settings
        )

    return start


PROCESSORS = {
    "lsql-standby": TakeOverRow("lsql-runner, one standby", _lsql(1)),
    "lsql": TakeOverRow("lsql-runner, one pod", _lsql(0), (KILLED,)),
    "streams-standby": TakeOverRow("Kafka Streams, two pods, num.standby.replicas=1", _streams(2, STANDBY), runs=1),
    "streams": TakeOverRow("Kafka Streams, one pod", _streams(1, {}), (KILLED,), runs=1),
    "streams-standby-tuned": TakeOverRow(
        "Kafka Streams, two pods, num.standby.replicas=1, session.timeout.ms=6000", _streams(2, STANDBY | TUNED)
    ),
    "streams-tuned": TakeOverRow("Kafka Streams, one pod, session.timeout.ms=6000", _streams(1, TUNED), (KILLED,)),
}
"""By the name of the option. With the default session, a run takes more than a minute."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure each fault of each processor. Returns 1 if a processor is not ready in time, or on a signal."""
    options = _options(arguments)
    build(["streams"])
    chosen = [PROCESSORS[name] for name in options.only or PROCESSORS]
    try:
        return print_table(_take_overs(chosen, options.runs, options.image), table)
    except (AssertionError, CannotRun, ClusterFailed) as error:
        say(f"failed: {error}")
        return 1


def _options(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m bench.takeover", description="Seconds from a fault of a pod to the next result."
    )
    parser.add_argument("--only", choices=list(PROCESSORS), action="append", help="only this processor")
    parser.add_argument("--image", default=default_tag(), help="image of lsql-runner (default %(default)s)")
    parser.add_argument("--runs", type=int, default=2, help="runs of each fault (default 2)")
    return parser.parse_args(arguments)


def _take_overs(rows: Sequence[TakeOverRow], runs: int, image: str) -> Iterator[TakeOver]:
    with _environment(image) as pods:
        for row in rows:
            repeated = min(runs, row.runs or runs)
            with (
                row.start(pods) as processor,
                processor.traffic,
                Follower(pods.broker.bootstrap, [processor.target], TARGET_PARTITIONS) as follower,
            ):
                arrivals = partial(_arrivals_ms, follower, processor.target)
                for fault in row.faults:
                    for _ in range(repeated):
                        _await_steady(processor, arrivals)
                        yield TakeOver(row.title, fault, _measure(pods, processor, arrivals, fault))


@contextmanager
def _environment(image: str) -> Iterator[PodEnvironment]:
    with running_cluster() as cluster, Broker(host=cluster.host) as broker, TemporaryDirectory() as home:
        cluster.load(built_image(image))
        name = f"takeover-{uuid.uuid4().hex[:6]}"
        cluster.kubectl.create({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}})
        kubectl = cluster.kubectl.within(name)
        try:
            helm = Helm(tool(HELMS[-1]), kubectl, Path(home))
            jars = jar_folder("bench-streams-jars").resolve()
            yield PodEnvironment(cluster=cluster, kubectl=kubectl, helm=helm, broker=broker, image=image, jars=jars)
        finally:
            kubectl.run("delete", "namespace", name, "--wait=false")
            kubectl.run("delete", "pods", "--all", "--grace-period=1", "--wait=false")


def _arrivals_ms(follower: Follower, target: str) -> list[int]:
    return [at_ms for _, _, at_ms in follower.records(target)]


def _await_steady(processor: ProcessorInPods, arrivals_ms: Callable[[], list[int]]) -> None:
    """Wait until the pods are ready, and results arrive for some seconds after that."""
    processor.await_ready()
    began_s = since_s = time.time()
    while time.time() < since_s + STEADY_S:
        if time.time() > began_s + _STEADY_DEADLINE_S:
            raise AssertionError(f"no steady results within {_STEADY_DEADLINE_S} s")
        newest_s = max(arrivals_ms(), default=0) / 1000
        if time.time() > max(newest_s, since_s) + 2:
            since_s = time.time()
        time.sleep(_POLL_S)
    processor.await_ready()


def _measure(
    pods: PodEnvironment, processor: ProcessorInPods, arrivals_ms: Callable[[], list[int]], fault: str
) -> float | None:
    leader = processor.leader()
    began_ms = int(time.time() * 1000)
    if fault == KILLED:
        pods.kubectl.delete("pod", leader["metadata"]["name"], "--grace-period=0", "--force", "--wait=false")
    else:
        pods.cluster.signal_container(leader, signal.SIGSTOP)
    try:
        while time.time() * 1000 < began_ms + LONGEST_S * 1000:
            resumed = resumed_ms(arrivals_ms(), began_ms, int(time.time() * 1000))
            if resumed is not None:
                return resumed / 1000
            time.sleep(_POLL_S)
        return None
    finally:
        if fault == SUSPENDED:
            with suppress(ClusterFailed, OSError):  # the container has ended meanwhile
                pods.cluster.signal_container(leader, signal.SIGCONT)


def table(take_overs: Sequence[TakeOver]) -> str:
    """Least, median and most seconds of each row, as a table in Markdown."""
    lines = [machine(), "", f"| | {KILLED} | {SUSPENDED} |", "|---|---|---|"]
    for title in dict.fromkeys(one.title for one in take_overs):
        cells = []
        for fault in (KILLED, SUSPENDED):
            seconds = [one.seconds for one in take_overs if (one.title, one.fault) == (title, fault)]
            cells.append(_cell(seconds))
        lines.append(f"| {title} | {cells[0]} | {cells[1]} |")
    return "\n".join(lines)


def _cell(seconds: Sequence[float | None]) -> str:
    if not seconds:
        return "not measured"
    known = [one for one in seconds if one is not None]
    if len(known) < len(seconds):
        return f"{len(seconds) - len(known)} of {len(seconds)} not within {LONGEST_S} s"
    return f"{min(known):.1f} / {median(known):.1f} / {max(known):.1f} (n={len(known)})"


if __name__ == "__main__":
    sys.exit(main())
