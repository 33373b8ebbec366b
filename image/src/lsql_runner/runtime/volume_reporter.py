"""Measures the volume with the state directory while a processor runs."""

from __future__ import annotations

import shutil
from contextlib import suppress

from lsql_runner.events.processor import VolumeMeasured
from lsql_runner.runtime.dependencies import RunDependencies
from lsql_runner.runtime.timer import Timer
from lsql_runner.status.state_machine import StateMachine

PERIOD_MS = 30_000
"""The time between two measurements: one system call each, which reads no file."""


class VolumeReporter:
    """Emits an event with the size and the free space of the volume, unless the state is at a URI. Not thread-safe."""

    def __init__(self, dependencies: RunDependencies, machine: StateMachine) -> None:
        self._path = None if dependencies.settings.state_uri else dependencies.state.path
        self._now_ms = dependencies.now_ms
        self._machine = machine
        self._next = Timer()

    def report(self) -> None:
        """Measure the volume if it is due."""
        now_ms = self._now_ms()
        if self._path is None or not self._next.is_due(now_ms):
            return
        self._next.start(now_ms, PERIOD_MS)
        with suppress(OSError):  # of a volume that fails; the queries report it
            usage = shutil.disk_usage(self._path)
            self._machine.emit(VolumeMeasured(now_ms, usage.total, usage.free))
