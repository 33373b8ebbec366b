"""Windowed keys, compared with the bytes of Kafka Streams (`WindowedKeysTest` in the Java module)."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest
from py4j.protocol import Py4JError  # type: ignore[import-untyped]
from pyspark.errors import PySparkException
from pyspark.sql import functions as F

from lsql_runner.compile.codecs.table import Window, decode, encode
from lsql_runner.engine.in_memory.engine import MemoryEngine
from lsql_runner.formats.catalog import Format, Serde
from lsql_runner.jvm.failures import classify
from lsql_runner.types import STRING

VECTORS = Path(__file__).parents[2] / "image/jvm/src/test/resources/windowed-keys.csv"
ROWS = list(csv.reader(line for line in VECTORS.read_text(encoding="utf-8").splitlines() if not line.startswith("#")))

pytestmark = pytest.mark.timeout(180)  # the first test waits for the JVM


@pytest.mark.parametrize(("form", "key", "start", "end", "data"), ROWS, ids=["-".join(row[:4]) for row in ROWS])
def test_a_windowed_key_has_the_bytes_of_kafka_streams(
    engine: MemoryEngine, form: str, key: str, start: str, end: str, data: str
) -> None:
    windowed = Format(form, "STRING")
    rows = engine.session.range(1).select(F.lit(key).alias("key"), F.lit(bytes.fromhex(data)).alias("raw"))
    window = Window(F.lit(int(start)), F.lit(int(end)) if end else None)

    [[written, read]] = rows.select(
        encode(F.col("key"), windowed, STRING, window), decode(F.col("raw"), Serde(windowed, STRING), STRING)
    ).collect()

    assert (bytes(written).hex(), read) == (data, key)


@pytest.mark.parametrize(("form", "least"), [("TW", 8), ("SW", 16)])
def test_a_key_that_is_shorter_than_its_window_is_malformed(engine: MemoryEngine, form: str, least: int) -> None:
    rows = engine.session.range(1).select(F.when(F.col("id") >= 0, F.lit(b"\0" * (least - 1))).alias("raw"))

    with pytest.raises((PySparkException, Py4JError)) as error:
        rows.select(decode(F.col("raw"), Serde(Format(form, "STRING"), STRING), STRING)).collect()

    failure = classify(error.value)
    assert (failure.kind, failure.reason) == ("malformed", f"expected {least} bytes or more, found {least - 1}")


def test_a_null_key_is_decoded_to_null(engine: MemoryEngine) -> None:
    rows = engine.session.range(1).select(F.lit(None).cast("binary").alias("raw"))

    [[read]] = rows.select(decode(F.col("raw"), Serde(Format("SW", "STRING"), STRING), STRING)).collect()

    assert read is None
