"""The states of a processor, with the names that /stream, the metrics and the log use."""

from __future__ import annotations

from enum import StrEnum


class State(StrEnum):
    STARTING = "starting"
    """Prepares the program: reads topics and schemas, and checks the saved state."""
    WAITING = "waiting"
    """Tries to start again every second, because a server is unreachable or a source topic is empty."""
    STANDBY = "standby"
    """Has prepared everything, and waits until the process that leads ends."""
    RUNNING = "running"
    """Its queries run."""
    STOPPING = "stopping"
    """Lets the running batches end."""
    STOPPED = "stopped"
    """Stopped by a request; a request starts it again."""
    RESTARTING = "restarting"
    """Failed, and waits before it starts again."""
    FAILED = "failed"
    """Failed with an error that a retry cannot correct; a request starts it again."""
    ENDED = "ended"
    """The process ends."""
