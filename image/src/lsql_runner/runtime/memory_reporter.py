"""Measures the memory of the processes of a processor while it runs, and shrinks the heap of the JVM."""

from __future__ import annotations

from lsql_runner.container.limits import kernel_memory_bytes
from lsql_runner.container.private_memory import private_bytes
from lsql_runner.events.memory import MemoryMeasured
from lsql_runner.runtime.dependencies import RunDependencies
from lsql_runner.runtime.timer import Timer
from lsql_runner.status.state_machine import StateMachine

PERIOD_MS = 30_000
"""The time between two measurements. A measurement takes 14 ms of processor time if the processes have 560 MiB: the
kernel reads all their page tables."""

FIRST_PERIOD_MS = 5_000
"""The time from the first measurement, which is made before the first batch has ended, to the second."""

HEAP_GROWTH_BYTES = 16 << 20
"""By how much the old objects of the heap have to grow before they are collected. Without records, and in a
stateless processor, they do not grow, and nothing stops the JVM."""


class MemoryReporter:
    """Emits an event with the memory that the processes use. Not thread-safe."""

    def __init__(self, dependencies: RunDependencies, machine: StateMachine) -> None:
        self._engine = dependencies.engine
        self._pids = dependencies.python_pids
        self._now_ms = dependencies.now_ms
        self._machine = machine
        self._next = Timer()
        self._has_measured = False

    def report(self) -> None:
        """Measure the memory if it is due. From the second time on, shrink the heap before it."""
        now_ms = self._now_ms()
        if not self._next.is_due(now_ms):
            return
        if self._has_measured:  # at the first time, records that have waited are processed
            self._engine.shrink_heap(HEAP_GROWTH_BYTES)
        self._next.start(now_ms, PERIOD_MS if self._has_measured else FIRST_PERIOD_MS)
        self._has_measured = True
        self._machine.emit(
            MemoryMeasured(now_ms, self._engine.memory(), private_bytes(self._pids), kernel_memory_bytes())
        )
