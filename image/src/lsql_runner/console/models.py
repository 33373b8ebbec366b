"""What the console's API says and is told: the models of its wire, beside those of the document."""

from __future__ import annotations

from datetime import datetime
from typing import Literal

from pydantic import Field

from lsql_runner.console.auth import Role
from lsql_runner.console.document import NamespaceFailure, ProcessorSummary
from lsql_runner.web.models import Model


class ConsoleHealth(Model):
    status: Literal["ok", "failing"]


class LoginRequest(Model):
    token: str = Field(min_length=1, max_length=1_000)


class Session(Model):
    """Who asks, and what they may do."""

    mode: str = Field(description="none, header or token.")
    user: str | None = Field(description="Null where it is not known who asks.")
    role: Role | None
    why: str = Field(description="Why it is not known.")
    actions: dict[str, bool] = Field(description="What the caller may do.")
    logs: bool
    poll_seconds: float


class StreamList(Model):
    """The processors that were asked for."""

    at: datetime = Field(description="When the cluster was looked at.")
    namespaces: tuple[str, ...]
    failures: tuple[NamespaceFailure, ...]
    problem: str | None = Field(description="Why what is shown is old; null where it is not.")
    streams: tuple[ProcessorSummary, ...]


class LogTail(Model):
    """The end of a pod's log."""

    pod: str = Field(description="Its name; empty where there is no pod.")
    lines: tuple[str, ...]


class Accepted(Model):
    """The processor does it, or has done it."""

    name: str
    namespace: str


class Deleted(Model):
    """The workload is on its way out."""

    name: str
    namespace: str
    deleted: str = Field(description="Its kind.")
    for_the_rest: str = Field(description="The command for what stays.")
