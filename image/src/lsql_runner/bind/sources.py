"""Whether a source contains a window, an aggregate or an outer join of streams, at any depth."""

from __future__ import annotations

from lsql_runner.bind.bound import BoundJoin, BoundSelect, BoundTopic

BoundSource = BoundTopic | BoundSelect | BoundJoin
"""What FROM names."""


def has_windows(source: BoundSource) -> bool:
    """Whether a source contains a windowed aggregate, at any depth."""
    match source:
        case BoundSelect():
            is_windowed = source.grouping is not None and source.grouping.window is not None
            return is_windowed or has_windows(source.source)
        case BoundJoin():
            return has_windows(source.left) or has_windows(source.right)
    return False


def has_outer_stream_join(source: BoundSource) -> bool:
    """Whether a source contains an outer join of streams, at any depth.

    Below other operators, Spark runs such a join in append mode only, and the aggregates of a stream in update mode.
    """
    match source:
        case BoundSelect():
            return has_outer_stream_join(source.source)
        case BoundJoin(left=left, right=right):
            return source.emits_unmatched_late or has_outer_stream_join(left) or has_outer_stream_join(right)
    return False


def has_aggregate(source: BoundSource) -> bool:
    """Whether a source contains an aggregate, at any depth."""
    match source:
        case BoundSelect():
            return source.grouping is not None or has_aggregate(source.source)
        case BoundJoin():
            return has_aggregate(source.left) or has_aggregate(source.right)
    return False
