"""What came out of a case against what it expects. Pure: on memory or on brokers, whoever ran it."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from difflib import ndiff
from typing import Any

from lsql_runner.bind.catalog import JSON_FORMAT, Format
from lsql_runner.cases.model import Case, CaseRecord, ExpectedError, Headers
from lsql_runner.cases.values import ValueMisfit, decode_value, encode_value, same_value
from lsql_runner.errors import LsqlError, render, report
from lsql_runner.plan.nodes import Plan, WriteSink

BATCH_HEADER = "lsql.batch"
"""Set by the sink on every record; no case expects it."""


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
        LsqlError: CASE_INVALID when two INSERTs write a topic in unlike formats: its records could not be told apart.
    """
    found: dict[str, tuple[Format, Format]] = {}
    for sink in plan.sinks:
        # A row of a sink is shown as its key's columns and all of its columns, each an object.
        forms = (JSON_FORMAT, JSON_FORMAT) if isinstance(sink, WriteSink) else (sink.key_format, sink.value_format)
        if found.setdefault(sink.name, forms) != forms:
            why = f"two INSERTs write {sink.name} in unlike formats"
            raise LsqlError("CASE_INVALID", path=str(case.path), place="the program", why=why)
    return found


def differences(case: Case, plan: Plan, actual: Iterable[ActualRecord]) -> list[str]:
    """Lines that show how the output differs from what is expected; empty if it does not.

    Records are compared in order for each topic and key, as a changelog is read; across keys order says nothing.

    Raises:
        LsqlError: CASE_INVALID where an expected record fits no target.
    """
    forms = output_formats(case, plan)
    expected = _expected(case, forms)
    found = [_Shown.of_actual(record, forms[record.topic]) for record in actual]
    lines: list[str] = []
    for place in dict.fromkeys(record.place for record in (*expected, *found)):
        lines += _changelog([r for r in expected if r.place == place], [r for r in found if r.place == place])
    return lines


def _changelog(expected: Sequence[_Shown], actual: Sequence[_Shown]) -> list[str]:
    if len(expected) == len(actual) and all(map(_matches, expected, actual)):
        return []
    name = (expected or actual)[0]
    # What the case leaves unsaid is no difference: it is shown of neither.
    pairs = [(e, actual[i] if i < len(actual) else None) for i, e in enumerate(expected)]
    wanted = [_line(e, e) if a is None or not _matches(e, a) else _line(a, e) for e, a in pairs]
    got = [_line(a, expected[i] if i < len(expected) else a) for i, a in enumerate(actual)]
    shown = [line for line in ndiff(wanted, got) if not line.startswith("? ")]
    return [f"{name.topic}, key {_json(name.key)}: - expected, + found", *(f"  {line}" for line in shown)]


@dataclass(frozen=True, slots=True)
class _Shown:
    """A record with its parts decoded; expected ones may leave timestamp and headers unsaid."""

    topic: str
    raw_key: bytes | None
    key: Any
    value: Any
    raw_value: bytes | None
    exact: bool
    """The value is compared byte for byte."""
    timestamp_ms: int | None
    headers: Headers | None

    @property
    def place(self) -> tuple[str, str]:
        return self.topic, _json(self.key)

    @staticmethod
    def of_actual(record: ActualRecord, forms: tuple[Format, Format]) -> _Shown:
        headers = tuple(header for header in record.headers if header[0] != BATCH_HEADER)
        return _Shown(
            record.topic,
            record.key,
            _decoded(record.key, forms[0]),
            _decoded(record.value, forms[1]),
            record.value,
            False,
            record.timestamp_ms,
            headers,
        )


def _expected(case: Case, forms: Forms) -> list[_Shown]:
    found = []
    for number, record in enumerate(case.expected or ()):
        topic = record.topic or (next(iter(forms)) if len(forms) == 1 else "")
        try:
            if topic not in forms:
                raise ValueMisfit(f"the program writes to {', '.join(forms)}" + (f", not to {topic}" if topic else ""))
            found.append(_expected_record(record, topic, forms[topic]))
        except ValueMisfit as error:
            raise LsqlError("CASE_INVALID", path=str(case.path), place=f"expect[{number}]", why=str(error)) from None
    return found


def _expected_record(record: CaseRecord, topic: str, forms: tuple[Format, Format]) -> _Shown:
    raw_key = _bytes(record.key, record.key_text, forms[0])
    raw_value = _bytes(record.value, record.value_text, forms[1])
    return _Shown(
        topic,
        raw_key,
        _decoded(raw_key, forms[0]),
        _decoded(raw_value, forms[1]),
        raw_value,
        record.value_text is not None,
        record.timestamp,
        record.headers,
    )


def _bytes(value: Any, text: str | None, form: Format) -> bytes | None:
    if text is not None:
        return text.encode()
    return None if value is None else encode_value(value, form)


def _decoded(data: bytes | None, form: Format) -> Any:
    """The value, or the bytes in words where they are not what the format promises: a difference, not a crash."""
    try:
        return decode_value(data, form)
    except ValueMisfit:
        return {"not " + str(form): "" if data is None else data.hex()}


def _matches(expected: _Shown, actual: _Shown) -> bool:
    value = expected.raw_value == actual.raw_value if expected.exact else same_value(expected.value, actual.value)
    null = (expected.raw_value is None) == (actual.raw_value is None)  # JSON's null is no tombstone
    time = expected.timestamp_ms in (None, actual.timestamp_ms)
    return value and null and time and expected.headers in (None, actual.headers)


def _line(record: _Shown, unsaid: _Shown) -> str:
    """A record for people, with what `unsaid` leaves unsaid left out."""
    value = "tombstone" if record.raw_value is None else _json(record.value)
    if unsaid.exact and record.raw_value is not None:
        value = record.raw_value.decode("utf-8", "backslashreplace")
    time = "" if unsaid.timestamp_ms is None else f"  timestamp {record.timestamp_ms}"
    headers = "" if unsaid.headers is None else f"  headers {_shown_headers(record.headers or ())}"
    return f"{value}{time}{headers}"


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
