"""Records that stand in this process as rows of Spark, and back."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from py4j.java_gateway import JavaObject  # type: ignore[import-untyped]
from pyspark.sql import DataFrame, SparkSession

Headers = tuple[tuple[str, bytes | None], ...]

_SCHEMA = (
    "key binary, value binary, topic string, partition int, offset int, timestamp timestamp, "
    "headers array<struct<key:string,value:binary>>"
)
"""The columns of Spark's Kafka source, headers included. Its offset is a LONG: Python's bridge makes no small ones."""


@dataclass(frozen=True, slots=True)
class TopicRecord:
    """A record as a topic holds it."""

    topic: str
    key: bytes | None
    value: bytes | None
    timestamp_ms: int
    partition: int = 0
    offset: int = 0
    headers: Headers = ()


class Rows:
    """Records as Spark's rows, made in the JVM: no Spark job is needed for them, which takes seconds the first time."""

    def __init__(self, session: SparkSession) -> None:
        self._session = session
        jvm: Any = session._jvm
        self._jvm: Any = jvm
        self._gateway: Any = session.sparkContext._gateway
        self._schema: Any = jvm.org.apache.spark.sql.types.StructType.fromDDL(_SCHEMA)

    def stream(self) -> JavaObject:
        """An empty Spark MemoryStream of such rows."""
        module = "org.apache.spark.sql.execution.streaming.runtime.MemoryStream$"
        loader = self._jvm.java.lang.Thread.currentThread().getContextClassLoader()
        companion = self._jvm.java.lang.Class.forName(module, True, loader).getField("MODULE$").get(None)
        encoder = self._jvm.org.apache.spark.sql.Encoders.row(self._schema)
        return companion.apply(encoder, self._session._jsparkSession)

    def sequence(self, records: Iterable[TopicRecord]) -> JavaObject:
        """The records as a Scala sequence."""
        return self._scala(self._list(self._row(record) for record in records))

    def frame(self, records: Iterable[TopicRecord]) -> DataFrame:
        """The records as a batch."""
        rows = self._list(self._row(record) for record in records)
        return DataFrame(self._session._jsparkSession.createDataFrame(rows, self._schema), self._session)

    def _row(self, record: TopicRecord) -> JavaObject:
        headers = self._scala(self._list(self._of(name, value) for name, value in record.headers))
        return self._of(
            record.key,
            record.value,
            record.topic,
            record.partition,
            record.offset,
            self._jvm.java.sql.Timestamp(record.timestamp_ms),
            headers if record.headers else None,
        )

    def _of(self, *values: Any) -> JavaObject:
        cells = self._gateway.new_array(self._jvm.java.lang.Object, len(values))
        for place, value in enumerate(values):
            cells[place] = value
        return self._jvm.org.apache.spark.sql.RowFactory.create(cells)

    def _list(self, items: Iterable[Any]) -> JavaObject:
        found = self._jvm.java.util.ArrayList()
        for item in items:
            found.add(item)
        return found

    def _scala(self, items: JavaObject) -> JavaObject:
        return self._jvm.scala.jdk.javaapi.CollectionConverters.asScala(items).toSeq()


def as_bytes(value: bytes | bytearray | None) -> bytes | None:
    """What Spark gives for binary, as Python's bytes."""
    return None if value is None else bytes(value)


def headers_of(row: Any) -> Headers:
    """The headers of a row whose column `headers` is Spark's for Kafka."""
    return tuple((header["key"], as_bytes(header["value"])) for header in row["headers"] or ())
