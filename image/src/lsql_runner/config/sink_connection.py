"""How a sink's server is reached. Settings read it, the engine hands it to the JVM; no other stage sees it."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class SinkConnection:
    """One configured sink. Its address never holds credentials."""

    name: str
    kind: str
    """`postgresql` or `redis`."""
    url: str
    user: str = ""
    password: str = field(default="", repr=False)
