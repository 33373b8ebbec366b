"""The events of the console, as frozen data. Its metrics are computed from them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class RequestEnded:
    """The console has answered a request."""

    route: str
    """The name of the route; `unknown` for a path that no route has."""
    method: str
    status: int
    duration_s: float


@dataclass(frozen=True, slots=True)
class ActionEnded:
    """A user has asked to stop, start, scale or delete a processor."""

    action: str
    result: str
    """`done`, or the code of the error."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterRead:
    """The console has read the processors of its namespaces."""

    at_s: float
    """In Unix time."""
    processors: Mapping[tuple[str, str], int]
    """The number of processors, by namespace and state."""
    unreadable_namespaces: int
    recovered_at_s: float | None
    """When the recovery job last published its document, in Unix time; None if it never has."""


@dataclass(frozen=True, slots=True)
class ClusterUnreadable:
    """The console could not read the cluster; its view is from the last successful time."""


ConsoleEvent = RequestEnded | ActionEnded | ClusterRead | ClusterUnreadable

ConsoleListener = Callable[[ConsoleEvent], None]
"""Several threads call it."""
