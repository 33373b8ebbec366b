"""What a case file says, checked. `docs/reference/cases.md` describes the format."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any, Literal, TypeVar

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError, model_validator

from lsql_runner.bind.catalog import TopicSchema
from lsql_runner.bind.sinks import named_sink
from lsql_runner.cases.yaml_text import load_yaml
from lsql_runner.declared import DeclarationError, declared_topics
from lsql_runner.errors import LsqlError

Headers = tuple[tuple[str, bytes | None], ...]
M = TypeVar("M", bound=BaseModel)


def _milliseconds(value: Any) -> int:
    """Milliseconds since 1970 UTC, from a number of them or an ISO date and time; without a zone it is UTC."""
    if isinstance(value, int) and not isinstance(value, bool):
        return value
    if isinstance(value, str):
        moment = datetime.fromisoformat(value)
        moment = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
        since = moment - datetime(1970, 1, 1, tzinfo=UTC)
        return (since.days * 86_400 + since.seconds) * 1_000 + since.microseconds // 1_000
    raise ValueError("milliseconds since 1970 UTC, or a date and time as 2026-03-01T12:00:00Z")


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
    partition: Annotated[int, Field(ge=0)] = 0


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


class _Document(_Strict):
    name: str | None = None
    sql: str | None = None
    topics: dict[str, dict[str, Any]] = {}
    sinks: dict[str, Literal["postgresql", "redis"]] = {}
    input: list[Any] = []
    expect: list[CaseRecord] | None = None
    expect_error: ExpectedError | None = None


@dataclass(frozen=True, slots=True)
class Case:
    """A checked case. Exactly one of `expected` and `error` is there."""

    path: Path
    name: str
    sql: str
    declared: Mapping[str, TopicSchema]
    """Topics whose schemas the case says; those of others are inferred from its records, as on brokers."""
    existing: Mapping[str, int]
    """Partitions of every topic that the case names."""
    sinks: Mapping[str, str]
    """The kinds of the sinks that the program writes to, by name."""
    batches: tuple[tuple[InputRecord, ...], ...]
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
    declared, partitions = _topics(document.topics, path)
    batches = _batches(document.input, path)
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
        existing,
        dict(document.sinks),
        batches,
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


def _topics(topics: dict[str, dict[str, Any]], path: Path) -> tuple[dict[str, TopicSchema], dict[str, int]]:
    """The declared schemas, and the number of partitions where it is said."""
    partitions: dict[str, int] = {}
    declarations: dict[str, Any] = {}
    for name, body in topics.items():
        count = body.get("partitions", 1)
        if not isinstance(count, int) or isinstance(count, bool) or count < 1:
            raise _invalid(path, f"topics.{name}.partitions", "a whole number above 0 is needed")
        partitions[name] = count
        rest = {part: serde for part, serde in body.items() if part != "partitions"}
        if rest:  # a topic that only exists has no declaration
            declarations[name] = rest
    try:
        return declared_topics(declarations), partitions
    except DeclarationError as error:
        raise _invalid(path, "topics", f"expected {error}") from None


def _batches(items: list[Any], path: Path) -> tuple[tuple[InputRecord, ...], ...]:
    batches: list[list[InputRecord]] = [[]]
    for number, item in enumerate(items):
        if isinstance(item, dict) and "batch" in item:
            _checked(_Mark, item, path, ("input", number))
            batches.append([])
            continue
        record = _checked(InputRecord, item, path, ("input", number))
        if not record.topic:
            raise _invalid(path, f"input[{number}].topic", "the record's topic is needed")
        batches[-1].append(record)
    return tuple(tuple(batch) for batch in batches if batch)


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
