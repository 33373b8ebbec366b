"""Compares the records that a program wrote with those that a case expects. Pure."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import ndiff
from itertools import zip_longest
from typing import Any

from lsql_runner.cases.model import Case, CaseRecord, ExpectedError, Headers
from lsql_runner.cases.scalars import InvalidValue, natural
from lsql_runner.cases.values import (
    NO_SCHEMAS,
    Schemas,
    as_written,
    checked_expectation,
    decode_value,
    encode_value,
    has_schema,
    same_value,
)
from lsql_runner.errors import LsqlError, render, report
from lsql_runner.formats.catalog import BYTES_FORMAT, JSON_FORMAT, Format
from lsql_runner.plan.queries import Plan, WriteSink

NOT_COMPARED = ("lsql.batch", "lsql.error.processor", "lsql.error.time")
"""Headers that differ from run to run, which no case can expect."""


@dataclass(frozen=True, slots=True)
class ActualRecord:
    """A record that the program wrote."""

    topic: str
    key: bytes | None
    value: bytes | None
    timestamp_ms: int
    headers: Headers = ()


Forms = Mapping[str, tuple[Format, Format]]


def output_formats(case: Case, plan: Plan) -> Forms:
    """The formats of each target's key and value.

    Raises:
        LsqlError: CASE_FORMATS_DIFFER.
    """
    found: dict[str, tuple[Format, Format]] = {}
    for sink in plan.sinks:
        # A row of a sink is shown as its key's columns and all of its columns, each an object.
        forms = (JSON_FORMAT, JSON_FORMAT) if isinstance(sink, WriteSink) else (sink.key_format, sink.value_format)
        if found.setdefault(sink.name, forms) != forms:
            raise LsqlError("CASE_FORMATS_DIFFER", path=str(case.path), topic=sink.name)
    if plan.dead_letter_topic is not None:
        found[plan.dead_letter_topic] = (BYTES_FORMAT, BYTES_FORMAT)
    return found


def differences(case: Case, plan: Plan, actual: Iterable[ActualRecord], schemas: Schemas = NO_SCHEMAS) -> list[str]:
    """Lines that show how the output differs from what is expected; empty if it does not.

    Records are compared in order for each topic and key, as in a changelog; the order across keys does not count.

    Args:
        schemas: by id, those that records name.

    Raises:
        LsqlError: CASE_INVALID where an expected record fits no target.
    """
    forms = output_formats(case, plan)
    expected = _expected(case, forms)
    found = [_Found.of(record, forms[record.topic], schemas) for record in actual]
    lines: list[str] = []
    for log in _changelogs(expected, found):
        lines += log.differences()
    return lines


@dataclass(frozen=True, slots=True)
class _Expected:
    """An expected record; timestamp and headers are None if the case does not give them."""

    topic: str
    key: Any
    value: Any
    is_null: bool
    text: bytes | None
    """The bytes of the value, where it is to be compared byte for byte."""
    timestamp_ms: int | None
    headers: Headers | None

    def line(self) -> str:
        value = "tombstone" if self.is_null else _json(self.value) if self.text is None else _text(self.text)
        return _line(value, self.timestamp_ms, self.headers)

    def is_met_by(self, found: _Found) -> bool:
        same = same_value(self.value, found.value) if self.text is None else self.text == found.raw
        null = self.is_null == (found.raw is None)  # JSON's null is no tombstone
        time = self.timestamp_ms in (None, found.timestamp_ms)
        return same and null and time and self.headers in (None, found.headers)


@dataclass(frozen=True, slots=True)
class _Found:
    """A record that was written, with its parts decoded."""

    topic: str
    key: Any
    value: Any
    raw: bytes | None
    timestamp_ms: int
    headers: Headers

    @staticmethod
    def of(record: ActualRecord, forms: tuple[Format, Format], schemas: Schemas) -> _Found:
        headers = tuple(header for header in record.headers if header[0] not in NOT_COMPARED)
        key, value = (
            _decoded(data, form, schemas) for data, form in zip((record.key, record.value), forms, strict=True)
        )
        return _Found(record.topic, key, value, record.value, record.timestamp_ms, headers)

    def line(self, wanted: _Expected | None) -> str:
        """The record as the case would write it. What the case does not give is not compared and not shown."""
        if wanted is None:
            value = "tombstone" if self.raw is None else _json(natural(self.value))
            return _line(value, self.timestamp_ms, self.headers)
        value = "tombstone" if self.raw is None else _json(as_written(wanted.value, self.value))
        if wanted.text is not None and self.raw is not None:
            value = _text(self.raw)
        time = None if wanted.timestamp_ms is None else self.timestamp_ms
        return _line(value, time, None if wanted.headers is None else self.headers)


@dataclass(slots=True)
class _Changelog:
    """The records of one key of a topic, in their order."""

    topic: str
    key: Any
    expected: list[_Expected] = field(default_factory=list)
    found: list[_Found] = field(default_factory=list)

    def differences(self) -> list[str]:
        same = len(self.expected) == len(self.found) and all(
            wanted.is_met_by(found) for wanted, found in zip(self.expected, self.found, strict=True)
        )
        if same:
            return []
        wanted = [record.line() for record in self.expected]
        pairs = zip_longest(self.found, self.expected[: len(self.found)])
        got = [record.line(like) for record, like in pairs]
        shown = [line for line in ndiff(wanted, got) if not line.startswith("? ")]
        return [f"{self.topic}, key {_json(natural(self.key))}: - expected, + found", *(f"  {line}" for line in shown)]


def _changelogs(expected: Sequence[_Expected], found: Sequence[_Found]) -> list[_Changelog]:
    """The records by topic and key, in the order in which the case expects them; what it does not expect comes last."""
    written: dict[tuple[str, str], _Changelog] = {}
    for record in found:
        place = record.topic, _json(natural(record.key))
        written.setdefault(place, _Changelog(record.topic, record.key)).found.append(record)
    ordered: dict[int, _Changelog] = {}
    missing: dict[tuple[str, str], _Changelog] = {}
    for wanted in expected:
        # Not by its text: a key of AVRO may be written in several ways.
        logs = (log for log in written.values() if log.topic == wanted.topic and same_value(wanted.key, log.key))
        log = next(logs, None)
        if log is None:
            log = missing.setdefault((wanted.topic, _json(wanted.key)), _Changelog(wanted.topic, wanted.key))
        ordered[id(log)] = log
        log.expected.append(wanted)
    return list((ordered | {id(log): log for log in written.values()}).values())


def _expected(case: Case, forms: Forms) -> list[_Expected]:
    found = []
    for number, record in enumerate(case.expected or ()):
        topic = record.topic or (next(iter(forms)) if len(forms) == 1 else "")
        try:
            if topic not in forms:
                raise InvalidValue(f"the program writes to {', '.join(forms)}" + (f", not to {topic}" if topic else ""))
            found.append(_expected_record(record, topic, forms[topic]))
        except InvalidValue as error:
            raise LsqlError("CASE_INVALID", path=str(case.path), place=f"expect[{number}]", reason=str(error)) from None
    return found


def _expected_record(record: CaseRecord, topic: str, forms: tuple[Format, Format]) -> _Expected:
    text = None if record.value_text is None else record.value_text.encode()
    return _Expected(
        topic,
        _part(record.key, record.key_text, forms[0]),
        _part(record.value, record.value_text, forms[1]),
        record.value is None and text is None,
        text,
        record.timestamp,
        record.headers,
    )


def _part(value: Any, text: str | None, form: Format) -> Any:
    if text is not None:
        return _decoded(text.encode(), form, NO_SCHEMAS)
    if value is None:
        return None
    return (
        checked_expectation(value, form) if has_schema(form) else _decoded(encode_value(value, form), form, NO_SCHEMAS)
    )


def _decoded(data: bytes | None, form: Format, schemas: Schemas) -> Any:
    """The value; bytes that are not in the format become a value that says so, which is then a difference."""
    try:
        return decode_value(data, form, schemas)
    except InvalidValue:
        return {"not " + str(form): "" if data is None else data.hex()}


def _line(value: str, timestamp_ms: int | None, headers: Headers | None) -> str:
    """A record as one line of text."""
    time = "" if timestamp_ms is None else f"  timestamp {timestamp_ms}"
    return f"{value}{time}" + ("" if headers is None else f"  headers {_shown_headers(headers)}")


def _text(data: bytes) -> str:
    return data.decode("utf-8", "backslashreplace")


def _shown_headers(headers: Headers) -> str:
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
    found: dict[str, object] = {"code": actual.code, **actual.params}
    position = report(actual, sql).position
    if position is not None:
        found |= {"line": position.line, "column": position.column}
    wanted = expected.model_dump(exclude_none=True)
    wrong = {name for name, value in wanted.items() if found.get(name) != value}
    if not wrong:
        return []
    lines = [f"error {name}: expected {wanted[name]}, found {found.get(name)}" for name in wanted if name in wrong]
    return [*lines, *render(actual, sql, "query").splitlines()]
