"""LSQL types to Spark types."""

from __future__ import annotations

from pyspark.sql import types as spark

from lsql_runner import types as lsql
from lsql_runner.plan.number_types import computed
from lsql_runner.types import Array, DataType, Decimal, Map, Struct

INT, LONG, FLOAT, DOUBLE = spark.IntegerType(), spark.LongType(), spark.FloatType(), spark.DoubleType()
NUMERIC = spark.DecimalType(38, 18)
STRING, BINARY = spark.StringType(), spark.BinaryType()
HEADERS = spark.ArrayType(spark.StructType([spark.StructField("key", STRING), spark.StructField("value", BINARY)]))
"""The types of columns, for casts. Their SQL names would need a parser: see `call`."""

_SCALARS: dict[DataType, spark.DataType] = {
    lsql.INT: INT,
    lsql.LONG: LONG,
    lsql.FLOAT: FLOAT,
    lsql.DOUBLE: DOUBLE,
    lsql.STRING: STRING,
    lsql.BOOLEAN: spark.BooleanType(),
    lsql.BYTES: BINARY,
    lsql.DATE: spark.DateType(),
    lsql.TIME: spark.TimeType(),
    lsql.TIMESTAMP: spark.TimestampType(),
    lsql.NULL: spark.NullType(),
    lsql.NUMBER: STRING,
    lsql.NUMERIC: NUMERIC,
    lsql.DIGITS: STRING,
    lsql.JSON: STRING,
}


def spark_type(kind: DataType) -> spark.DataType:
    """The Spark type for a type of the language. All fields are nullable: records may lack them."""
    match kind:
        case Decimal(precision, scale):
            return spark.DecimalType(precision, scale)
        case Array(element):
            return spark.ArrayType(spark_type(element))
        case Map(value):
            return spark.MapType(spark.StringType(), spark_type(value))
        case Struct(fields):
            return spark.StructType([spark.StructField(f.name, spark_type(f.type)) for f in fields])
    return _SCALARS[kind]


def declared_type(kind: DataType) -> spark.DataType:
    """The type of the values of a record: as `spark_type`, but with fields and elements that are not nullable, which
    decoding checks, with DOUBLE for NUMBER, LONG for NUMERIC and DIGITS, and VARIANT for JSON."""
    match kind:
        case lsql.JSON:
            return spark.VariantType()
        case lsql.NUMERIC | lsql.DIGITS:
            return LONG
        case Array(element, nullable):
            return spark.ArrayType(declared_type(element), nullable)
        case Map(value, nullable):
            return spark.MapType(spark.StringType(), declared_type(value), nullable)
        case Struct(fields):
            return spark.StructType([spark.StructField(f.name, declared_type(f.type), f.nullable) for f in fields])
    return spark_type(computed(kind))
