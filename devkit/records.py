"""The record that tests produce and consume."""

from dataclasses import KW_ONLY, dataclass


@dataclass(frozen=True)
class Record:
    """A Kafka record, as bytes.

    Consumed records have `timestamp_ms`, `partition` and `offset`. In a record to produce, a timestamp of None means
    now, and a partition of None means the partition by the hash of the key, as in Kafka's Java clients; the offset is
    ignored.
    """

    key: bytes | None
    value: bytes | None
    _: KW_ONLY
    headers: tuple[tuple[str, bytes | None], ...] = ()
    timestamp_ms: int | None = None
    partition: int | None = None
    offset: int | None = None
