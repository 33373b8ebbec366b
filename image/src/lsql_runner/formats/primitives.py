"""Formats with one type, in the layout of Kafka's serializers: STRING, INT, LONG, BYTES."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from lsql_runner.formats.catalog import Format, Serde
from lsql_runner.formats.spec import FormatRow
from lsql_runner.types import BYTES, INT, JSON, LONG, NUMERIC, STRING, Array, DataType, Map, Struct


def is_text(samples: Sequence[bytes]) -> bool:
    """Whether all samples are UTF-8 text without zero characters."""
    return all(_is_text(sample) for sample in samples)


def _is_text(data: bytes) -> bool:
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return "\0" not in text


def _row(
    name: str,
    doc: str,
    kind: DataType,
    fits: Callable[[DataType], bool],
    recognizes: Callable[[Sequence[bytes]], bool] | None = None,
) -> FormatRow:
    def infer(_: Sequence[bytes], form: Format) -> Serde:
        return Serde(form, kind)

    return FormatRow(
        name=name, doc=doc, one_type=kind, key_identity="bytes", fits=fits, infer=infer, recognizes=recognizes
    )


FORMATS = (
    _row(
        "STRING",
        "text in UTF-8",
        STRING,
        fits=lambda kind: not isinstance(kind, Struct | Array | Map) and kind not in (BYTES, JSON),
        recognizes=is_text,
    ),
    _row("INT", "a whole number of 4 bytes, big-endian", INT, fits=lambda kind: kind == INT),
    _row("LONG", "a whole number of 8 bytes, big-endian", LONG, fits=lambda kind: kind in (INT, LONG, NUMERIC)),
    _row("BYTES", "any bytes", BYTES, fits=lambda kind: kind in (BYTES, STRING), recognizes=lambda _: True),
)
