"""Where a Lease is."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

SERVICE_ACCOUNT = Path("/var/run/secrets/kubernetes.io/serviceaccount")
"""The folder with the credentials of a pod: `token` and `ca.crt`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LeaseConnection:
    """Where a Lease is."""

    namespace: str
    name: str
    server: str = ""
    """The URL of the API server; empty for the pod's own."""
    credentials: Path = SERVICE_ACCOUNT
    """A folder with `token` and `ca.crt`. A plain `http:` server needs neither."""
    timeout_s: float = 1.0
    """Of a request: a leader that waited longer for one answer would have no time for another try."""
