"""Stop, start, scale and delete processors: check the permission, act, and write an audit record."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Protocol, TypeVar

from lsql_runner.console.audit import write_audit
from lsql_runner.console.auth import Caller
from lsql_runner.console.cluster import Cluster, ClusterError, Conflict, Missing, WorkloadEvent, refusal
from lsql_runner.console.history import History, HistoryEvent
from lsql_runner.console.scaling import RunnerStreams, ScaleResult, scale_workers
from lsql_runner.console.settings import Action, Actions
from lsql_runner.console.watch import ClusterWatch
from lsql_runner.console.workloads import ProcessorWorkload
from lsql_runner.errors import LsqlError
from lsql_runner.events.audit import DONE, Audited
from lsql_runner.events.console import ActionEnded, ConsoleListener

LOG = logging.getLogger(__name__)
_Result = TypeVar("_Result")

_AFTER: dict[Action, Mapping[str, Any] | None] = {
    "stop": {"state": "stopped"},
    "start": {"state": "starting"},
    "scale": None,
    "delete": None,
}
"""The state of the processor after the action; for a scaling, the result has it."""
_DONE: dict[Action, str] = {"stop": "Stopped", "start": "Started", "scale": "Scaled", "delete": "Deleted"}


class RunnerActions(RunnerStreams, Protocol):
    def post(self, processor: ProcessorWorkload, action: str, by: str, token: str) -> None:
        """Stop or start; see Runners.post."""


@dataclass(frozen=True, slots=True)
class Requester:
    """The user who sent a request, and the address it came from."""

    caller: Caller
    address: str


class Operations:
    """The actions of users with the role `operator`. Each attempt is audited, including those that are refused."""

    def __init__(
        self,
        *,
        cluster: Cluster,
        runners: RunnerActions,
        watch: ClusterWatch,
        allowed: Actions,
        maximum_workers: int,
        history: History,
        now: Callable[[], datetime],
        listener: ConsoleListener,
    ) -> None:
        self._cluster = cluster
        self._runners = runners
        self._watch = watch
        self._allowed = allowed
        self._maximum_workers = maximum_workers
        self._history = history
        self._now = now
        self._listener = listener

    def stop(self, requester: Requester, identifier: str) -> ProcessorWorkload:
        """Stop after the running batch; position and state are kept. Raises the errors of `_perform`."""
        return self._perform(requester, "stop", identifier, lambda p: self._post(p, "stop", requester))[0]

    def start(self, requester: Requester, identifier: str) -> ProcessorWorkload:
        return self._perform(requester, "start", identifier, lambda p: self._post(p, "start", requester))[0]

    def delete(self, requester: Requester, identifier: str) -> ProcessorWorkload:
        """Delete the workload and its pods; the rest of the release stays."""
        return self._perform(requester, "delete", identifier, self._delete)[0]

    def scale(self, requester: Requester, identifier: str, workers: int) -> tuple[ProcessorWorkload, ScaleResult]:
        """Set the number of workers. Raises the errors of `scale_workers` and `_perform`."""

        def scale(processor: ProcessorWorkload) -> ScaleResult:
            return scale_workers(self._cluster, self._runners, processor, workers, self._maximum_workers)

        return self._perform(requester, "scale", identifier, scale)

    def _post(self, processor: ProcessorWorkload, action: str, requester: Requester) -> None:
        self._runners.post(processor, action, requester.caller.name, self._token(processor))

    def _token(self, processor: ProcessorWorkload) -> str:
        """The token of the runner; empty if it has none.

        Raises:
            LsqlError: RUNNER_TOKEN_UNREADABLE.
        """
        place = processor.token_secret
        if place is None:
            return ""
        try:
            return self._cluster.secret_value(processor.namespace, place.secret, place.key)
        except (ClusterError, Missing) as error:
            raise LsqlError(
                "RUNNER_TOKEN_UNREADABLE", name=processor.name, secret=place.secret, reason=str(error).rstrip(".")
            ) from None

    def _delete(self, processor: ProcessorWorkload) -> None:
        try:
            self._cluster.delete_workload(processor.namespace, processor.kind, processor.name, processor.uid)
        except (Missing, Conflict):
            raise LsqlError("PROCESSOR_DELETED", name=processor.name) from None
        except ClusterError as error:
            raise refusal("delete", f"{processor.kind}/{processor.name}", error) from None

    def _perform(
        self, requester: Requester, action: Action, identifier: str, do: Callable[[ProcessorWorkload], _Result]
    ) -> tuple[ProcessorWorkload, _Result]:
        """Check the permission, act, and write the audit record.

        Raises:
            LsqlError: PERMISSION_DENIED, ACTION_DISABLED, PROCESSOR_UNKNOWN, PROCESSOR_DELETED, or an error of `do`.
        """
        processor: ProcessorWorkload | None = None
        try:
            if requester.caller.role != "operator":
                raise LsqlError("PERMISSION_DENIED", user=requester.caller.name, action=action, role="operator")
            if not self._allowed.allows(action):
                raise LsqlError("ACTION_DISABLED", action=action, setting=f"actions.{action}")
            processor = self._watch.processor(identifier)
            result = do(processor)
        except LsqlError as error:
            self._audit(requester, action, identifier, processor, error)
            raise
        self._audit(requester, action, identifier, processor, None, result if isinstance(result, ScaleResult) else None)
        self._watch.refresh_soon()
        return processor, result

    def _state_before(
        self, action: Action, identifier: str, processor: ProcessorWorkload, scaled: ScaleResult | None
    ) -> Mapping[str, Any] | None:
        if scaled is not None:
            return {"workers": scaled.before}
        if action == "scale":
            return {"workers": processor.workers.replicas} if processor.workers else None
        return {"state": self._watch.entry(identifier).state}

    def _audit(
        self,
        requester: Requester,
        action: Action,
        identifier: str,
        processor: ProcessorWorkload | None,
        error: LsqlError | None,
        scaled: ScaleResult | None = None,
    ) -> None:
        who = requester.caller.name
        result = error.code if error else DONE
        self._listener(ActionEnded(action, result))
        write_audit(
            Audited(
                action=action,
                processor=processor.name if processor else "",
                user=who,
                result=result,
                before=None if processor is None else self._state_before(action, identifier, processor, scaled),
                after={"workers": scaled.after} if scaled else None if error else _AFTER[action],
                namespace=processor.namespace if processor else None,
                kind=processor.kind if processor else None,
                id=identifier[:80],
                role=requester.caller.role,
                address=requester.address,
            )
        )
        if processor is None:
            return
        done = f"{scaled.before} to {scaled.after} workers." if scaled else "done."
        text = f"{who} requested {action}: {error.message if error else done}"
        self._history.add_event(identifier, HistoryEvent(at=self._now(), kind=action, text=text, by=who))
        event = WorkloadEvent(
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
            self._cluster.create_event(event)
        except (ClusterError, Conflict, Missing) as failure:
            LOG.warning("no Event was written", extra={"action": action, "error": str(failure)})
