"""What a case made on brokers and at a registry, and how it is taken away again, however the case ended."""

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

_GONE_S = 30.0
_POLL_S = 0.05

Task = tuple[str, str, Callable[[], None]]
"""The kind and the name of what is deleted, and how."""


@dataclass(slots=True)
class Leftovers:
    """Names are noted here before the things are made, so that nothing is made that is not noted."""

    path: Path
    """Of the case."""
    brokers: Brokers
    registry: SchemaRegistry | None
    topics: list[str] = field(default_factory=list)
    groups: list[str] = field(default_factory=list)
    subjects: list[str] = field(default_factory=list)

    def clear(self) -> tuple[LsqlError, ...]:
        """Take everything away, and wait until it is gone: CASE_CLEANUP_FAILED for each that stays.

        Ctrl-C does not end it: it is what Ctrl-C leads to.
        """
        with _uninterrupted():
            return (*self._cleared(self._of_brokers()), *self._cleared(self._of_registry()))

    def _of_brokers(self) -> Iterator[Task]:
        yield from (("consumer group", name, partial(self.brokers.delete_group, name)) for name in self.groups)
        yield from (("topic", name, partial(self._delete_topic, name)) for name in self.topics)

    def _of_registry(self) -> Iterator[Task]:
        if self.registry is not None:
            yield from (("subject", name, partial(self.registry.delete, name)) for name in self.subjects)

    def _delete_topic(self, name: str) -> None:
        """The brokers delete in the background; the next case may want the name."""
        self.brokers.delete_topic(name)
        deadline = time.monotonic() + _GONE_S
        while name in self.brokers.topics():
            if time.monotonic() > deadline:
                raise LsqlError("TOPIC_NOT_DELETED", topic=name, seconds=round(_GONE_S))
            time.sleep(_POLL_S)

    def _cleared(self, tasks: Iterator[Task]) -> list[LsqlError]:
        left: list[LsqlError] = []
        away: LsqlError | None = None
        for resource, name, go in tasks:
            error = away or _failure(go)  # each question to brokers that are away would wait for its deadline
            if error is not None:
                away = error if error.kind.is_transient else None
                path, reason = str(self.path), error.message.rstrip(".")
                left.append(LsqlError("CASE_CLEANUP_FAILED", path=path, resource=resource, name=name, reason=reason))
        return left


def _failure(go: Callable[[], None]) -> LsqlError | None:
    try:
        go()
    except LsqlError as error:
        return error
    return None


@contextmanager
def _uninterrupted() -> Iterator[None]:
    """Without Ctrl-C, where this is the thread that gets it."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
