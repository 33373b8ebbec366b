"""The connection of a sink. Settings define it, and the engine passes it to the JVM; no other stage uses it."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True, kw_only=True)
class SinkConnection:
    """One configured sink. Its URL has no credentials."""

    name: str
    kind: str
    """`postgresql` or `redis`."""
    url: str
    ca: str = ""
    """Certificates as PEM that verify the server's certificate and host name; empty if not set."""
    user: str = ""
    password: str = field(default="", repr=False)
