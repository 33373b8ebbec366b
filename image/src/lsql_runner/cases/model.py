"""What a case file says, checked. `docs/reference/cases.md` describes the format."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal, TypeVar

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError, model_validator

from lsql_runner.bind.sinks import named_sink
from lsql_runner.cases.scalars import NANOS_PER_MS, Instant, InvalidValue
from lsql_runner.cases.yaml_text import load_yaml
from lsql_runner.errors import LsqlError
from lsql_runner.formats.catalog import PROTOBUF_FORMAT, Serde, TopicSchema
from lsql_runner.formats.declared import DeclarationError, avro_text, declared_topics
from lsql_runner.sql.ast import UNIT_MS

Headers = tuple[tuple[str, bytes | None], ...]
M = TypeVar("M", bound=BaseModel)


def _milliseconds(value: Any) -> int:
    """Milliseconds since 1970 UTC, from a number of them or an ISO date and time; without a zone it is UTC."""
    return Instant.of(value).nanos // NANOS_PER_MS


def _headers(value: Any) -> Headers:
    """From `{name: text}`, or from a list of such where a name occurs twice; `{hex: cafe}` for bytes."""
    if isinstance(value, tuple):
        return value
    parts = value if isinstance(value, list) else [value]
    if not all(isinstance(part, dict) and all(isinstance(name, str) for name in part) for part in parts):
        raise ValueError("names and texts, as {source: web}")
    return tuple((name, _header(content)) for part in parts for name, content in part.items())


def _header(content: Any) -> bytes | None:
    if content is None:
        return None
    if isinstance(content, str):
        return content.encode()
    if isinstance(content, dict) and set(content) == {"hex"} and isinstance(content["hex"], str):
        return bytes.fromhex(content["hex"])
    raise ValueError('a header is text in quotes, null, or {hex: "cafe"}')


Milliseconds = Annotated[int, BeforeValidator(_milliseconds)]
HeaderList = Annotated[Headers, BeforeValidator(_headers)]


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


class CaseRecord(_Strict):
    """A record of a topic. `*_text` are its bytes as UTF-8 text, for what is no value of the topic's format."""

    topic: str = ""
    key: Any = None
    key_text: str | None = None
    value: Any = None
    value_text: str | None = None
    timestamp: Milliseconds | None = None
    headers: HeaderList | None = None

    @model_validator(mode="after")
    def _one_of_each(self) -> CaseRecord:
        for part in ("key", "value"):
            if {part, f"{part}_text"} <= self.model_fields_set:
                raise ValueError(f"{part} or {part}_text, not both")
        return self


class InputRecord(CaseRecord):
    """`*_writer` names the schema that a part in AVRO or PROTOBUF is written with, where it is not the topic's own."""

    partition: Annotated[int, Field(ge=0)] = 0
    key_writer: str | None = None
    value_writer: str | None = None


class ExpectedError(_Strict):
    """Where it stands is checked if it is said: `line` and `column` from 1 in the program, `offset` in the topic,
    and of a malformed record the `part` and the `format` that it is not in."""

    code: str
    line: int | None = None
    column: int | None = None
    topic: str | None = None
    partition: int | None = None
    offset: int | None = None
    part: Literal["key", "value"] | None = None
    format: str | None = None


class _Mark(_Strict):
    """Starts a new micro-batch; the text is for the reader."""

    batch: str | int | None


class _Idle(_Strict):
    """No record comes for so long, as `30s`; then a new micro-batch."""

    idle: str


class _Document(_Strict):
    name: str | None = None
    sql: str | None = None
    topics: dict[str, dict[str, Any]] = {}
    sinks: dict[str, Literal["postgresql", "redis"]] = {}
    input: list[Any] = []
    expect: list[CaseRecord] | None = None
    expect_error: ExpectedError | None = None


Writers = Mapping[tuple[str, str], Mapping[str, str]]
"""By topic and part (`key`, `value`): schemas of AVRO or PROTOBUF by name, which records may be written with."""


@dataclass(frozen=True, slots=True)
class Case:
    """A checked case. Exactly one of `expected` and `error` is there."""

    path: Path
    name: str
    sql: str
    declared: Mapping[str, TopicSchema]
    """Topics whose schemas the case says; those of others are inferred from its records, as on brokers."""
    writers: Writers
    existing: Mapping[str, int]
    """Partitions of every topic that the case names."""
    sinks: Mapping[str, str]
    """The kinds of the sinks that the program writes to, by name."""
    batches: tuple[tuple[InputRecord, ...], ...]
    idle_ms: Mapping[int, int]
    """Behind these batches, counted from 0, no record comes for so long."""
    expected: tuple[CaseRecord, ...] | None
    error: ExpectedError | None


def load_case(path: Path) -> Case:
    """Read a case file, and `query.sql` beside it where it holds no `sql`.

    Raises:
        LsqlError: CASE_INVALID with the place in the file, FILE_UNREADABLE.
    """
    return parse_case(_text(path), path)


def parse_case(text: str, path: Path) -> Case:
    """The case in a file's text.

    Raises:
        LsqlError: as `load_case`.
    """
    try:
        raw = load_yaml(text)
    except ValueError as error:
        raise _invalid(path, "the text", str(error)) from None
    if not isinstance(raw, dict):
        raise _invalid(path, "the top", "a mapping with input and expect is needed")
    document = _checked(_Document, raw, path, ())
    if (document.expect is None) == (document.expect_error is None):
        raise _invalid(path, "the top", "give either expect or expect_error")
    partitions, writers, declarations = _divided(document.topics, path)
    declared = _declared(declarations, path)
    _check_writers(writers, declared, path)
    batches, idle_ms = _batches(document.input, writers, path)
    expected = [r.topic for r in document.expect or () if named_sink(r.topic, document.sinks) is None]
    named = [record.topic for batch in batches for record in batch] + expected
    existing = {name: partitions.get(name, 1) for name in (*document.topics, *named) if name}
    for batch in batches:
        for record in batch:
            existing[record.topic] = max(existing[record.topic], record.partition + 1)
    return Case(
        path,
        document.name or _name(path),
        document.sql if document.sql is not None else _text(path.with_name("query.sql")),
        declared,
        writers,
        existing,
        dict(document.sinks),
        batches,
        idle_ms,
        None if document.expect is None else tuple(document.expect),
        document.expect_error,
    )


def _name(path: Path) -> str:
    stem = path.name.removesuffix(path.suffix).removesuffix(".case")
    return path.resolve().parent.name if stem == "case" else stem


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        why = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        raise LsqlError("FILE_UNREADABLE", path=str(path), why=why) from None


def _divided(
    topics: dict[str, dict[str, Any]], path: Path
) -> tuple[dict[str, int], dict[tuple[str, str], dict[str, str]], dict[str, Any]]:
    """The number of partitions where it is said, the writers of parts, and what is left: the declarations."""
    partitions: dict[str, int] = {}
    writers: dict[tuple[str, str], dict[str, str]] = {}
    declarations: dict[str, Any] = {}
    for name, body in topics.items():
        rest = dict(body)
        count = rest.pop("partitions", 1)
        if not isinstance(count, int) or isinstance(count, bool) or count < 1:
            raise _invalid(path, f"topics.{name}.partitions", "a whole number above 0 is needed")
        partitions[name] = count
        for part, serde in body.items():
            if isinstance(serde, dict) and "writers" in serde:
                rest[part] = {key: value for key, value in serde.items() if key != "writers"}
                writers[name, part] = _schemas(serde["writers"], path, f"topics.{name}.{part}.writers")
        if rest:  # a topic that only exists has no declaration
            declarations[name] = rest
    return partitions, writers, declarations


def _schemas(body: Any, path: Path, place: str) -> dict[str, str]:
    if not isinstance(body, dict):
        raise _invalid(path, place, "schemas by name are needed, as {old: {type: record, ...}}")
    return {str(name): _schema_text(schema) for name, schema in body.items()}


def _schema_text(schema: Any) -> str:
    """A file of Protobuf is text that says its syntax or has braces, and no JSON; else it is a schema of Avro."""
    is_proto = isinstance(schema, str) and not schema.lstrip().startswith(("{", "[", '"')) and "{" in schema
    return schema if is_proto else avro_text(schema)


def _declared(declarations: dict[str, Any], path: Path) -> dict[str, TopicSchema]:
    try:
        return declared_topics(declarations)
    except DeclarationError as error:
        raise _invalid(path, "topics", f"expected {error}") from None


def _check_writers(writers: Writers, declared: Mapping[str, TopicSchema], path: Path) -> None:
    """Whether all that is declared in AVRO and PROTOBUF can be written, and nothing else has writers."""
    for topic, schema in declared.items():
        for part, serde in (("key", schema.key), ("value", schema.value)):
            place = f"topics.{topic}.{part}"
            named = writers.get((topic, part), {})
            if serde.schema is None and named:
                why = f"only AVRO and PROTOBUF have writers, and this is {serde.format}"
                raise _invalid(path, f"{place}.writers", why)
            if serde.schema is not None:
                _check_schema(serde, serde.schema, path, f"{place}.schema")
            for name, text in named.items():
                _check_schema(serde, text, path, f"{place}.writers.{name}")


def _check_schema(serde: Serde, text: str, path: Path, place: str) -> None:
    try:
        if serde.format.bare == PROTOBUF_FORMAT:
            from lsql_runner.cases.proto_values import proto_schema  # protobuf, which most cases do not need

            proto_schema(text)
            return
        from lsql_runner.cases.avro_values import avro_schema  # fastavro, which most cases need not wait for

        avro_schema(text)
    except InvalidValue as error:
        raise _invalid(path, place, str(error)) from None


def _batches(
    items: list[Any], writers: Writers, path: Path
) -> tuple[tuple[tuple[InputRecord, ...], ...], Mapping[int, int]]:
    """The micro-batches, and how long no record comes behind which of them."""
    batches: list[list[InputRecord]] = [[]]
    idle_ms: dict[int, int] = {}
    for number, item in enumerate(items):
        if isinstance(item, dict) and "idle" in item:
            length = _length_ms(_checked(_Idle, item, path, ("input", number)).idle)
            if length is None or not batches[-1]:
                raise _invalid(path, f"input[{number}].idle", "a length of time behind a record is needed, as 30s")
            idle_ms[sum(1 for batch in batches if batch) - 1] = length
            batches.append([])
            continue
        if isinstance(item, dict) and "batch" in item:
            _checked(_Mark, item, path, ("input", number))
            batches.append([])
            continue
        record = _checked(InputRecord, item, path, ("input", number))
        if not record.topic:
            raise _invalid(path, f"input[{number}].topic", "the record's topic is needed")
        for part, name in (("key", record.key_writer), ("value", record.value_writer)):
            known = writers.get((record.topic, part), {})
            if name is not None and name not in known:
                why = f"{record.topic} has no such writer of its {part}; it has {', '.join(known) or 'none'}"
                raise _invalid(path, f"input[{number}].{part}_writer", why)
        batches[-1].append(record)
    return tuple(tuple(batch) for batch in batches if batch), idle_ms


def _length_ms(text: str) -> int | None:
    found = re.fullmatch(r"([1-9][0-9]{0,8})(ms|s|m|h|d)", text)
    return None if found is None else int(found[1]) * UNIT_MS[found[2]]


def _checked(model: type[M], value: Any, path: Path, place: tuple[str | int, ...]) -> M:
    try:
        return model.model_validate(value)
    except ValidationError as error:
        first = error.errors()[0]
        message = str(first["msg"]).removeprefix("Value error, ").rstrip(".")
        raise _invalid(path, _place((*place, *first["loc"])), message[:1].lower() + message[1:]) from None


def _place(steps: tuple[str | int, ...]) -> str:
    text = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in steps).removeprefix(".")
    return text or "the top"


def _invalid(path: Path, place: str, why: str) -> LsqlError:
    return LsqlError("CASE_INVALID", path=str(path), place=place, why=why)
