"""Numbers in the layouts of Kafka's serializers, as Spark expressions: big-endian, two's complement, IEEE 754."""

from __future__ import annotations

from pyspark.sql import Column
from pyspark.sql import functions as F

from lsql_runner.engine.call import call
from lsql_runner.engine.schema import DOUBLE, FLOAT, INT, LONG
from lsql_runner.jvm.java_entries import REQUIRE_LENGTH


def be_long(data: Column) -> Column:
    """8 big-endian bytes as a LONG; another number of bytes is an error (a malformed record)."""
    # A negative base gives a signed result.
    return F.conv(F.hex(_of_length(data, 8)), 16, -10).cast(LONG)


def be_int(data: Column) -> Column:
    """4 big-endian bytes as an INT; another number of bytes is an error (a malformed record)."""
    unsigned = F.conv(F.hex(_of_length(data, 4)), 16, 10).cast(LONG)
    return F.when(unsigned >= F.lit(2**31), unsigned - F.lit(2**32)).otherwise(unsigned).cast(INT)


def be_float(data: Column) -> Column:
    """4 big-endian bytes as a FLOAT (IEEE 754); another number of bytes is an error (a malformed record)."""
    return _ieee754(be_int(data), exponent_bits=8, fraction_bits=23).cast(FLOAT)


def be_double(data: Column) -> Column:
    """8 big-endian bytes as a DOUBLE (IEEE 754); another number of bytes is an error (a malformed record)."""
    return _ieee754(be_long(data), exponent_bits=11, fraction_bits=52)


def _ieee754(bits: Column, exponent_bits: int, fraction_bits: int) -> Column:
    """The DOUBLE of a floating-point number with these bits, an INT or LONG."""
    largest = 2**exponent_bits - 1
    bias = largest // 2
    sign = F.when(bits < 0, F.lit(-1.0)).otherwise(F.lit(1.0))
    exponent = F.shiftrightunsigned(bits, fraction_bits).bitwiseAND(F.lit(largest))
    fraction = bits.bitwiseAND(F.lit(2**fraction_bits - 1)).cast(DOUBLE) / F.lit(float(2**fraction_bits))
    normal = sign * (F.lit(1.0) + fraction) * F.pow(F.lit(2.0), (exponent - F.lit(bias)).cast(DOUBLE))
    small = sign * fraction * F.lit(2.0 ** (1 - bias))
    special = F.when(fraction == 0.0, sign * F.lit(float("inf"))).otherwise(F.lit(float("nan")))
    return F.when(exponent == largest, special).when(exponent == 0, small).otherwise(normal)


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
