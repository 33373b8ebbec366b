"""The rate at which a processor reads records that are there already."""

from __future__ import annotations

import pytest

from lsql_runner.events.batches import BatchEnded
from lsql_runner.status.backlog_rate import BacklogRate


def batch(records: int, duration_ms: int, *, in_real_time: bool = False) -> BatchEnded:
    return BatchEnded(
        at_ms=0,
        query="q",
        batch_id=0,
        records_in=records,
        records_out=0,
        duration_ms=duration_ms,
        phases_ms={},
        positions={},
        in_real_time=in_real_time,
    )


@pytest.mark.parametrize(
    "other", [batch(9_999, 600), batch(90_000, 400), batch(90_000, 30_000, in_real_time=True)], ids=repr
)
def test_only_large_batches_count(other: BatchEnded) -> None:
    rate = BacklogRate()
    rate.add(other)
    assert rate.per_second is None

    rate.add(batch(100_000, 1_000))
    rate.add(other)
    rate.add(batch(200_000, 500))
    assert rate.per_second == 200_000


def test_old_batches_are_forgotten() -> None:
    rate = BacklogRate()
    for size in (10_000, *[50_000] * 20):
        rate.add(batch(size, 1_000))

    assert rate.per_second == 50_000
