"""The workers of a processor, as they are known to its master."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class JoinedWorker:
    """A worker that runs tasks."""

    address: str
    """Host and port."""
    cores: int
    """The tasks that it runs at the same time."""
    leaving: bool = False
    """Whether it ends when its tasks have ended."""


@dataclass(frozen=True, slots=True)
class RefusedWorker:
    """A worker of another version."""

    address: str
    version: str


@dataclass(frozen=True, slots=True)
class WorkersChanged:
    """Workers have joined or left, or a worker begins to leave."""

    at_ms: int
    workers: tuple[JoinedWorker, ...]
    """All of them now."""
    joined: tuple[str, ...] = ()
    """Addresses."""
    left: tuple[str, ...] = ()
    """Addresses."""
