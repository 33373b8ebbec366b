"""A Lease of Kubernetes (`coordination.k8s.io/v1`) as a value: who leads, and until when."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

ADDRESS = "lsql-runner/address"
"""The annotation with the address of the leader's API."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LeaseRecord:
    """The content of a Lease."""

    holder: str = ""
    """The process that leads; empty if none does."""
    address: str = ""
    """Host and port of its API."""
    duration_s: int = 0
    """How long the lease lasts after it was renewed."""
    renewed: str = ""
    """When, by the clock of the holder. Others only compare it with its earlier value."""
    acquired: str = ""
    """When the holder began to lead, by its clock."""
    transitions: int = 0
    """How often the holder has changed."""


def record_of(document: Mapping[str, Any]) -> LeaseRecord:
    """The content of a Lease object. One without a specification was never held."""
    spec = document.get("spec") or {}
    annotations = document.get("metadata", {}).get("annotations") or {}
    return LeaseRecord(
        holder=str(spec.get("holderIdentity") or ""),
        address=str(annotations.get(ADDRESS, "")),
        duration_s=int(spec.get("leaseDurationSeconds") or 0),
        renewed=str(spec.get("renewTime") or ""),
        acquired=str(spec.get("acquireTime") or ""),
        transitions=int(spec.get("leaseTransitions") or 0),
    )


def with_record(document: Mapping[str, Any], record: LeaseRecord) -> dict[str, Any]:
    """A Lease object with another content; its version stays, so that the API server refuses it after a change."""
    metadata = dict(document["metadata"])
    metadata["annotations"] = {**(metadata.get("annotations") or {}), ADDRESS: record.address}
    spec = {
        "holderIdentity": record.holder,
        "leaseDurationSeconds": max(1, record.duration_s),
        "leaseTransitions": record.transitions,
    }
    times = {"acquireTime": record.acquired, "renewTime": record.renewed}
    return {**document, "metadata": metadata, "spec": spec | {name: time for name, time in times.items() if time}}


def micro_time(moment_s: float) -> str:
    """A time in seconds since 1970 UTC in the form of a Lease."""
    return datetime.fromtimestamp(moment_s, UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
