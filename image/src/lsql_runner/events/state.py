"""The states of a processor, as /stream, the metrics and the log name them."""

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
