"""CSV and XML by our own functions in the JVM. They are read only."""

from __future__ import annotations

import json

from pyspark.sql import Column
from pyspark.sql import functions as F

from lsql_runner.compile.codecs.spec import Codec
from lsql_runner.compile.schema import declared_type
from lsql_runner.formats.catalog import Serde
from lsql_runner.jvm.call import call
from lsql_runner.jvm.java_entries import DECODE_CSV, DECODE_XML
from lsql_runner.types import DataType, Struct


def _decode_csv(raw: Column, serde: Serde, kind: DataType) -> Column:
    assert isinstance(serde.type, Struct)
    names, options = json.dumps(serde.type.names), json.dumps(dict(serde.options))
    return call(DECODE_CSV, raw, F.lit(declared_type(kind).json()), F.lit(names), F.lit(options))


def _decode_xml(raw: Column, serde: Serde, kind: DataType) -> Column:
    return call(DECODE_XML, raw, F.lit(declared_type(kind).json()), F.lit(json.dumps(dict(serde.options))))


CODECS = {"CSV": Codec(decode=_decode_csv), "XML": Codec(decode=_decode_xml)}
