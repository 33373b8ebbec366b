"""The workers of a processor and their scaling, from its status: parts of GET /stream."""

from __future__ import annotations

from lsql_runner.api.worker_models import ScalingReport, WorkerReport
from lsql_runner.status.model import Status


def worker_reports(status: Status) -> list[WorkerReport] | None:
    """The workers; None if the processor runs its tasks itself."""
    if status.workers is None:
        return None
    return [WorkerReport(address=w.address, cores=w.cores, leaving=w.leaving) for w in status.workers]


def scaling_report(status: Status) -> ScalingReport | None:
    """How many workers there should be; None if the processor does not compute it."""
    found = status.scaling
    if found is None:
        return None
    return ScalingReport(
        wanted=found.wanted,
        current=status.present_workers,
        lag_records=found.lag_records,
        arriving_per_second=found.arriving_per_s,
        catch_up_seconds=found.catch_up_s,
        dry_run=found.dry_run,
        minimum=found.minimum,
        maximum=found.maximum,
        reason=found.reason,
    )
