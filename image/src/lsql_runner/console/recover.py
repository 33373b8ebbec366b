"""The recovery job: finds all processors, assigns missing ids, fetches the reports of runners, publishes the document.

list -> adopt -> fetch -> publish
"""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime

from lsql_runner.console.cluster import Cluster, ClusterError, Conflict, Missing, refusal
from lsql_runner.console.discovery import FetchReports, ProcessorListing, list_processors, make_document, read_document
from lsql_runner.console.document import Document, identity
from lsql_runner.console.settings import ConsoleSettings
from lsql_runner.console.storage import encode
from lsql_runner.console.workloads import ID_LABEL, ProcessorWorkload, WorkloadKey, read_processor
from lsql_runner.errors import DetailTable, LsqlError

ATTEMPTS = 5
"""Attempts of a write that conflicts with the write of another client."""
LOG = logging.getLogger(__name__)
_REASONS = DetailTable({"ATTEMPTS": "another client changed the workload in each of {attempts} attempts"})


@dataclass(frozen=True, slots=True)
class RecoveryResult:
    """The result of one run of the job."""

    document: Document
    adopted: int
    """Processors that got an id."""
    unassigned: int
    """Processors whose id could not be set."""

    @property
    def complete(self) -> bool:
        """Whether every namespace could be read and every processor has its id."""
        return not self.document.failures and not self.unassigned


def recover(
    cluster: Cluster, fetch_reports: FetchReports, settings: ConsoleSettings, now: Callable[[], datetime]
) -> RecoveryResult:
    """Run the job once.

    Raises:
        LsqlError: CLUSTER_REFUSED if the document cannot be read or written, DOCUMENT_CONFLICT, DOCUMENT_TOO_LARGE.
    """
    resource = f"ConfigMap/{settings.document.name}"
    try:
        _, former = read_document(cluster, settings)
    except ClusterError as error:
        raise refusal("read", resource, error) from None
    listed, adopted, unassigned = adopt(cluster, list_processors(cluster, settings.namespaces), former)
    reports = fetch_reports(listed.processors)
    at = now()
    document = publish(cluster, settings, lambda known: make_document(listed, reports, known, settings, at, unassigned))
    return RecoveryResult(document, adopted, len(unassigned))


def adopt(
    cluster: Cluster, listed: ProcessorListing, former: Document | None
) -> tuple[ProcessorListing, int, dict[WorkloadKey, str]]:
    """Assign missing ids. Returns the processors, the number of assigned ids, and by key why an id is still missing."""
    living = {p.id for p in listed.processors if p.id is not None}
    known = former.processors if former else ()
    result: list[ProcessorWorkload] = []
    adopted, unassigned = 0, {}
    for processor in listed.processors:
        if processor.id is not None:
            result.append(processor)
            continue
        new_id = identity(processor, known, living)
        try:
            assigned = _assign(cluster, processor, new_id)
        except Missing:  # the workload was deleted after it was listed
            continue
        except (ClusterError, Conflict) as error:
            unassigned[processor.key] = str(error)
            LOG.error("id not assigned", extra={**_log_fields(processor), "error": str(error)})
            result.append(processor)
            continue
        adopted += assigned == new_id
        living.add(assigned)
        LOG.info("id assigned", extra={**_log_fields(processor), "id": assigned})
        result.append(replace(processor, id=assigned))
    return ProcessorListing(tuple(result), listed.failures), adopted, unassigned


def _assign(cluster: Cluster, processor: ProcessorWorkload, new_id: str) -> str:
    """Set the id. Returns `new_id`, or the id that another client set in the meantime.

    The patch passes the resourceVersion of the workload without the label, so that two jobs cannot set two ids.
    """
    version = processor.version
    for _ in range(ATTEMPTS):
        try:
            cluster.label(processor.namespace, processor.kind, processor.name, version, ID_LABEL, new_id)
            return new_id
        except Conflict:
            workload = cluster.workload(processor.namespace, processor.kind, processor.name)
            current = read_processor(workload, processor.kind)
            if current.id is not None:
                return current.id
            version = current.version
    raise Conflict(_REASONS("ATTEMPTS", attempts=ATTEMPTS))


def publish(cluster: Cluster, settings: ConsoleSettings, make: Callable[[Document | None], Document]) -> Document:
    """Write the document that `make` returns for the stored one; try again after a conflict.

    Raises:
        LsqlError: CLUSTER_REFUSED, DOCUMENT_CONFLICT, DOCUMENT_TOO_LARGE.
    """
    place = settings.document
    resource = f"ConfigMap/{place.name}"
    try:
        for _ in range(ATTEMPTS):
            stored, former = read_document(cluster, settings)
            document = make(former)
            version = stored.version if stored else None
            try:
                cluster.write_config_map(place.namespace, place.name, version, encode(document))
                return document
            except (Conflict, Missing):
                continue
    except ClusterError as error:
        raise refusal("write", resource, error) from None
    raise LsqlError("DOCUMENT_CONFLICT", resource=resource, attempts=ATTEMPTS)


def summary(document: Document) -> dict[str, int]:
    """The number of processors in each state."""
    return dict(sorted(Counter(entry.state for entry in document.processors).items()))


def _log_fields(processor: ProcessorWorkload) -> dict[str, str]:
    return {"namespace": processor.namespace, "kind": processor.kind, "processor": processor.name}
