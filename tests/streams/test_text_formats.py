"""CSV and XML in a Spark session, interpreted and with generated code."""

from __future__ import annotations

from datetime import date
from decimal import Decimal

import pytest
from py4j.protocol import Py4JError  # type: ignore[import-untyped]
from pyspark.errors import PySparkException
from pyspark.sql import Row, SparkSession
from pyspark.sql import functions as F

from devkit.spark_rows import records
from lsql_runner.compile.codecs.table import decode
from lsql_runner.formats.catalog import Format, Serde
from lsql_runner.formats.text_formats import text_serde
from lsql_runner.jvm.failures import classify
from lsql_runner.types import parse_type

pytestmark = pytest.mark.timeout(180)  # the first test waits for the JVM

SCALARS = "id: int, n: long, f: float, d: double, price: decimal(9,2), who: string, ok: boolean, day: date"
CSV = text_serde(Format("CSV"), parse_type(f"struct<{SCALARS}>"), {})
XML = text_serde(Format("XML"), parse_type(f"struct<{SCALARS}, tags: array<string>, at: struct<lat: double>>"), {})
MOMENT = text_serde(Format("CSV"), parse_type("struct<at: timestamp>"), {})
VALUE = Row(id=1, n=1 << 40, f=1.5, d=-0.25, price=Decimal("2.50"), who="grün", ok=True, day=date(2026, 3, 1))
LINE = '1,1099511627776,1.5,-0.25,2.5,"grün",true,2026-03-01'.encode()
DOCUMENT = (
    "<o><id>1</id><n>1099511627776</n><f>1.5</f><d>-0.25</d><price>2.5</price><who>grün</who><ok>true</ok>"
    "<day>2026-03-01</day><tags>a</tags><tags>b</tags><at><lat>7</lat></at></o>"
).encode()


def decoded(session: SparkSession, serde: Serde, *raw: bytes | None) -> list[Row | None]:
    rows = records(session, *raw).select(decode(F.col("raw"), serde, serde.type).alias("v"))
    return [row["v"] for row in rows.collect()]


def test_a_line_of_csv_is_decoded_to_a_struct(session: SparkSession) -> None:
    assert decoded(session, CSV, LINE, b",,,,,,,", None) == [VALUE, Row(*[None] * len(VALUE)), None]


def test_an_xml_document_is_decoded_to_a_struct(session: SparkSession) -> None:
    [document, nothing] = decoded(session, XML, DOCUMENT, None)

    assert document is not None
    assert document.asDict(recursive=True) == VALUE.asDict() | {"tags": ["a", "b"], "at": {"lat": 7.0}}
    assert nothing is None


@pytest.mark.parametrize(
    ("serde", "record", "reason"),
    [
        (CSV, b"1,2", "it has 2 columns, not 8"),
        (CSV, LINE.replace(b"true", b"yes"), 'field ok: "yes" is not a valid boolean'),
        (CSV, LINE.replace(b"\xc3", b"\xff"), "field who: a text is not UTF-8"),
        (XML, b"<o/><o/>", None),
        (XML, b"<!DOCTYPE o><o/>", "it has a document type, which is not read"),
        (MOMENT, b"2026-03-01T12:00:00+99:00", 'field at: "2026-03-01T12:00:00+99:00" is not a valid timestamp'),
    ],
)
def test_invalid_bytes_are_malformed(session: SparkSession, serde: Serde, record: bytes, reason: str | None) -> None:
    with pytest.raises((PySparkException, Py4JError)) as error:
        decoded(session, serde, record)

    failure = classify(error.value)
    assert failure.kind == "malformed"
    assert failure.error.condition == "MALFORMED_RECORD_IN_PARSING"
    assert failure.error.parameters["reason"].startswith(reason or "it is not XML")
