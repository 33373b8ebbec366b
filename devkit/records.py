"""The record that tests produce and consume."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Record:
    """One Kafka record, as bytes.

    `timestamp_ms`, `partition` and `offset` are always set on what was consumed. To produce, leave the
    timestamp None for now, and the partition None for the one that the key's hash chooses, as Kafka's Java
    clients do; the offset is not looked at.
    """

    key: bytes | None
    value: bytes | None
    headers: tuple[tuple[str, bytes | None], ...] = ()
    timestamp_ms: int | None = None
    partition: int | None = None
    offset: int | None = None
