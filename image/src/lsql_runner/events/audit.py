"""Who did what to a processor, with the values before and after: one record for each line of the audit log."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, Literal

AUDIT_LOGGER = "lsql_runner.audit"
"""The logger of processor and console. Its lines are logged at every log level."""
DONE = "done"
UNKNOWN = "unknown"
"""The user if nothing tells who it was."""

AuditedAction = Literal[
    "start", "stop", "switch", "deploy", "scale", "delete", "query", "snapshot", "restore", "clone", "prune"
]


@dataclass(frozen=True, slots=True, kw_only=True)
class Audited:
    """A line of the audit log. All lines have all fields."""

    action: AuditedAction
    processor: str
    """The application id; in the console the name of the workload."""
    user: str
    result: str = DONE
    """`done`, or the code of an error."""
    before: Mapping[str, Any] | None = None
    """The changes of the action; None if there were none, or the action was refused."""
    after: Mapping[str, Any] | None = None
    namespace: str | None = None
    kind: str | None = None
    id: str | None = None
    role: str | None = None
    address: str | None = None
    """Of the client that sent the request; None without a request."""

    def fields(self) -> dict[str, Any]:
        """The fields of the line, by name."""
        return asdict(self)


def digest_of(text: str) -> str:
    """A program in the audit log: the SHA-256 of its text."""
    return f"sha256:{hashlib.sha256(text.encode('utf-8', 'surrogateescape')).hexdigest()}"
