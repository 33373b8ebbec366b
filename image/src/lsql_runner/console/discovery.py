"""Reads the cluster once: lists the workloads and makes the document. The job and the console both use it.

[ list_processors ] -> reports of their runners -> [ make_document ]
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from importlib.metadata import version

from lsql_runner.console.cluster import Cluster, ClusterError, ConfigMapData, Missing
from lsql_runner.console.document import SQL_CHARS, Document, RunnerReport, identity, merge
from lsql_runner.console.settings import ConsoleSettings
from lsql_runner.console.storage import decode
from lsql_runner.console.workers import Selector, WorkersDeployment, read_workers, without_component
from lsql_runner.console.workloads import (
    KINDS,
    ProcessorWorkload,
    Violation,
    WorkloadKey,
    compare,
    is_processor,
    read_processor,
)

LOG = logging.getLogger(__name__)

FetchReports = Callable[[Iterable[ProcessorWorkload]], dict[WorkloadKey, RunnerReport]]


@dataclass(frozen=True, slots=True)
class ProcessorListing:
    """The processors of the namespaces that could be read."""

    processors: tuple[ProcessorWorkload, ...]
    failures: Mapping[str, str]
    """By namespace: why it could not be read."""


def list_processors(cluster: Cluster, namespaces: Sequence[str]) -> ProcessorListing:
    """All processors with their workers, by one list call for each namespace and kind.

    Programs are cut to the limit of the document.

    The call has no label selector: the old chart set another label, and a selector cannot combine two labels with OR.
    """
    processors: list[ProcessorWorkload] = []
    failures: dict[str, str] = {}
    for namespace in dict.fromkeys(namespaces):
        here: list[ProcessorWorkload] = []
        workers: dict[Selector, WorkersDeployment] = {}
        try:
            for kind in KINDS:
                for workload in cluster.workloads(namespace, kind):
                    if is_processor(workload):
                        here.append(read_processor(workload, kind).with_sql_limit(SQL_CHARS))
                    elif kind == "Deployment" and (those := read_workers(workload)):
                        workers[those.processor] = those
        except (ClusterError, Missing) as error:
            failures[namespace] = str(error)
            LOG.error("namespace cannot be read", extra={"namespace": namespace, "error": str(error)})
            continue
        processors += [p.with_workers(workers.get(without_component(p.pod_labels))) for p in here]
    return ProcessorListing(tuple(compare(processors)), failures)


def read_document(cluster: Cluster, settings: ConsoleSettings) -> tuple[ConfigMapData | None, Document | None]:
    """The ConfigMap and the document in it; each is None if it does not exist.

    A document that cannot be decoded counts as missing: only the record of deleted processors is lost.

    Raises:
        ClusterError
    """
    place = settings.document
    try:
        stored = cluster.config_map(place.namespace, place.name)
    except Missing:
        return None, None
    try:
        return stored, decode(stored.content)
    except ValueError as error:
        LOG.warning("the published document cannot be read", extra={"configmap": place.name, "error": str(error)})
        return stored, None


def make_document(
    listed: ProcessorListing,
    reports: Mapping[WorkloadKey, RunnerReport],
    former: Document | None,
    settings: ConsoleSettings,
    at: datetime,
    unassigned: Mapping[WorkloadKey, str] | None = None,
) -> Document:
    """The document of the listed processors. `unassigned`: why a processor has no id, by its key."""
    unassigned = unassigned or {}
    known = former.processors if former else ()
    living = {p.id for p in listed.processors if p.id is not None}
    rows = []
    for processor in listed.processors:
        why = unassigned.get(processor.key)
        violations = (Violation("id-unassigned", f"The label lenses-id could not be set: {why}"),) if why else ()
        identifier = identity(processor, known, living)
        living.add(identifier)
        rows.append((identifier, processor.with_violations(*violations), reports[processor.key]))
    return merge(
        rows, former, at, version("lsql-runner"), dict.fromkeys(settings.namespaces), listed.failures, settings.keep
    )
