"""What a source contains at any depth: windows, aggregates, joins that wait for time to pass."""

from __future__ import annotations

from lsql_runner.bind.bound import BoundJoin, BoundSelect, BoundTopic

BoundSource = BoundTopic | BoundSelect | BoundJoin


def has_windows(source: BoundSource) -> bool:
    """Whether a source contains a windowed aggregate, at any depth."""
    match source:
        case BoundSelect():
            own = source.grouping is not None and source.grouping.window is not None
            return own or has_windows(source.source)
        case BoundJoin():
            return has_windows(source.left) or has_windows(source.right)
    return False


def waits_for_time(source: BoundSource) -> bool:
    """Whether a source contains an outer join of streams, at any depth.

    Spark runs such a join in append mode only, and the aggregates of a stream in update mode.
    """
    match source:
        case BoundSelect():
            return waits_for_time(source.source)
        case BoundJoin():
            return source.waits or waits_for_time(source.left) or waits_for_time(source.right)
    return False


def is_aggregated(source: BoundSource) -> bool:
    """Whether a source contains an aggregate, at any depth."""
    match source:
        case BoundSelect():
            return source.grouping is not None or is_aggregated(source.source)
        case BoundJoin():
            return is_aggregated(source.left) or is_aggregated(source.right)
    return False
