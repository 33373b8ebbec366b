"""The limit of a query. WITH queries are part of each query that reads them, so a short text can name a huge one."""

from __future__ import annotations

from lsql_runner.bind.bound import BoundJoin, BoundSelect, BoundTopic
from lsql_runner.errors import LsqlError
from lsql_runner.spans import Span

MAX_SELECTS = 100
"""SELECTs and joins of a query. The stages after this one call themselves for each of them, and Spark's optimizer takes
seconds for a plan of this size."""


def check_size(select: BoundSelect, span: Span) -> None:
    """Check that a query is not too large. Those that it reads have been checked before.

    Raises:
        LsqlError: QUERY_TOO_LARGE.
    """
    size = _size(select)
    if size > MAX_SELECTS:
        raise LsqlError("QUERY_TOO_LARGE", span, size=size, limit=MAX_SELECTS)


def _size(node: BoundTopic | BoundSelect | BoundJoin) -> int:
    """The number of SELECTs and joins, counted again for each query that reads them."""
    match node:
        case BoundTopic():
            return 0
        case BoundSelect():
            return 1 + _size(node.source)
        case BoundJoin():
            return 1 + _size(node.left) + _size(node.right)
