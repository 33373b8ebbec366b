"""Runs programs in both engines on the records of a seed, and finds the differences."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from random import Random
from typing import Any

from lsql_runner.engine.in_memory.engine import MemoryEngine
from lsql_runner.engine.rows import TopicRecord
from lsql_runner.formats.catalog import Catalog
from lsql_runner.formats.declared import declared_topics
from lsql_runner.pipeline import plan_text
from lsql_runner.plan.queries import Plan
from tests.differential.comparison import Written, differences
from tests.differential.histories import BATCHES, END, Event, Events
from tests.differential.kafka_streams import InputRecord, KafkaStreams
from tests.differential.late import with_equal_lateness
from tests.differential.suites import Program, Suite

ROW = {"g": "string", "f": "string", "v": "long", "d": "double", "t": "string"}
TOPIC = {"key": {"format": "STRING"}, "value": {"format": "JSON", "schema": ROW}}
CATALOG = Catalog(declared_topics({"l": TOPIC, "r": TOPIC, "m": TOPIC}))
NO_GROUP = b"null"
"""The name of a null group in the topologies: Kafka Streams has no null keys."""
SHRINKING_S = 60
"""How long to search for fewer records that show a difference."""


@dataclass(frozen=True, slots=True)
class Engines:
    """The two engines."""

    memory: MemoryEngine
    streams: KafkaStreams


def generated(suite: Suite, seed: int) -> list[Event]:
    """The records of a seed, which are always the same for a suite."""
    graces = [program.grace for program in suite.programs if program.grace is not None]
    events = with_equal_lateness(suite.generate(Random(f"{suite.name} {seed}")), graces)
    return [replace(event, offset=offset) for offset, event in enumerate(events)]


def plan_of(suite: Suite) -> Plan:
    """The plan of all programs of a suite as one program."""
    sets = ["SET autocreate=true", *([suite.sets] if suite.sets else [])]
    return plan_text(";".join([*sets, *(program.sql for program in suite.programs)]), CATALOG).plan


def compare(suite: Suite, events: Events, engines: Engines) -> dict[str, list[str]]:
    """The differences by program, one line each. Programs without differences are left out."""
    ours = _ours(suite, events, engines.memory)
    by_program = {}
    for program in suite.programs:
        theirs = topology_writes(program, events, engines.streams)
        lines = differences(program.view(_results(ours[program.name])), program.view(_results(theirs)))
        if lines:
            by_program[program.name] = lines
    return by_program


def check(suite: Suite, seed: int, engines: Engines) -> None:
    """Run a seed.

    Raises:
        AssertionError: the results differ. The message names the programs, and shows few records for which the first
            of them differs.
    """
    events = generated(suite, seed)
    by_program = compare(suite, events, engines)
    if not by_program:
        return
    program = next(program for program in suite.programs if program.name in by_program)
    fewest, lines = _smaller(replace(suite, programs=(program,)), events, by_program[program.name], engines)
    shown = "\n".join(f"  {event}" for event in fewest)
    described = "\n".join(f"  {line}" for line in lines)
    names = ", ".join(by_program)
    raise AssertionError(f"{names}: differs, suite {suite.name}, seed {seed}\n{program.sql}\nfor\n{shown}\n{described}")


def _results(written: Sequence[Written]) -> list[Written]:
    """The results, except results of the records that only advance the time."""
    return [record for record in written if record.key is None or not record.key.startswith(END.encode())]


def _smaller(suite: Suite, events: Events, report: list[str], engines: Engines) -> tuple[Events, list[str]]:
    """Fewer records that still show a difference: records of a single history, then the same without some records."""
    deadline = time.monotonic() + SHRINKING_S
    histories = sorted({event.history for event in events if event.history >= 0})
    candidates = [[event for event in events if event.history in (history, -1)] for history in histories]
    size = len(events)
    while time.monotonic() < deadline:
        for kept in candidates:
            lines = [] if time.monotonic() > deadline else _lines(suite, kept, engines)
            if lines:
                events, report = kept, lines
                break
        else:
            size //= 2
        size = min(size, len(events))
        if not size:
            break
        candidates = [[*events[:at], *events[at + size :]] for at in range(0, len(events), size)]
    return events, report


def _lines(suite: Suite, events: Events, engines: Engines) -> list[str]:
    return [line for lines in compare(suite, events, engines).values() for line in lines]


def _ours(suite: Suite, events: Events, engine: MemoryEngine) -> dict[str, list[Written]]:
    """The records that the engine writes, by program."""
    run = engine.run(plan_of(suite), list(_batches(events)))
    assert run.error is None, run.error
    written: dict[str, list[Written]] = {program.name: [] for program in suite.programs}
    for record in run.records:
        value = None if record.value is None else json.loads(record.value)
        written[record.topic].append(Written(record.batch, record.key, value, record.timestamp_ms))
    return written


def _batches(events: Events) -> Iterator[list[TopicRecord]]:
    for batch in range(_last_batch(events) + 1):
        yield [_record(event) for event in events if event.batch == batch]


def _record(event: Event) -> TopicRecord:
    key = None if event.key is None else event.key.encode()
    value = None if event.value is None else json.dumps(event.value).encode()
    return TopicRecord(
        topic=event.topic,
        key=key,
        value=value,
        timestamp_ms=event.at_ms,
        partition=event.partition,
        offset=event.offset,
    )


def _last_batch(events: Events) -> int:
    return max((event.batch for event in events), default=BATCHES)


def topology_writes(program: Program, events: Events, streams: KafkaStreams) -> list[Written]:
    """The records that Kafka Streams writes, by the batches of the events."""
    ordered = _in_processing_order(events) if program.in_order else list(events)
    records = [InputRecord(event.topic, event.key, _with_order(event), event.at_ms) for event in ordered]
    written = []
    for answer in streams.run(program.topology, program.settings, records):
        value = answer.value
        if value is not None and program.fields is not None:
            value = {name: value.get(name) for name in program.fields}
        written.append(Written(ordered[answer.after].batch, _key(answer.key, program), value, answer.timestamp_ms))
    return written


def _with_order(event: Event) -> dict[str, Any] | None:
    """The value with an additional field `at`, which orders the rows of a group: the test driver has other offsets."""
    order = [event.at_ms, event.partition, event.offset]
    return None if event.value is None else {**event.value, "at": order}


def _key(key: bytes | None, program: Program) -> bytes | None:
    """The key, with a name for the null group."""
    if program.fields is None or key is None or not key.startswith(NO_GROUP):
        return key
    return key.removeprefix(NO_GROUP) or None


def _in_processing_order(events: Events) -> list[Event]:
    """The records of each batch and joined key in the order in which Kafka Streams processes them with one partition
    per key.

    Each topic is in its own order. Of the next records of both topics, the one with the smaller timestamp is first; for
    equal timestamps, the one of the table.
    """
    ordered: list[Event] = []
    for batch in range(_last_batch(events) + 1):
        batched = [event for event in events if event.batch == batch]
        for key in sorted({_joined_key(event) for event in batched}):
            own = [event for event in batched if _joined_key(event) == key]
            ordered += _merged_by_time([e for e in own if e.topic == "r"], [e for e in own if e.topic == "l"])
    return ordered


def _joined_key(event: Event) -> str:
    """The value by which a stream in `l` and a table in `r` are joined; a unique value for records without a match."""
    return (event.key if event.topic == "r" else (event.value or {}).get("f")) or ""


def _merged_by_time(first: Sequence[Event], second: Sequence[Event]) -> Iterator[Event]:
    one, two = list(first), list(second)
    while one or two:
        yield (one if not two or (one and one[0].at_ms <= two[0].at_ms) else two).pop(0)
