"""A case file as data. `docs/reference/cases.md` describes the format."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, model_validator

from lsql_runner.cases.scalars import NANOS_PER_MS, Instant, InvalidValue, bytes_of
from lsql_runner.errors import DetailTable
from lsql_runner.formats.catalog import TopicSchema

Headers = tuple[tuple[str, bytes | None], ...]
_REASONS = DetailTable(
    {
        "HEADERS": "expected names and texts, as {{source: web}}",
        "HEADER": 'a header is text in quotes, null, or {{hex: "cafe"}}',
        "VALUE_AND_TEXT": "give either {part} or {part}_text",
    }
)


def _milliseconds(value: Any) -> int:
    """Milliseconds since 1970 UTC, from a number or an ISO date and time, which is in UTC if it has no zone."""
    return Instant.of(value).nanos // NANOS_PER_MS


def _headers(value: Any) -> Headers:
    """From `{name: text}`, or from a list of these if a name occurs twice; `{hex: cafe}` for bytes."""
    if isinstance(value, tuple):
        return value
    parts = value if isinstance(value, list) else [value]
    if not all(isinstance(part, dict) and all(isinstance(name, str) for name in part) for part in parts):
        raise InvalidValue(_REASONS("HEADERS"))
    return tuple((name, _header(content)) for part in parts for name, content in part.items())


def _header(content: Any) -> bytes | None:
    if content is None:
        return None
    if isinstance(content, str):
        return content.encode()
    if isinstance(content, dict) and set(content) == {"hex"}:
        return bytes_of(content["hex"])
    raise InvalidValue(_REASONS("HEADER"))


Milliseconds = Annotated[int, BeforeValidator(_milliseconds)]
HeaderList = Annotated[Headers, BeforeValidator(_headers)]


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


class CaseRecord(_Strict):
    """A record of a topic. `key_text` and `value_text` are bytes as UTF-8 text, for example of a malformed record."""

    topic: str = ""
    key: Any = None
    key_text: str | None = None
    value: Any = None
    value_text: str | None = None
    timestamp: Milliseconds | None = None
    headers: HeaderList | None = None

    @model_validator(mode="after")
    def _value_or_text(self) -> CaseRecord:
        for part in ("key", "value"):
            if {part, f"{part}_text"} <= self.model_fields_set:
                raise InvalidValue(_REASONS("VALUE_AND_TEXT", part=part))
        return self


class InputRecord(CaseRecord):
    """`key_writer` and `value_writer` name the writer schema of a part, if it is not the topic's schema."""

    partition: Annotated[int, Field(ge=0)] = 0
    key_writer: str | None = None
    value_writer: str | None = None


class ExpectedError(_Strict):
    """An expected error. The other fields are compared if the case gives them: `line` and `column` in the program, from
    1; `topic`, `partition` and `offset` of a record; `part` and `format` of a malformed record."""

    code: str
    line: int | None = None
    column: int | None = None
    topic: str | None = None
    partition: int | None = None
    offset: int | None = None
    part: Literal["key", "value"] | None = None
    format: str | None = None


class BatchMark(_Strict):
    """Starts a new micro-batch. The text is a comment."""

    batch: str | int | None


class IdleMark(_Strict):
    """No record arrives for this long, as `30s`; then a new micro-batch."""

    idle: str


class CaseDocument(_Strict):
    """A case file, with `topics` and `input` not yet checked."""

    name: str | None = None
    sql: str | None = None
    topics: dict[str, dict[str, Any]] = {}
    sinks: dict[str, Literal["postgresql", "redis"]] = {}
    input: list[Any] = []
    expect: list[CaseRecord] | None = None
    expect_error: ExpectedError | None = None


Writers = Mapping[tuple[str, str], Mapping[str, str]]
"""By topic and part (`key`, `value`): the schemas with which records may be written, by name."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """A checked case. Either `expected` or `error` is None."""

    path: Path
    name: str
    sql: str
    declared: Mapping[str, TopicSchema]
    """Topics whose schemas the case declares. Other schemas are inferred from its records, as on brokers."""
    writers: Writers
    existing: Mapping[str, int]
    """Partitions of every topic that the case names."""
    sinks: Mapping[str, str]
    """The kinds of the sinks that the program writes to, by name."""
    batches: tuple[tuple[InputRecord, ...], ...]
    idle_ms: Mapping[int, int]
    """By index of a batch: how long no record arrives after it."""
    expected: tuple[CaseRecord, ...] | None
    error: ExpectedError | None
