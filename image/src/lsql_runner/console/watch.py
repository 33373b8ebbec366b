"""The console's view of the cluster, which a thread refreshes every few seconds.

[ list, fetch reports, merge ] -> ClusterView -> API
"""

from __future__ import annotations

import logging
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from datetime import datetime

from lsql_runner.console.audit import observed_changes, write_audit
from lsql_runner.console.cluster import Cluster, ClusterError
from lsql_runner.console.discovery import FetchReports, list_processors, make_document, read_document
from lsql_runner.console.document import Document, ProcessorEntry
from lsql_runner.console.history import History
from lsql_runner.console.settings import ConsoleSettings
from lsql_runner.console.workloads import ProcessorWorkload
from lsql_runner.errors import LsqlError
from lsql_runner.events.console import ClusterRead, ClusterUnreadable, ConsoleListener

STALE_S = 120.0
"""The thread counts as stuck this long after the longest time that a refresh may take."""
LOG = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterView:
    """The processors at the last refresh."""

    number: int
    """Increases with each refresh."""
    document: Document
    entries: dict[str, ProcessorEntry] = field(default_factory=dict)
    processors: dict[str, ProcessorWorkload] = field(default_factory=dict)
    """By id; without deleted processors."""
    problem: str | None = None
    """Why the last refresh failed; None if it did not."""


class ClusterWatch:
    """Refreshes the view in a thread from `start` until `close`; tests call `refresh` instead."""

    def __init__(
        self,
        *,
        cluster: Cluster,
        fetch_reports: FetchReports,
        settings: ConsoleSettings,
        history: History,
        now: Callable[[], datetime],
        listener: ConsoleListener,
        after_refresh: Callable[[ClusterView], None] | None = None,
    ) -> None:
        self._cluster = cluster
        self._fetch_reports = fetch_reports
        self._settings = settings
        self._history = history
        self._now = now
        self._listener = listener
        self._after_refresh = after_refresh
        self._view: ClusterView | None = None
        self._refreshing = threading.Lock()
        self._wake = threading.Event()
        self._ended = False
        self._alive_at = time.monotonic()
        self._thread = threading.Thread(target=self._run, name="watch", daemon=True)

    @property
    def view(self) -> ClusterView | None:
        """The last view; None before the first refresh."""
        return self._view

    @property
    def alive(self) -> bool:
        """Whether the thread still refreshes the view."""
        silent_s = time.monotonic() - self._alive_at
        return silent_s < self._settings.runners.pass_seconds + self._settings.poll_seconds + STALE_S

    def start(self) -> None:
        self._thread.start()

    def close(self) -> None:
        self._ended = True
        self._wake.set()
        if self._thread.is_alive():
            self._thread.join(self._settings.runners.timeout_seconds + 1)

    def refresh_soon(self) -> None:
        """Refresh immediately, after an action."""
        self._wake.set()

    def entry(self, identifier: str) -> ProcessorEntry:
        """The entry with this id at the last refresh.

        Raises:
            LsqlError: PROCESSOR_UNKNOWN.
        """
        entry = self._view.entries.get(identifier) if self._view else None
        if entry is None:
            raise LsqlError("PROCESSOR_UNKNOWN", id=identifier[:80])
        return entry

    def processor(self, identifier: str) -> ProcessorWorkload:
        """The processor with this id, which must not be deleted.

        Raises:
            LsqlError: PROCESSOR_UNKNOWN, PROCESSOR_DELETED.
        """
        entry = self.entry(identifier)
        processor = self._view.processors.get(identifier) if self._view else None
        if processor is None:
            raise LsqlError("PROCESSOR_DELETED", name=entry.name)
        return processor

    def refresh(self) -> None:
        """Refresh once. If the cluster cannot be read, the last view stays and gets the problem."""
        with self._refreshing:
            try:
                _, published = read_document(self._cluster, self._settings)
            except ClusterError as error:
                self._keep_last_view(str(error))
                return
            own = self._view.document if self._view else None
            listed = list_processors(self._cluster, self._settings.namespaces)
            reports = self._fetch_reports(listed.processors)
            document = make_document(listed, reports, combine(published, own), self._settings, self._now())
            by_key = {p.key: p for p in listed.processors}
            number = self._view.number + 1 if self._view else 1
            entries = _by_id(document.processors)
            living = {e.id: by_key[e.key] for e in entries.values() if e.deleted_at is None and e.key in by_key}
            for change in observed_changes(own or published, document, living):
                write_audit(change)
            self._view = ClusterView(number=number, document=document, entries=entries, processors=living)
            self._history.add_document(document)
            self._listener(_read_event(document, published))
            if self._after_refresh:
                self._after_refresh(self._view)

    def _run(self) -> None:
        while not self._ended:
            self._wake.clear()
            try:
                self.refresh()
            except Exception as error:
                LOG.error("the refresh of the cluster view failed", exc_info=error)
                self._keep_last_view(f"{type(error).__name__}: {error}")
            self._alive_at = time.monotonic()
            self._wake.wait(self._settings.poll_seconds)

    def _keep_last_view(self, why: str) -> None:
        LOG.warning("the cluster cannot be read", extra={"error": why})
        self._listener(ClusterUnreadable())
        last = self._view
        if last is not None:
            self._view = ClusterView(
                number=last.number + 1,
                document=last.document,
                entries=last.entries,
                processors=last.processors,
                problem=why,
            )


def _read_event(document: Document, published: Document | None) -> ClusterRead:
    return ClusterRead(
        at_s=document.at.timestamp(),
        processors=Counter((entry.namespace, entry.state) for entry in document.processors),
        unreadable_namespaces=len(document.failures),
        recovered_at_s=None if published is None else published.at.timestamp(),
    )


def combine(published: Document | None, own: Document | None) -> Document | None:
    """The job's document, with the processors and the deletions that only the console's own document has.

    The console reads the cluster more often than the job, so it may know them first.
    """
    if published is None or own is None:
        return published or own
    known = {entry.id: entry for entry in published.processors}
    for entry in own.processors:
        before = known.get(entry.id)
        if before is None or (entry.deleted_at and before.deleted_at is None):
            known[entry.id] = entry
    return published.model_copy(update={"processors": tuple(known.values())})


def _by_id(entries: Iterable[ProcessorEntry]) -> dict[str, ProcessorEntry]:
    """The entries by id. If two have the same id, the older workload, which had it first."""
    by_id: dict[str, ProcessorEntry] = {}
    for entry in entries:
        other = by_id.get(entry.id)
        if other is None or (entry.created_at and other.created_at and entry.created_at < other.created_at):
            by_id[entry.id] = entry
    return by_id
