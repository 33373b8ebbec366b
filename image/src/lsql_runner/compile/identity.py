"""Identities of output records: two LONGs that distinguish a record from all others of its query.

With exactly-once delivery every record carries them in a header, so that a batch that runs again leaves out what it has
already written. Without state a record is identified by the source record, once and for all; with state by its group or
by the joined rows, within its batch. Equal results of one batch may have equal identities: they are counted.
"""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from dataclasses import dataclass, replace

from pyspark.sql import Column
from pyspark.sql import functions as F

from lsql_runner.compile.schema import BINARY, LONG

HIGH, LOW = IDENTITY_COLUMNS = ("id_high", "id_low")
"""The columns of TOPIC_SINK with an identity."""

RECORD = "record_identity"
"""The name of `RowIdentity.record` among the columns of expressions."""

_UPPER_32 = -1 << 32


@dataclass(frozen=True, slots=True)
class RowIdentity:
    """What distinguishes a row from the others of its INSERT."""

    columns: tuple[Column, ...]
    of_record: bool = False
    """The columns are partition and offset of the source record, then the positions of its array elements."""
    run: str = ""
    """The run id of the checkpoint of the query; empty without a checkpoint."""
    topic: Column | None = None
    """The source topic, if the INSERT reads several; None if the name of the INSERT has it."""

    @property
    def record(self) -> Column | None:
        """A STRUCT that distinguishes the row from the rows of all queries; None if it is no record of a source.

        It is the same each time that the query reads the record.
        """
        return F.struct(F.lit(self.run), *self.columns) if self.of_record else None

    def unnested(self, position: Column) -> RowIdentity:
        """The identity of an element of an array of the row.

        Args:
            position: the index of the element, an INT.
        """
        return replace(self, columns=(*self.columns, position))

    def as_longs(self, insert: str) -> tuple[Column, Column]:
        """The identity as HIGH and LOW.

        Of a source record, LOW is the offset, and the lower 32 bits of HIGH are the partition.

        Args:
            insert: the name of the INSERT, with its source topics; without them, if the rows have the topic.
        """
        tag = identity_tag(insert)
        if not self.of_record:
            return tuple(F.xxhash64(F.lit(seed), *self.columns) for seed in (tag, ~tag))  # type: ignore[return-value]
        partition, offset, *positions = self.columns
        upper = F.lit(_to_signed(tag << 32))
        if self.topic is not None:
            upper = F.shiftleft(F.crc32(F.concat(F.lit(insert.encode()), self.topic.cast(BINARY))), 32)
        if len(positions) == 1:
            # No two elements of the array have the same identity.
            upper = upper.bitwiseXOR(F.shiftleft(positions[0].cast(LONG), 32))
        elif positions:
            upper = F.xxhash64(F.lit(tag), *positions).bitwiseAND(F.lit(_UPPER_32))
        return upper.bitwiseOR(partition.cast(LONG)), offset.cast(LONG)


def of_dead_letter(identity: Sequence[Column]) -> Sequence[Column]:
    """The identity of the dead letter of a group, from that of its result. In real time, a batch may have written
    results of the group before one failed: they stay.
    """
    return [F.bitwise_not(identity[0]), *identity[1:]] if identity else identity


def identity_tag(insert: str) -> int:
    """A number of 32 bits that distinguishes the records of an INSERT from the records of others.

    Args:
        insert: the name of the INSERT, with its source topics.
    """
    return zlib.crc32(insert.encode())


def signed_tag(insert: str) -> int:
    """The tag as an INT of the JVM."""
    tag = identity_tag(insert)
    return tag - (1 << 32) if tag >= 1 << 31 else tag


def identity_columns(identity: RowIdentity, insert: str) -> list[Column]:
    """The columns of IDENTITY_COLUMNS."""
    return [value.alias(name) for value, name in zip(identity.as_longs(insert), IDENTITY_COLUMNS, strict=True)]


def _to_signed(value: int) -> int:
    return value - (1 << 64) if value >= 1 << 63 else value
