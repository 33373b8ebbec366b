"""Deletes the topics, consumer groups and subjects that a case created, also after a failure or an interruption."""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from lsql_runner.errors import LsqlError
from lsql_runner.kafka.ports import Brokers
from lsql_runner.kafka.registry import SchemaRegistry

_DELETION_S = 30.0
_POLL_S = 0.05

Task = tuple[str, str, Callable[[], None]]
"""The type and the name of a resource, and the call that deletes it."""


@dataclass(slots=True, kw_only=True)
class Cleanup:
    """The resources that a case created. Each name is added before the resource is created, so that none is missed."""

    path: Path
    """The case file."""
    brokers: Brokers
    registry: SchemaRegistry | None
    topics: list[str] = field(default_factory=list)
    groups: list[str] = field(default_factory=list)
    subjects: list[str] = field(default_factory=list)

    def run(self) -> tuple[LsqlError, ...]:
        """Delete everything and wait until it is deleted. Returns a CASE_CLEANUP_FAILED for each resource that remains.

        Ctrl-C does not interrupt it, because it also runs after Ctrl-C.
        """
        with _ignore_interrupts():
            return (*self._run_tasks(self._broker_tasks()), *self._run_tasks(self._registry_tasks()))

    def _broker_tasks(self) -> Iterator[Task]:
        yield from (("consumer group", name, partial(self.brokers.delete_group, name)) for name in self.groups)
        yield from (("topic", name, partial(self._delete_topic, name)) for name in self.topics)

    def _registry_tasks(self) -> Iterator[Task]:
        if self.registry is not None:
            yield from (("subject", name, partial(self.registry.delete, name)) for name in self.subjects)

    def _delete_topic(self, name: str) -> None:
        """Delete a topic, and wait: brokers delete in the background, and the next case may need the name."""
        self.brokers.delete_topic(name)
        deadline = time.monotonic() + _DELETION_S
        while name in self.brokers.topics():
            if time.monotonic() > deadline:
                raise LsqlError("TOPIC_NOT_DELETED", topic=name, seconds=round(_DELETION_S))
            time.sleep(_POLL_S)

    def _run_tasks(self, tasks: Iterator[Task]) -> list[LsqlError]:
        remaining: list[LsqlError] = []
        unreachable: LsqlError | None = None
        for resource, name, delete in tasks:
            error = unreachable or _failure(delete)  # every request to unreachable brokers would wait for its deadline
            if error is not None:
                unreachable = error if error.kind.is_transient else None
                path, reason = str(self.path), error.message.rstrip(".")
                failed = LsqlError("CASE_CLEANUP_FAILED", path=path, resource=resource, name=name, reason=reason)
                remaining.append(failed)
        return remaining


def _failure(delete: Callable[[], None]) -> LsqlError | None:
    try:
        delete()
    except LsqlError as error:
        return error
    return None


@contextmanager
def deferred_interrupts() -> Iterator[None]:
    """Let Ctrl-C and TERM wait for the end of the block, in the main thread.

    For requests that create a resource: one that is on its way may be executed after the cleanup.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    received: list[int] = []
    before = {
        number: signal.signal(number, lambda number, _: received.append(number))
        for number in (signal.SIGINT, signal.SIGTERM)
    }
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
        if received:
            signal.raise_signal(received[0])


@contextmanager
def _ignore_interrupts() -> Iterator[None]:
    """Ignore Ctrl-C inside the block. Does nothing in other threads, which Ctrl-C does not interrupt."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
