"""Dead letters, skipped records, and their counts.

Output rows have the columns of `compile_query` and three more: `fate`, which is null for a valid record, `dead` or
`skipped`; `error_topic` and `error_code`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from lsql_runner.bind.error_policies import ErrorPolicies, Policy
from lsql_runner.engine.attempts import MALFORMED, READ_CODES, WRITE_CODES, Origin, attempt, is_first, limit_size, rules
from lsql_runner.engine.codecs.table import encode
from lsql_runner.engine.packed import packed
from lsql_runner.engine.progress import ERRORS_METRIC, caught_as
from lsql_runner.engine.relation import FailedRowFilter, Relation
from lsql_runner.engine.schema import HEADERS, STRING
from lsql_runner.formats.catalog import JSON_FORMAT
from lsql_runner.plan.nodes import ReadTopic
from lsql_runner.plan.queries import Query, WriteTopic
from lsql_runner.plan.tree import nodes

HEADER = "lsql.error."
"""Prefix of the headers of a dead letter."""

_FATES: dict[Policy, str] = {"continue": "skipped", "dlq": "dead"}
_AGAIN = "again"
"""Another row of a failed record that was already counted."""
_OUTCOME = ("fate", "error_topic", "error_code")


@dataclass(frozen=True, slots=True)
class Outlet:
    """Properties of the processor and its targets on which output records depend."""

    processor: str = ""
    """The application id."""
    size_limits: Mapping[str, str] = field(default_factory=dict)
    """By topic, the result of `size_limits`."""
    keyed: frozenset[str] = frozenset()
    """Topics that accept no record without a key."""


def fates(policies: ErrorPolicies, origin: Origin) -> Column:
    """`dead` or `skipped` for each failed row by the policy; null for valid rows."""
    assert origin.error is not None
    side = origin.error["side"]
    found = F.when(side == "read", F.lit(_FATES.get(policies.read))).when(
        side == "write", F.lit(_FATES.get(policies.write))
    )
    if not origin.unnested:
        return found
    place = packed({name: origin.record[name] for name in ("topic", "partition", "offset")})
    return F.when(side.isNotNull(), F.when(is_first(place), found).otherwise(F.lit(_AGAIN)))


def with_fates(frame: DataFrame, policies: ErrorPolicies, origin: Origin) -> DataFrame:
    """The frame with the columns `fate`, `error_topic` and `error_code`; one row for each failed record."""
    assert origin.error is not None
    found = frame.select(
        "*",
        fates(policies, origin).alias("fate"),
        F.when(origin.error.isNotNull(), origin.record["topic"]).alias("error_topic"),
        origin.error["code"].alias("error_code"),
    )
    return found.where(F.col("fate").isNull() | (F.col("fate") != _AGAIN)) if origin.unnested else found


def dead_letters(frame: DataFrame, policies: ErrorPolicies, origin: Origin, outlet: Outlet) -> DataFrame:
    """The dead letters of rows with a fate."""
    dead = frame.where(F.col("fate") == _FATES["dlq"])
    dead_letter = _dead_letter(policies, origin, outlet)
    return dead.select(
        F.lit(policies.dead_letter_topic).alias("topic"),
        *(dead_letter[name].alias(name) for name in ("key", "value")),
        origin.record["ts"].alias("ts"),
        dead_letter["headers"].alias("headers"),
        *_OUTCOME,
    )


def outcome(
    frame: DataFrame, policies: ErrorPolicies, origin: Origin, outlet: Outlet, topic: str, record: Column
) -> DataFrame:
    """Records and dead letters, in their order.

    Args:
        topic: the target.
        record: a struct of `ts` and `record`, a struct of key, value and headers; for valid rows.
    """
    rows = with_fates(frame, policies, origin)
    is_dead, queue = F.col("fate") == _FATES["dlq"], policies.dead_letter_topic
    dead_letter = None if queue is None else _dead_letter(policies, origin, outlet)

    def either(good: Column, dead: Column | None) -> Column:
        return good if dead is None else F.when(is_dead, dead).otherwise(good)

    def part(name: str) -> Column:
        return either(record["record"][name], None if dead_letter is None else dead_letter[name])

    return rows.select(
        either(F.lit(topic), None if queue is None else F.lit(queue)).alias("topic"),
        part("key").alias("key"),
        part("value").alias("value"),
        either(record["ts"], origin.record["ts"]).alias("ts"),
        part("headers").alias("headers"),
        *_OUTCOME,
    )


def _dead_letter(policies: ErrorPolicies, origin: Origin, outlet: Outlet) -> Column:
    """A struct of key, value and headers: the record as bytes, with headers that describe the error."""
    assert origin.error is not None
    described = {
        "topic": origin.record["topic"],
        "partition": origin.record["partition"].cast(STRING),
        "offset": origin.record["offset"].cast(STRING),
        "code": origin.error["code"],
        "message": origin.error["message"],
        "processor": F.lit(outlet.processor),
        "time": F.date_format(F.current_timestamp(), "yyyy-MM-dd'T'HH:mm:ss.SSS'Z'"),
    }
    headers = F.array(
        *(
            F.struct(F.lit(HEADER + name).alias("key"), F.encode(text, "UTF-8").alias("value"))
            for name, text in described.items()
        )
    )
    known = F.filter(headers, lambda header: header["value"].isNotNull())
    before = F.coalesce(origin.record["headers"], F.array().cast(HEADERS))
    whole = F.struct(
        origin.record["key"].alias("key"),
        origin.record["value"].alias("value"),
        F.concat(before, known).alias("headers"),
    )
    return limit_size(whole, outlet.size_limits.get(str(policies.dead_letter_topic)), shortens=True)


def rules_of_rows() -> str:
    """The errors of groups and pairs that `attempt` catches: all are errors of writing."""
    return rules(read=True, write=True, all_are="write")


def origin_of_row(sink: WriteTopic, relation: Relation, key: Column) -> Origin:
    """The origin of a group or pair: the row itself, with its key encoded and its value as JSON."""
    by = rules_of_rows()
    value = encode(relation.whole("value"), JSON_FORMAT, sink.input.value_type)
    record = {
        "key": attempt(key, None, by)["value"],
        "value": attempt(value, None, by)["value"],
        "topic": F.lit(sink.topic),
        "partition": F.lit(None).cast(STRING),
        "offset": F.lit(None).cast(STRING),
        "ts": relation.ready["ts"],
        "headers": F.lit(None).cast(HEADERS),
    }
    row = Origin(record, by)
    known = relation.origin  # of the attempts since the operator produced the row
    return row if known is None else replace(row, error=known.error, attempts=known.attempts)


# --- counts ---


def counts(sinks: Iterable[WriteTopic]) -> Iterator[Column]:
    """The number of failed records by fate, error code and topic."""
    kinds: dict[tuple[str, str, str], None] = {}
    for sink in sinks:
        topics = (sink.topic,) if sink.stateful else tuple(_sources(sink))
        sides: tuple[tuple[Policy, tuple[str, ...]], ...] = (
            (sink.errors.read, READ_CODES),
            (sink.errors.write, WRITE_CODES),
        )
        if sink.stateful:
            sides = ((sink.errors.write, (MALFORMED, *WRITE_CODES)),)  # of what it writes; see `failed_row_filter`
        kinds |= dict.fromkeys(
            (_FATES[policy], code, topic)
            for policy, codes in sides
            if policy in _FATES
            for code in codes
            for topic in topics
        )
    return (_count(*kind) for kind in kinds)


def _count(fate: str, code: str, topic: str) -> Column:
    same = (F.col("fate") == fate) & (F.col("error_code") == code) & (F.col("error_topic") == topic)
    return F.count(F.when(same, F.lit(1))).alias(caught_as(fate, code, topic))


def _sources(sink: WriteTopic) -> dict[str, None]:
    return {node.schema.topic: None for node in nodes(sink.input) if isinstance(node, ReadTopic)}


def counted(rows: DataFrame, query: Query) -> DataFrame:
    """The records and dead letters to write, from rows with a fate; failed records are counted."""
    found = list(counts(sink for sink in query.sinks if isinstance(sink, WriteTopic))) or list(
        _dead_letter_counts(query)
    )
    watched = rows.observe(f"{ERRORS_METRIC}0", *found) if found else rows
    written = watched.where(F.col("fate").isNull() | (F.col("fate") == _FATES["dlq"]))
    return written.drop(*_OUTCOME)


def _dead_letter_counts(query: Query) -> Iterator[Column]:
    topics = dict.fromkeys(topic for sink in query.dead_letters_of for topic in _sources(sink))
    return (_count(_FATES["dlq"], code, topic) for code in READ_CODES for topic in topics)


# --- inputs of stateful operators ---


def failed_row_filter(sink: WriteTopic) -> FailedRowFilter:
    """Removes failed rows from the input of a stateful operator, and counts them with `continue`."""
    number = 0

    def drop_failed_rows(frame: DataFrame, origin: Origin) -> DataFrame:
        nonlocal number
        assert origin.error is not None
        if sink.errors.read == "continue":
            number += 1
            codes = [_count("skipped", code, topic) for code in READ_CODES for topic in _sources(sink)]
            frame = with_fates(frame, sink.errors, origin).observe(f"{ERRORS_METRIC}{number}", *codes)
        return frame.where(origin.error.isNull())

    return drop_failed_rows


def failed_group_filter(sink: WriteTopic) -> FailedRowFilter:
    """Removes failed groups and pairs from the input of the next operator, and counts them."""
    number = 0

    def drop_failed_rows(frame: DataFrame, origin: Origin) -> DataFrame:
        nonlocal number
        assert origin.error is not None
        number += 1
        codes = [
            F.count(F.when(origin.error["code"] == code, F.lit(1))).alias(f"{_FATES['continue']}/{code}/{sink.topic}")
            for code in READ_CODES
        ]
        return frame.observe(f"{ERRORS_METRIC}of-rows-{number}", *codes).where(origin.error.isNull())

    return drop_failed_rows


def collect_dead_letters(sink: WriteTopic, outlet: Outlet, found: list[DataFrame]) -> FailedRowFilter:
    """Adds the dead letters of failed rows to `found`."""

    def drop_failed_rows(frame: DataFrame, origin: Origin) -> DataFrame:
        found.append(dead_letters(with_fates(frame, sink.errors, origin), sink.errors, origin, outlet))
        return frame

    return drop_failed_rows
