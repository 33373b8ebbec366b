"""Watches which workers a processor has."""

from __future__ import annotations

from lsql_runner.events.processor import WarningRaised
from lsql_runner.events.workers import JoinedWorker, WorkersChanged
from lsql_runner.runtime.dependencies import RunDependencies
from lsql_runner.runtime.timer import Timer
from lsql_runner.status.state_machine import StateMachine

PERIOD_MS = 2_000
"""The time between two requests: one message within the JVM."""


class WorkersReporter:
    """Emits an event when workers have changed, and warnings: of workers that were refused, of workers without work.

    Not thread-safe.

    Attributes:
        most_tasks: how many tasks the program has at most at the same time; None before it is planned.
    """

    def __init__(self, dependencies: RunDependencies, machine: StateMachine) -> None:
        self._engine = dependencies.engine
        self._version = dependencies.identity.version
        self._now_ms = dependencies.now_ms
        self._machine = machine
        self._next = Timer()
        self._known: tuple[JoinedWorker, ...] | None = None
        self.most_tasks: int | None = None
        self._warned_of = (0, 0)

    def report(self) -> None:
        """Look for changes if it is time to."""
        now_ms = self._now_ms()
        if not self._next.is_due(now_ms):
            return
        self._next.start(now_ms, PERIOD_MS)
        cluster = self._engine.workers()
        if cluster is None:
            return
        workers, refused = cluster
        for worker in refused:
            text = (
                f"A worker at {worker.address.rpartition(':')[0]} was refused: it has the version {worker.version}, "
                f"and the processor {self._version}."
            )
            self._machine.emit(WarningRaised(now_ms, text))
        if workers != self._known:
            before = {worker.address for worker in self._known or ()}
            after = {worker.address for worker in workers}
            self._known = workers
            self._machine.emit(
                WorkersChanged(
                    now_ms, workers, joined=tuple(sorted(after - before)), left=tuple(sorted(before - after))
                )
            )
        self._warn_of_idle(now_ms, workers)

    def _warn_of_idle(self, now_ms: int, workers: tuple[JoinedWorker, ...]) -> None:
        slots = sum(worker.cores for worker in workers)
        tasks = self.most_tasks
        if tasks is None or slots - min((worker.cores for worker in workers), default=0) < tasks:
            return  # each worker has a task at times
        if (slots, tasks) == self._warned_of:
            return
        self._warned_of = (slots, tasks)
        text = (
            f"{len(workers)} workers run up to {slots} tasks at the same time, and the program never has more than "
            f"{tasks}, one for each partition: run fewer workers, or add partitions to the source topics."
        )
        self._machine.emit(WarningRaised(now_ms, text))
