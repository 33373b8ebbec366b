"""Stop, start, scale, delete: may they, do it, and leave a trace of who, when, what and how it ended."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from lsql_runner.console.auth import Caller
from lsql_runner.console.cluster import Cluster, ClusterError, Conflict, Missing, Note, refused
from lsql_runner.console.history import Happening, History
from lsql_runner.console.settings import Action, Actions
from lsql_runner.console.watch import Watch
from lsql_runner.console.workloads import Processor
from lsql_runner.errors import LsqlError

AUDIT = logging.getLogger("lsql_runner.audit")
LOG = logging.getLogger(__name__)

_DONE: dict[Action, str] = {"stop": "Stopped", "start": "Started", "scale": "Scaled", "delete": "Deleted"}


class Poster(Protocol):
    def post(self, processor: Processor, action: str, by: str) -> None:
        """Stop or start; see Runners.post."""


@dataclass(frozen=True, slots=True)
class Asked:
    """Who asks, from where."""

    caller: Caller
    address: str


class Operations:
    """What an operator may do to a processor. Each attempt is audited, also one that is refused."""

    def __init__(
        self,
        cluster: Cluster,
        runners: Poster,
        watch: Watch,
        allowed: Actions,
        history: History,
        now: Callable[[], datetime],
    ) -> None:
        self._cluster = cluster
        self._runners = runners
        self._watch = watch
        self._allowed = allowed
        self._history = history
        self._now = now

    def stop(self, asked: Asked, identifier: str) -> Processor:
        """The batch under way ends, position and state are kept. May raise what `_perform` does."""
        return self._perform(asked, "stop", identifier, lambda p: self._runners.post(p, "stop", asked.caller.name))

    def start(self, asked: Asked, identifier: str) -> Processor:
        return self._perform(asked, "start", identifier, lambda p: self._runners.post(p, "start", asked.caller.name))

    def delete(self, asked: Asked, identifier: str) -> Processor:
        """The workload goes, and its pods; what else the release has stays."""
        return self._perform(asked, "delete", identifier, self._delete)

    def scale(self, asked: Asked, identifier: str, runners: int) -> Processor:
        def refuse(processor: Processor) -> None:
            raise LsqlError("SCALE_REFUSED", name=processor.name, runners=runners)

        return self._perform(asked, "scale", identifier, refuse)

    def _delete(self, processor: Processor) -> None:
        try:
            self._cluster.delete_workload(processor.namespace, processor.kind, processor.name, processor.uid)
        except (Missing, Conflict):
            raise LsqlError("PROCESSOR_DELETED", name=processor.name) from None
        except ClusterError as error:
            raise refused("delete", f"{processor.kind}/{processor.name}", error) from None

    def _perform(self, asked: Asked, action: Action, identifier: str, do: Callable[[Processor], None]) -> Processor:
        """Check, act, leave the trace.

        Raises:
            LsqlError: PERMISSION_DENIED, ACTION_DISABLED, PROCESSOR_UNKNOWN, PROCESSOR_DELETED, and what `do` raises.
        """
        processor: Processor | None = None
        try:
            if asked.caller.role != "operator":
                raise LsqlError("PERMISSION_DENIED", user=asked.caller.name, action=action, role="operator")
            if not self._allowed.allows(action):
                raise LsqlError("ACTION_DISABLED", action=action, setting=f"actions.{action}")
            processor = self._watch.processor(identifier)
            do(processor)
        except LsqlError as error:
            self._trace(asked, action, identifier, processor, error)
            raise
        self._trace(asked, action, identifier, processor, None)
        self._watch.soon()
        return processor

    def _trace(
        self, asked: Asked, action: Action, identifier: str, processor: Processor | None, error: LsqlError | None
    ) -> None:
        who = asked.caller.name
        fields = {
            "user": who,
            "role": asked.caller.role,
            "address": asked.address,
            "action": action,
            "id": identifier[:80],
            "result": error.code if error else "done",
        }
        if processor is not None:
            fields |= {"namespace": processor.namespace, "kind": processor.kind, "processor": processor.name}
        AUDIT.log(logging.WARNING if error else logging.INFO, "audit", extra=fields)
        if processor is None:
            return
        text = f"{who} asked to {action} it: {error.message if error else 'done.'}"
        self._history.note(identifier, Happening(at=self._now(), kind=action, text=text, by=who))
        note = Note(
            namespace=processor.namespace,
            kind=processor.kind,
            name=processor.name,
            uid=processor.uid,
            type="Warning" if error else "Normal",
            reason=f"{action.capitalize()}Refused" if error else _DONE[action],
            action=action.capitalize(),
            text=text,
        )
        try:
            self._cluster.note(note)
        except (ClusterError, Conflict, Missing) as failure:
            LOG.warning("no Event was written", extra={"action": action, "error": str(failure)})
