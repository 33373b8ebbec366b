"""The audit log of the console: actions of its users, and changes of processors that it finds in the cluster."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping
from typing import Any

from lsql_runner.console.cluster import MANAGER
from lsql_runner.console.document import Document, ProcessorEntry
from lsql_runner.console.workloads import ProcessorWorkload
from lsql_runner.events.audit import AUDIT_LOGGER, DONE, UNKNOWN, Audited, AuditedAction, digest_of

_LOG = logging.getLogger(AUDIT_LOGGER)


def write_audit(record: Audited) -> None:
    """Write a line of the audit log."""
    _LOG.log(logging.INFO if record.result == DONE else logging.WARNING, "audit", extra=record.fields())


def observed_changes(
    before: Document | None, after: Document, processors: Mapping[str, ProcessorWorkload]
) -> Iterator[Audited]:
    """What others have changed between two views of the cluster: new programs and images, replicas, deletions.

    The user is the field manager that last changed the workload, for example `helm`: Kubernetes keeps no other name.

    Args:
        before: the former view; None yields nothing.
        after: the view now.
        processors: the workloads of the view, by id.
    """
    if before is None:
        return
    known = {entry.id: entry for entry in before.processors}
    for entry in after.processors:
        workload = processors.get(entry.id)
        user = workload.changed_by if workload and workload.changed_by else UNKNOWN
        former = known.get(entry.id)
        if former is not None and former.deleted_at is not None:
            former = None
        if entry.deleted_at is not None:
            if former is not None:
                yield _record("delete", entry, UNKNOWN, _deployment(former), None)
            continue
        if former is None or _deployment(former) != _deployment(entry):
            yield _record("deploy", entry, user, _deployment(former) if former else None, _deployment(entry))
        if former is not None and former.runners != entry.runners:
            yield _record("scale", entry, user, {"runners": former.runners}, {"runners": entry.runners})
        scaler = workload.workers.scaled_by if workload and workload.workers else ""
        # Its own changes were logged as actions of their users.
        if former is not None and former.workers != entry.workers and scaler != MANAGER:
            yield _record("scale", entry, scaler or UNKNOWN, {"workers": former.workers}, {"workers": entry.workers})


def _deployment(entry: ProcessorEntry) -> dict[str, Any]:
    """The program, as far as the document has it, and the image."""
    return {"program": digest_of(entry.sql or ""), "program_chars": entry.sql_chars, "image": entry.image}


def _record(
    action: AuditedAction,
    entry: ProcessorEntry,
    user: str,
    before: Mapping[str, Any] | None,
    after: Mapping[str, Any] | None,
) -> Audited:
    return Audited(
        action=action,
        processor=entry.name,
        user=user,
        before=before,
        after=after,
        namespace=entry.namespace,
        kind=entry.kind,
        id=entry.id,
    )
