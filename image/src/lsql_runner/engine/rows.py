"""Records of this process to rows of Spark, and back."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from py4j.java_gateway import JavaObject  # type: ignore[import-untyped]
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.types import StructField, StructType

from lsql_runner.compile.schema import BINARY, HEADERS, INT, LONG, STRING
from lsql_runner.jvm.call import call
from lsql_runner.jvm.java_entries import DECODE_JSON

Headers = tuple[tuple[str, bytes | None], ...]

_COLUMNS = StructType(
    [
        StructField("key", BINARY),
        StructField("value", BINARY),
        StructField("topic", STRING),
        StructField("partition", INT),
        StructField("offset", LONG),
        StructField("timestamp", LONG),
        StructField("headers", HEADERS),
    ]
)
"""The columns of TOPIC_SOURCE. The timestamp is in milliseconds since 1970 UTC."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TopicRecord:
    """A record of a topic."""

    topic: str
    key: bytes | None
    value: bytes | None
    timestamp_ms: int
    partition: int = 0
    offset: int = 0
    headers: Headers = ()


class Rows:
    """Records as rows of Spark. Each record is sent to the JVM as JSON.

    Spark's encoder for rows generates code by Scala's reflection, which takes half a second to load.
    """

    def __init__(self, session: SparkSession) -> None:
        self._session = session
        jvm: Any = session._jvm
        self._jvm: Any = jvm
        self._encoder: Any = jvm.org.apache.spark.sql.Encoders.BINARY()

    def stream(self) -> JavaObject:
        """An empty Spark MemoryStream. Its `addData` takes the results of `sequence`."""
        module = "org.apache.spark.sql.execution.streaming.runtime.MemoryStream$"
        loader = self._jvm.java.lang.Thread.currentThread().getContextClassLoader()
        companion = self._jvm.java.lang.Class.forName(module, True, loader).getField("MODULE$").get(None)
        return companion.apply(self._encoder, self._session._jsparkSession)

    def streamed(self, stream: JavaObject) -> DataFrame:
        """The records of a MemoryStream as a streaming DataFrame."""
        return self.unpacked(DataFrame(stream.toDF(), self._session))

    def sequence(self, records: Iterable[TopicRecord]) -> JavaObject:
        """The records as a Scala sequence."""
        return self._jvm.scala.jdk.javaapi.CollectionConverters.asScala(self._pack(records)).toSeq()

    def frame(self, records: Iterable[TopicRecord]) -> DataFrame:
        """The records as a DataFrame that is not streaming."""
        packed = self._session._jsparkSession.createDataset(self._pack(records), self._encoder).toDF()
        return self.unpacked(DataFrame(packed, self._session))

    def _pack(self, records: Iterable[TopicRecord]) -> JavaObject:
        packed = self._jvm.java.util.ArrayList()
        for record in records:
            packed.add(_json(record))
        return packed

    def unpacked(self, packed: DataFrame) -> DataFrame:
        """The records in rows with a column `value`: a record as JSON, BINARY."""
        record = call(DECODE_JSON, F.col("value"), F.lit(_COLUMNS.json()))
        return packed.select(*(record[name].alias(name) for name in _COLUMNS.names))


def _json(record: TopicRecord) -> bytes:
    columns = {
        "key": _base64(record.key),
        "value": _base64(record.value),
        "topic": record.topic,
        "partition": record.partition,
        "offset": record.offset,
        "timestamp": record.timestamp_ms,
        "headers": [{"key": name, "value": _base64(value)} for name, value in record.headers] or None,
    }
    return json.dumps(columns).encode()


def _base64(value: bytes | None) -> str | None:
    return None if value is None else base64.b64encode(value).decode()


def as_bytes(value: bytes | bytearray | None) -> bytes | None:
    """Spark's value of a BINARY as bytes."""
    return None if value is None else bytes(value)


def headers_of(row: Any) -> Headers:
    """The headers of a row with the column `headers` of Spark's Kafka source."""
    return tuple((header["key"], as_bytes(header["value"])) for header in row["headers"] or ())
