"""The table of kafka-consumer-groups is parsed."""

from devkit.consumer_groups import GroupPartition, parse_describe

TABLE = """
GROUP           TOPIC           PARTITION  CURRENT-OFFSET  LOG-END-OFFSET  LAG             CONSUMER-ID     HOST       CLIENT-ID
fast            cars            1          7               7               0               reader-1-ab     /127.0.0.1 reader
fast            cars            0          -               5               -               -               -          -
"""  # noqa: E501  # the table is as wide as the tool prints it


def test_lines_become_rows_in_order_of_partitions() -> None:
    assert parse_describe(TABLE) == [
        GroupPartition(
            group="fast", topic="cars", partition=0, current_offset=None, log_end_offset=5, lag=None, consumer_id=None
        ),
        GroupPartition(
            group="fast",
            topic="cars",
            partition=1,
            current_offset=7,
            log_end_offset=7,
            lag=0,
            consumer_id="reader-1-ab",
        ),
    ]


def test_a_note_before_the_table_is_ignored() -> None:
    assert len(parse_describe("\nConsumer group 'fast' has no active members.\n" + TABLE)) == 2


def test_an_error_without_a_table_has_no_rows() -> None:
    assert parse_describe("Error: Consumer group 'fast' does not exist.\n") == []
