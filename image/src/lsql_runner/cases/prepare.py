"""A case on its way to an engine: records as bytes, the plan over its topics as production would make it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import cast

from lsql_runner.batches import Partition
from lsql_runner.bind.catalog import Format
from lsql_runner.bind.decoders import SourceFormats, source_formats
from lsql_runner.cases.model import Case, Headers, InputRecord
from lsql_runner.cases.values import ValueMisfit, encode_value, guess_format
from lsql_runner.errors import LsqlError
from lsql_runner.kafka.brokers import Brokers, RawRecord
from lsql_runner.pipeline import Planned, plan_parsed
from lsql_runner.runtime.resolve import Knowledge, resolve_catalog
from lsql_runner.sql import ast
from lsql_runner.sql.parser import parse


@dataclass(frozen=True, slots=True)
class EncodedRecord:
    """An input record as bytes, ready for a producer or a memory stream."""

    topic: str
    key: bytes | None
    value: bytes | None
    headers: Headers
    timestamp_ms: int
    partition: int
    offset: int


Batches = tuple[tuple[EncodedRecord, ...], ...]


@dataclass(frozen=True, slots=True)
class PreparedCase:
    planned: Planned
    batches: Batches


def prepare_case(case: Case) -> PreparedCase:
    """Parse, encode, resolve, bind, plan.

    Raises:
        LsqlError: what is wrong with the program; CASE_INVALID where a record does not fit its topic.
    """
    program = parse(case.sql)
    batches = encode_batches(case, program)
    brokers = cast(Brokers, _CaseBrokers(case, batches))  # resolving a catalog asks for topics and samples only
    catalog = resolve_catalog(program, brokers, Knowledge(case.declared, {}, sinks=case.sinks))
    return PreparedCase(plan_parsed(program, catalog), batches)


def encode_batches(case: Case, program: ast.Program) -> Batches:
    """The input records as bytes, in their order, with offsets counted for each partition.

    The format of a part is the declared one, else the one that the program names, else what the value suggests. A
    record without a timestamp has the one before it; the first has 0.

    Raises:
        LsqlError: CASE_INVALID, FORMAT_UNSUPPORTED.
    """
    named = source_formats(program)
    offsets: dict[tuple[str, int], int] = {}
    timestamp_ms = 0
    place = 0
    batches: list[tuple[EncodedRecord, ...]] = []
    for batch in case.batches:
        encoded: list[EncodedRecord] = []
        for record in batch:
            timestamp_ms = timestamp_ms if record.timestamp is None else record.timestamp
            offset = offsets.get((record.topic, record.partition), 0)
            offsets[record.topic, record.partition] = offset + 1
            key, value = _parts(case, record, named.get(record.topic, SourceFormats()), place)
            encoded.append(
                EncodedRecord(record.topic, key, value, record.headers or (), timestamp_ms, record.partition, offset)
            )
            place += 1
        batches.append(tuple(encoded))
    return tuple(batches)


def _parts(case: Case, record: InputRecord, named: SourceFormats, place: int) -> tuple[bytes | None, bytes | None]:
    schema = case.declared.get(record.topic)
    forms = (named.key, named.value) if schema is None else (schema.key.format, schema.value.format)
    values = (("key", record.key, record.key_text), ("value", record.value, record.value_text))
    found: list[bytes | None] = []
    for (name, value, text), form in zip(values, forms, strict=True):
        if text is not None:
            found.append(text.encode())
            continue
        try:
            # A null key or value is null in every format, the windowed ones included.
            found.append(None if value is None else encode_value(value, form or _guessed(value)))
        except ValueMisfit as error:
            where = f"record {place + 1} of the input, {name}"
            raise LsqlError("CASE_INVALID", path=str(case.path), place=where, why=str(error)) from None
    return found[0], found[1]


def _guessed(value: object) -> Format:
    form = guess_format(value)
    if form is None:
        raise ValueMisfit("whether this is text or a binary number is unclear: declare the topic's format")
    return form


class _CaseBrokers:
    """A case's topics and records, asked as brokers are."""

    def __init__(self, case: Case, batches: Sequence[Sequence[EncodedRecord]]) -> None:
        self._topics = dict(case.existing)
        self._records = [record for batch in batches for record in batch]

    def topics(self) -> dict[str, int]:
        return self._topics

    def sample(self, topic: str, limit: int) -> list[RawRecord]:
        found = [
            RawRecord(Partition(topic, record.partition), record.offset, record.key, record.value)
            for record in self._records
            if record.topic == topic
        ]
        return found[-limit:]
