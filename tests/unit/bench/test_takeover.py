"""The table of take-overs."""

from __future__ import annotations

from bench.takeover import KILLED, SUSPENDED, TakeOver, table


def test_a_row_has_least_median_and_most_of_each_fault_and_says_what_was_not_measured() -> None:
    take_overs = [
        *(TakeOver("lsql-runner", KILLED, seconds) for seconds in (6.0, 4.0, 5.0)),
        TakeOver("lsql-runner", SUSPENDED, 3.25),
        TakeOver("Kafka Streams", KILLED, 8.0),
        TakeOver("Kafka Streams", KILLED, None),
    ]

    assert table(take_overs).splitlines()[4:] == [
        "| lsql-runner | 4.0 / 5.0 / 6.0 (n=3) | 3.2 / 3.2 / 3.2 (n=1) |",
        "| Kafka Streams | 1 of 2 not within 75 s | not measured |",
    ]
