"""Parses the table that `kafka-consumer-groups --describe` prints."""

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class GroupPartition:
    """A line of the table: the position of a group in a partition. None if the tool prints a dash."""

    group: str
    topic: str
    partition: int
    current_offset: int | None
    log_end_offset: int | None
    lag: int | None
    consumer_id: str | None


def parse_describe(text: str) -> list[GroupPartition]:
    """The lines of the table by topic and partition; empty if there is no table."""
    rows = []
    columns: list[str] = []
    for line in text.splitlines():
        cells = line.split()
        if "CURRENT-OFFSET" in cells:
            columns = cells
        elif columns and len(cells) >= len(columns) and cells[0] != columns[0]:
            rows.append(_row(dict(zip(columns, cells, strict=False))))
    return sorted(rows, key=lambda row: (row.topic, row.partition))


def _row(cells: dict[str, str]) -> GroupPartition:
    return GroupPartition(
        group=cells["GROUP"],
        topic=cells["TOPIC"],
        partition=int(cells["PARTITION"]),
        current_offset=_number(cells["CURRENT-OFFSET"]),
        log_end_offset=_number(cells["LOG-END-OFFSET"]),
        lag=_number(cells["LAG"]),
        consumer_id=None if cells["CONSUMER-ID"] == "-" else cells["CONSUMER-ID"],
    )


def _number(cell: str) -> int | None:
    return None if cell == "-" else int(cell)
