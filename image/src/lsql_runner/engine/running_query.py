"""A query of a running plan, as the plan uses it: in batches (`micro_batches`), or continuous (`continuous`)."""

from __future__ import annotations

from typing import Protocol

from lsql_runner.errors import LsqlError
from lsql_runner.jvm.java_error import JavaErrors


class RunningQuery(Protocol):
    """A query that was started."""

    def death(self) -> JavaErrors | LsqlError | None:
        """Why the query ended without a stop: an exception and its causes, or a sink's error; None if it runs."""

    def is_replaced(self) -> bool:
        """After a producer was fenced: whether another process writes in place of this one."""

    def transaction_limit_ms(self) -> int:
        """How long the brokers allow a transaction to stay open; 0 if they allow the query's timeout."""

    def request_stop(self, *, drain: bool) -> None:
        """Let the query end. Does not wait.

        Args:
            drain: whether a batch that is not being written yet ends, too; else the next start repeats it.
        """

    def wait_for_stop(self, deadline_s: float) -> None:
        """Wait until the query does not process records, at most until a time of the monotonic clock."""

    def stop(self) -> None:
        """Stop the query now, report the records that it has written, and release its resources."""
