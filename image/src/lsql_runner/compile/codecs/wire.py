"""Numbers in the layouts of Kafka's serializers, as Spark expressions: big-endian, two's complement."""

from __future__ import annotations

from pyspark.sql import Column
from pyspark.sql import functions as F

from lsql_runner.compile.schema import INT, LONG
from lsql_runner.jvm.call import call
from lsql_runner.jvm.java_entries import REQUIRE_LENGTH


def be_long(data: Column) -> Column:
    """8 big-endian bytes as a LONG; another number of bytes is an error (a malformed record)."""
    # A negative base gives a signed result.
    return F.conv(F.hex(_of_length(data, 8)), 16, -10).cast(LONG)


def be_int(data: Column) -> Column:
    """4 big-endian bytes as an INT; another number of bytes is an error (a malformed record)."""
    unsigned = F.conv(F.hex(_of_length(data, 4)), 16, 10).cast(LONG)
    return F.when(unsigned >= F.lit(2**31), unsigned - F.lit(2**32)).otherwise(unsigned).cast(INT)


def long_be(value: Column) -> Column:
    """A LONG as 8 big-endian bytes."""
    return F.unhex(F.lpad(F.hex(value.cast(LONG)), 16, "0"))


def int_be(value: Column) -> Column:
    """An INT as 4 big-endian bytes."""
    return F.unhex(F.right(F.lpad(F.hex(value.cast(LONG)), 16, "0"), F.lit(8)))


def require_min_length(data: Column, length: int) -> Column:
    """The bytes; fewer than `length` are an error (a malformed record)."""
    return call(REQUIRE_LENGTH, data, F.lit(length), F.lit(True))


def _of_length(data: Column, length: int) -> Column:
    return call(REQUIRE_LENGTH, data, F.lit(length), F.lit(False))
