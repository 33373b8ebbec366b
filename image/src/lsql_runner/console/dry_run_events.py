"""Creates Events on the workers of processors that only report how many workers they want."""

from __future__ import annotations

import logging

from lsql_runner.console.cluster import Cluster, ClusterError, Conflict, Missing, WorkloadEvent
from lsql_runner.console.watch import ClusterView

LOG = logging.getLogger(__name__)


class DryRunEvents:
    """After each refresh of the view, an Event for each number that has changed and differs from the replicas."""

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster
        self._last: dict[str, int] = {}
        """By uid of the Deployment: the number at the last refresh that had one."""

    def __call__(self, view: ClusterView) -> None:
        known: dict[str, int] = {}
        for identifier, processor in view.processors.items():
            workers, scaling = processor.workers, view.entries[identifier].scaling
            if workers is None or (scaling is not None and not scaling.dry_run):
                continue
            before = self._last.get(workers.uid)
            wanted = before if scaling is None or scaling.wanted is None else scaling.wanted
            if wanted is None:
                continue
            known[workers.uid] = wanted
            if scaling is not None and wanted not in (before, workers.replicas):
                text = f"{wanted} workers are wanted instead of {workers.replicas}: {scaling.reason}. Dry run."
                self._create(workers.namespace, workers.name, workers.uid, text)
        self._last = known

    def _create(self, namespace: str, name: str, uid: str, text: str) -> None:
        event = WorkloadEvent(
            namespace=namespace,
            kind="Deployment",
            name=name,
            uid=uid,
            type="Normal",
            reason="WorkersWanted",
            action="Scale",
            text=text,
        )
        try:
            self._cluster.create_event(event)
        except (ClusterError, Conflict, Missing) as error:
            LOG.warning("no Event was written", extra={"deployment": name, "error": str(error)})
