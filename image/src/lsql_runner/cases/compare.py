"""Compares the records that a program wrote with the expected records of a case. Pure."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import ndiff
from itertools import zip_longest
from typing import Any

from lsql_runner.cases.model import Case, CaseRecord, ExpectedError, Headers
from lsql_runner.cases.scalars import InvalidValue, yaml_value
from lsql_runner.cases.values import (
    NO_SCHEMAS,
    Schemas,
    checked_expectation,
    decode_value,
    encode_value,
    has_schema,
    in_notation_of,
    same_value,
)
from lsql_runner.errors import DetailTable, LsqlError, render, report
from lsql_runner.formats.catalog import BYTES_FORMAT, JSON_FORMAT, Format
from lsql_runner.plan.queries import Plan, WriteSink

NOT_COMPARED = ("lsql.batch", "lsql.id", "lsql.error.processor", "lsql.error.time")
"""Headers whose values differ between runs."""
_REASONS = DetailTable(
    {
        "TOPIC_MISSING": "the program writes to {known}: name the topic of the record",
        "TOPIC_UNKNOWN": "the program writes to {known}, not to {topic}",
    }
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ActualRecord:
    """A record that the program wrote."""

    topic: str
    key: bytes | None
    value: bytes | None
    timestamp_ms: int
    headers: Headers = ()


OutputFormats = Mapping[str, tuple[Format, Format]]
"""The formats of keys and values, by target."""


def output_formats(case: Case, plan: Plan) -> OutputFormats:
    """The formats of all targets.

    Raises:
        LsqlError: CASE_FORMATS_DIFFER.
    """
    formats: dict[str, tuple[Format, Format]] = {}
    for write in plan.writes:
        # A row of a sink is compared as two objects: the columns of its key, and all columns.
        forms = (JSON_FORMAT, JSON_FORMAT) if isinstance(write, WriteSink) else (write.key_format, write.value_format)
        if formats.setdefault(write.name, forms) != forms:
            raise LsqlError("CASE_FORMATS_DIFFER", path=str(case.path), topic=write.name)
    if plan.dead_letter_topic is not None:
        formats[plan.dead_letter_topic] = (BYTES_FORMAT, BYTES_FORMAT)
    return formats


def differences(case: Case, plan: Plan, actual: Iterable[ActualRecord], schemas: Schemas = NO_SCHEMAS) -> list[str]:
    """Lines that show how the output differs from the expected output; empty if it does not differ.

    Records are compared in order for each topic and key, as in a changelog; the order across keys is ignored.

    Args:
        schemas: the schemas of the records, by id.

    Raises:
        LsqlError: CASE_INVALID if an expected record does not fit its target.
    """
    forms = output_formats(case, plan)
    expected = _expected_records(case, forms)
    written = [_Written.of(record, forms[record.topic], schemas) for record in actual]
    lines: list[str] = []
    for log in _changelogs(expected, written):
        lines += log.differences()
    return lines


@dataclass(frozen=True, slots=True, kw_only=True)
class _Expected:
    """An expected record; timestamp and headers are None if the case does not give them."""

    topic: str
    key: Any
    value: Any
    is_null: bool
    text: bytes | None
    """The bytes of the value, if it is compared byte by byte."""
    timestamp_ms: int | None
    headers: Headers | None

    def line(self) -> str:
        value = "tombstone" if self.is_null else _json(self.value) if self.text is None else _text(self.text)
        return _line(value, self.timestamp_ms, self.headers)

    def matches(self, written: _Written) -> bool:
        same = same_value(self.value, written.value) if self.text is None else self.text == written.raw
        null = self.is_null == (written.raw is None)  # null in JSON is not a tombstone
        time = self.timestamp_ms in (None, written.timestamp_ms)
        return same and null and time and self.headers in (None, written.headers)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Written:
    """A written record with decoded key and value."""

    topic: str
    key: Any
    value: Any
    raw: bytes | None
    timestamp_ms: int
    headers: Headers

    @staticmethod
    def of(record: ActualRecord, forms: tuple[Format, Format], schemas: Schemas) -> _Written:
        headers = tuple(header for header in record.headers if header[0] not in NOT_COMPARED)
        key, value = (
            _decode(data, form, schemas) for data, form in zip((record.key, record.value), forms, strict=True)
        )
        return _Written(
            topic=record.topic,
            key=key,
            value=value,
            raw=record.value,
            timestamp_ms=record.timestamp_ms,
            headers=headers,
        )

    def line(self, expected: _Expected | None) -> str:
        """The record in the notation of the case. Timestamp and headers are left out if the case does not give them."""
        if expected is None:
            value = "tombstone" if self.raw is None else _json(yaml_value(self.value))
            return _line(value, self.timestamp_ms, self.headers)
        value = "tombstone" if self.raw is None else _json(in_notation_of(expected.value, self.value))
        if expected.text is not None and self.raw is not None:
            value = _text(self.raw)
        time = None if expected.timestamp_ms is None else self.timestamp_ms
        return _line(value, time, None if expected.headers is None else self.headers)


@dataclass(slots=True)
class _Changelog:
    """The records of one key of a topic, in their order."""

    topic: str
    key: Any
    expected: list[_Expected] = field(default_factory=list)
    written: list[_Written] = field(default_factory=list)

    def differences(self) -> list[str]:
        same = len(self.expected) == len(self.written) and all(
            expected.matches(written) for expected, written in zip(self.expected, self.written, strict=True)
        )
        if same:
            return []
        expected_lines = [record.line() for record in self.expected]
        pairs = zip_longest(self.written, self.expected[: len(self.written)])
        written_lines = [record.line(expected) for record, expected in pairs]
        shown = [line for line in ndiff(expected_lines, written_lines) if not line.startswith("? ")]
        return [
            f"{self.topic}, key {_json(yaml_value(self.key))}: - expected, + found",
            *(f"  {line}" for line in shown),
        ]


def _changelogs(expected: Sequence[_Expected], written: Sequence[_Written]) -> list[_Changelog]:
    """The records by topic and key: first the expected keys in the order of the case, then the unexpected ones."""
    by_key: dict[tuple[str, str], _Changelog] = {}
    for record in written:
        topic_and_key = record.topic, _json(yaml_value(record.key))
        by_key.setdefault(topic_and_key, _Changelog(record.topic, record.key)).written.append(record)
    ordered: dict[int, _Changelog] = {}
    missing: dict[tuple[str, str], _Changelog] = {}
    for one in expected:
        # Keys are compared as values, because a case can write the same key of AVRO in several ways.
        logs = (log for log in by_key.values() if log.topic == one.topic and same_value(one.key, log.key))
        log = next(logs, None)
        if log is None:
            log = missing.setdefault((one.topic, _json(one.key)), _Changelog(one.topic, one.key))
        ordered[id(log)] = log
        log.expected.append(one)
    return list((ordered | {id(log): log for log in by_key.values()}).values())


def _expected_records(case: Case, forms: OutputFormats) -> list[_Expected]:
    records = []
    for number, record in enumerate(case.expected or ()):
        topic = record.topic or (next(iter(forms)) if len(forms) == 1 else "")
        try:
            if not topic:
                raise InvalidValue(_REASONS("TOPIC_MISSING", known=", ".join(forms)))
            if topic not in forms:
                raise InvalidValue(_REASONS("TOPIC_UNKNOWN", known=", ".join(forms), topic=topic))
            records.append(_expected_record(record, topic, forms[topic]))
        except InvalidValue as error:
            place = f"expect[{number}]"
            raise LsqlError("CASE_INVALID", path=str(case.path), place=place, reason=error.reason) from None
    return records


def _expected_record(record: CaseRecord, topic: str, forms: tuple[Format, Format]) -> _Expected:
    text = None if record.value_text is None else record.value_text.encode()
    return _Expected(
        topic=topic,
        key=_part(record.key, record.key_text, forms[0]),
        value=_part(record.value, record.value_text, forms[1]),
        is_null=record.value is None and text is None,
        text=text,
        timestamp_ms=record.timestamp,
        headers=record.headers,
    )


def _part(value: Any, text: str | None, form: Format) -> Any:
    if text is not None:
        return _decode(text.encode(), form, NO_SCHEMAS)
    if value is None:
        return None
    return (
        checked_expectation(value, form) if has_schema(form) else _decode(encode_value(value, form), form, NO_SCHEMAS)
    )


def _decode(data: bytes | None, form: Format, schemas: Schemas) -> Any:
    """The value. Bytes that are not in the format become a value that equals no other, which shows as a difference."""
    try:
        return decode_value(data, form, schemas)
    except InvalidValue:
        return {"not " + str(form): "" if data is None else data.hex()}


def _line(value: str, timestamp_ms: int | None, headers: Headers | None) -> str:
    """A record as one line of text."""
    time = "" if timestamp_ms is None else f"  timestamp {timestamp_ms}"
    return f"{value}{time}" + ("" if headers is None else f"  headers {_show_headers(headers)}")


def _text(data: bytes) -> str:
    return data.decode("utf-8", "backslashreplace")


def _show_headers(headers: Headers) -> str:
    return ", ".join(
        f"{name}={'null' if value is None else value.decode('utf-8', 'backslashreplace')}" for name, value in headers
    )


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, sort_keys=True)


def error_differences(expected: ExpectedError | None, actual: LsqlError | None, sql: str) -> list[str]:
    """Lines that show how the error differs from the expected one; empty if it does not."""
    if actual is None:
        return [] if expected is None else [f"expected the error {expected.code}, but nothing failed"]
    if expected is None:
        return render(actual, sql, "query").splitlines()
    fields: dict[str, object] = {"code": actual.code, **actual.params}
    position = report(actual, sql).position
    if position is not None:
        fields |= {"line": position.line, "column": position.column}
    checked = expected.model_dump(exclude_none=True)
    wrong = {name for name, value in checked.items() if fields.get(name) != value}
    if not wrong:
        return []
    lines = [f"error {name}: expected {checked[name]}, found {fields.get(name)}" for name in checked if name in wrong]
    return [*lines, *render(actual, sql, "query").splitlines()]
