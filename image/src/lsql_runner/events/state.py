"""The states of a processor, with the names that /stream, the metrics and the log use."""

from __future__ import annotations

from enum import Enum


class State(Enum):
    STARTING = "starting"
    WAITING = "waiting"
    RUNNING = "running"
    STOPPING = "stopping"
    STOPPED = "stopped"
    RESTARTING = "restarting"
    FAILED = "failed"
    ENDED = "ended"
