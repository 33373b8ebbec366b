"""Reads and checks case files."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from lsql_runner.bind.sinks import named_sink
from lsql_runner.cases.codecs import WITH_SCHEMA
from lsql_runner.cases.model import BatchMark, Case, CaseDocument, IdleMark, InputRecord, Writers
from lsql_runner.cases.scalars import InvalidValue
from lsql_runner.errors import DetailError, DetailTable, LsqlError, file_error
from lsql_runner.formats.catalog import TopicSchema
from lsql_runner.formats.declared import declared_topics
from lsql_runner.formats.spec import DeclarationError
from lsql_runner.sql.ast import UNIT_MS
from lsql_runner.yaml_text import YamlError, load_yaml

M = TypeVar("M", bound=BaseModel)

_REASONS = DetailTable(
    {
        "NOT_A_MAPPING": "expected a mapping with input and expect",
        "EXPECT_OR_ERROR": "give either expect or expect_error",
        "NOT_POSITIVE": "expected a whole number above zero",
        "WRITERS_NOT_NAMED": "expected schemas by name, as in {{old: {{type: record, ...}}}}",
        "NO_WRITERS": "the format is {format}, and only {known} have writers",
        "IDLE_INVALID": "expected a duration after a record, such as 30s",
        "TOPIC_MISSING": "the topic of the record is missing",
        "WRITER_UNKNOWN": "the writer {writer} does not exist; the topic has {known}",
    }
)


def load_case(path: Path) -> Case:
    """Read a case file, and the file `query.sql` in the same folder if the case has no `sql`.

    Raises:
        LsqlError: CASE_INVALID with the place in the file, FILE_UNREADABLE, FILE_NOT_UTF8.
    """
    return parse_case(_text(path), path)


def parse_case(text: str, path: Path) -> Case:
    """The case in a file's text.

    Raises:
        LsqlError: as `load_case`.
    """
    try:
        raw = load_yaml(text)
    except YamlError as error:
        raise _invalid(path, "$", error.reason) from None
    if not isinstance(raw, dict):
        raise _invalid(path, "$", _REASONS("NOT_A_MAPPING"))
    document = _validate(CaseDocument, raw, path, ())
    if (document.expect is None) == (document.expect_error is None):
        raise _invalid(path, "$", _REASONS("EXPECT_OR_ERROR"))
    partitions, named_schemas, declarations = _divide_topics(document.topics, path)
    declared = _parse_declarations(declarations, path)
    writers = _writers(named_schemas, declared, path)
    batches, idle_ms = _batches(document.input, writers, path)
    expected = [r.topic for r in document.expect or () if named_sink(r.topic, document.sinks) is None]
    named = [record.topic for batch in batches for record in batch] + expected
    existing = {name: partitions.get(name, 1) for name in (*document.topics, *named) if name}
    for batch in batches:
        for record in batch:
            existing[record.topic] = max(existing[record.topic], record.partition + 1)
    return Case(
        path=path,
        name=document.name or _name(path),
        sql=document.sql if document.sql is not None else _text(path.with_name("query.sql")),
        declared=declared,
        writers=writers,
        existing=existing,
        sinks=dict(document.sinks),
        batches=batches,
        idle_ms=idle_ms,
        expected=None if document.expect is None else tuple(document.expect),
        error=document.expect_error,
    )


def _name(path: Path) -> str:
    stem = path.name.removesuffix(path.suffix).removesuffix(".case")
    return path.resolve().parent.name if stem == "case" else stem


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise file_error(path, error) from None


def _divide_topics(
    topics: dict[str, dict[str, Any]], path: Path
) -> tuple[dict[str, int], dict[tuple[str, str], dict[str, Any]], dict[str, Any]]:
    """The numbers of partitions, the writers by topic and part, and the declarations, each as in the case file."""
    partitions: dict[str, int] = {}
    writers: dict[tuple[str, str], dict[str, Any]] = {}
    declarations: dict[str, Any] = {}
    for name, body in topics.items():
        rest = dict(body)
        count = rest.pop("partitions", 1)
        if not isinstance(count, int) or isinstance(count, bool) or count < 1:
            raise _invalid(path, f"topics.{name}.partitions", _REASONS("NOT_POSITIVE"))
        partitions[name] = count
        for part, serde in body.items():
            if isinstance(serde, dict) and "writers" in serde:
                rest[part] = {key: value for key, value in serde.items() if key != "writers"}
                writers[name, part] = _by_name(serde["writers"], path, f"topics.{name}.{part}.writers")
        if rest:  # a topic may have only a number of partitions
            declarations[name] = rest
    return partitions, writers, declarations


def _by_name(body: Any, path: Path, place: str) -> dict[str, Any]:
    if not isinstance(body, dict):
        raise _invalid(path, place, _REASONS("WRITERS_NOT_NAMED"))
    return {str(name): schema for name, schema in body.items()}


def _parse_declarations(declarations: dict[str, Any], path: Path) -> dict[str, TopicSchema]:
    try:
        return declared_topics(declarations)
    except DeclarationError as error:
        raise _invalid(path, "topics", error.reason) from None


def _writers(
    named_schemas: Mapping[tuple[str, str], Mapping[str, Any]], declared: Mapping[str, TopicSchema], path: Path
) -> Writers:
    """The schemas of the writers as text. Checks these schemas and the declared ones."""
    writers: dict[tuple[str, str], dict[str, str]] = {}
    for topic, schema in declared.items():
        for part, serde in (("key", schema.key), ("value", schema.value)):
            place = f"topics.{topic}.{part}"
            named = named_schemas.get((topic, part), {})
            if serde.schema is None and named:
                reason = _REASONS("NO_WRITERS", known=" and ".join(WITH_SCHEMA), format=str(serde.format))
                raise _invalid(path, f"{place}.writers", reason)
            if serde.schema is None:
                continue
            codec = WITH_SCHEMA[serde.format.bare.name]
            texts = {name: codec.schema_text(body) for name, body in named.items()}
            for name, text in (("schema", serde.schema), *((f"writers.{name}", text) for name, text in texts.items())):
                try:
                    codec.check(text)
                except InvalidValue as error:
                    raise _invalid(path, f"{place}.{name}", error.reason) from None
            if texts:
                writers[topic, part] = texts
    return writers


def _batches(
    items: list[Any], writers: Writers, path: Path
) -> tuple[tuple[tuple[InputRecord, ...], ...], Mapping[int, int]]:
    """The micro-batches, and by index of a batch the time in ms after it in which no record arrives."""
    batches: list[list[InputRecord]] = [[]]
    idle_ms: dict[int, int] = {}
    for number, item in enumerate(items):
        if isinstance(item, dict) and "idle" in item:
            length = _length_ms(_validate(IdleMark, item, path, ("input", number)).idle)
            if length is None or not batches[-1]:
                raise _invalid(path, f"input[{number}].idle", _REASONS("IDLE_INVALID"))
            idle_ms[sum(1 for batch in batches if batch) - 1] = length
            batches.append([])
            continue
        if isinstance(item, dict) and "batch" in item:
            _validate(BatchMark, item, path, ("input", number))
            batches.append([])
            continue
        record = _validate(InputRecord, item, path, ("input", number))
        if not record.topic:
            raise _invalid(path, f"input[{number}].topic", _REASONS("TOPIC_MISSING"))
        for part, name in (("key", record.key_writer), ("value", record.value_writer)):
            known = writers.get((record.topic, part), {})
            if name is not None and name not in known:
                reason = _REASONS("WRITER_UNKNOWN", writer=name, known=", ".join(known) or "none")
                raise _invalid(path, f"input[{number}].{part}_writer", reason)
        batches[-1].append(record)
    return tuple(tuple(batch) for batch in batches if batch), idle_ms


def _length_ms(text: str) -> int | None:
    match = re.fullmatch(r"([1-9][0-9]{0,8})(ms|s|m|h|d)", text)
    return None if match is None else int(match[1]) * UNIT_MS[match[2]]


def _validate(model: type[M], value: Any, path: Path, place: tuple[str | int, ...]) -> M:
    try:
        return model.model_validate(value)
    except ValidationError as error:
        first = error.errors()[0]
        cause = first.get("ctx", {}).get("error")
        message = str(first["msg"]).rstrip(".")
        reason = cause.reason if isinstance(cause, DetailError) else message[:1].lower() + message[1:]
        raise _invalid(path, _place((*place, *first["loc"])), reason) from None


def _place(steps: tuple[str | int, ...]) -> str:
    text = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in steps).removeprefix(".")
    return text or "$"


def _invalid(path: Path, place: str, reason: str) -> LsqlError:
    return LsqlError("CASE_INVALID", path=str(path), place=place, reason=reason)
