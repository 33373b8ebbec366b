"""Requests and responses of the console's API, beside the models of the document."""

from __future__ import annotations

from datetime import datetime
from typing import Literal

from pydantic import Field

from lsql_runner.console.auth import Role
from lsql_runner.console.document import NamespaceFailure, ProcessorSummary
from lsql_runner.reports.model import Model


class ConsoleHealth(Model):
    status: Literal["ok", "failing"]


class LoginRequest(Model):
    token: str = Field(min_length=1, max_length=1_000)


class Session(Model):
    """The user of the session, and the actions that are allowed."""

    mode: str = Field(description="none, header or token.")
    user: str | None = Field(description="Null if the request is not authenticated.")
    role: Role | None
    why: str = Field(description="Why the request is not authenticated.")
    actions: dict[str, bool] = Field(description="What the caller may do.")
    logs: bool
    poll_seconds: float


class StreamList(Model):
    """The processors that match the query."""

    at: datetime = Field(description="When the cluster was read.")
    namespaces: tuple[str, ...]
    failures: tuple[NamespaceFailure, ...]
    problem: str | None = Field(description="Why the view is out of date; null if it is up to date.")
    streams: tuple[ProcessorSummary, ...]


class LogTail(Model):
    """The end of a pod's log."""

    pod: str = Field(description="The name of the pod; empty if there is none.")
    lines: tuple[str, ...]


class Accepted(Model):
    """The action was accepted."""

    name: str
    namespace: str


class ScaleAccepted(Accepted):
    """The number of workers was set. Pods are started or ended in the background."""

    workers: int
    workers_before: int
    warnings: tuple[str, ...] = Field(description="What speaks against this number.")


class Deleted(Model):
    """The workload is being deleted."""

    name: str
    namespace: str
    deleted: str = Field(description="The kind of the workload.")
    for_the_rest: str = Field(
        description="The command that deletes the rest of the Helm release, or lists the other objects without one."
    )
