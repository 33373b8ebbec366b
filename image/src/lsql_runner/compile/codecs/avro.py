"""Avro in the wire format of a schema registry: a zero byte, the schema id as four bytes, the value."""

from __future__ import annotations

from collections.abc import Mapping

from pyspark.sql import Column
from pyspark.sql import functions as F
from pyspark.sql import types as spark

from lsql_runner.compile.codecs.longs import with_longs
from lsql_runner.compile.codecs.spec import Codec, SchemaOutput
from lsql_runner.compile.schema import spark_type
from lsql_runner.formats.avro_text import narrowed_avro
from lsql_runner.formats.catalog import Serde
from lsql_runner.jvm.call import call, java_class
from lsql_runner.jvm.java_entries import DECODE_AVRO, DECODE_AVRO_CLASS, ENCODE_AVRO, REGISTRY_CLASS
from lsql_runner.types import DataType

REGISTRY = "registry"
"""The name of the processor's registry in the JVM."""


def register_registry(name: str, settings: Mapping[str, str]) -> None:
    """Register a schema registry under a name in the JVM; it replaces another one with that name. No request is sent.

    Args:
        settings: `urls` (separated by commas, tried in turn), `username` and `password`, `ca`, `certificate` and `key`
            (PEM texts, not paths), `key_password`, and `timeout_ms` for one response.

    Raises:
        IllegalArgumentException: a setting is unknown or invalid.
    """
    java_class(REGISTRY_CLASS).register(name, dict(settings))


def register_schemas(name: str, schemas: Mapping[int, str]) -> None:
    """Register fixed schemas under a name in the JVM, in place of a schema registry.

    Args:
        schemas: by id, JSON of Avro without references, or the text of a `.proto` file.
    """
    java_class(REGISTRY_CLASS).registerSchemas(name, dict(schemas))


def decode_avro(raw: Column, reader_schema: str, registry: str = REGISTRY) -> Column:
    """The value of `raw` (BINARY) with `reader_schema`, independent of the schema that it was written with; null stays
    null.

    Args:
        reader_schema: JSON of Avro.
        registry: a name that `register_registry` or `register_schemas` has registered.
    """
    return call(DECODE_AVRO, raw, F.lit(reader_schema), F.lit(registry))


def encode_avro(value: Column, writer_schema: str, schema_id: int) -> Column:
    """The bytes of a value; null stays null (a tombstone). Fields are matched by name.

    Raises:
        AnalysisException: at planning time, if the schema does not accept the type of the value.
    """
    return call(ENCODE_AVRO, value, F.lit(writer_schema), F.lit(schema_id))


def avro_type(schema: str) -> spark.DataType:
    """The type of `decode_avro` with this reader schema.

    Raises:
        Py4JJavaError: LSQL_SCHEMA_UNUSABLE: it is invalid, recursive, or has a decimal with more than 38 digits.
    """
    return spark._parse_datatype_json_string(java_class(DECODE_AVRO_CLASS).typeJson(schema))


def _decode(raw: Column, serde: Serde, kind: DataType) -> Column:
    assert serde.schema is not None
    value = decode_avro(raw, narrowed_avro(serde.schema, kind))
    # Timestamps without a time zone are in UTC, as in all formats.
    return value.cast(spark_type(kind)) if "local-timestamp" in serde.schema else value


def _encode(value: Column, kind: DataType, output: SchemaOutput | None) -> Column:
    assert output is not None
    return encode_avro(with_longs(value, kind), output.schema, output.id)


CODECS = {"AVRO": Codec(decode=_decode, encode=_encode)}
