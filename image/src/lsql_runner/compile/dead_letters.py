"""Dead letters, skipped records, and their counts.

If errors are handled, output rows have three more columns than with `compile_query`: `error_action`
(`dead_letter` or `skipped`; null for a valid record), `error_topic` and `error_code`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field, replace

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from lsql_runner.bind.error_policies import ErrorPolicies, Policy
from lsql_runner.compile.attempts import (
    LATE,
    MALFORMED,
    ORIGIN,
    READ_CODES,
    RECORD_ERROR,
    WRITE_CODES,
    Origin,
    accepted_time,
    attempt,
    is_first,
    limit_size,
    rules,
)
from lsql_runner.compile.codecs.table import encode
from lsql_runner.compile.expressions import convert
from lsql_runner.compile.identity import IDENTITY_COLUMNS, RowIdentity, identity_columns
from lsql_runner.compile.late_rows import LATE_FOR, LATE_RECORD
from lsql_runner.compile.metric_names import ERRORS_METRIC, failure_count_name
from lsql_runner.compile.packed import pack
from lsql_runner.compile.relation import FailedRowHandler, LateRecord, Relation
from lsql_runner.compile.schema import BINARY, HEADERS, STRING
from lsql_runner.events.batches import FailureAction
from lsql_runner.formats.catalog import JSON_FORMAT
from lsql_runner.kafka.ports import TopicLimits
from lsql_runner.plan.nodes import ReadTopic
from lsql_runner.plan.queries import Query, WriteTopic
from lsql_runner.plan.tree import nodes
from lsql_runner.types import STRING as LSQL_STRING
from lsql_runner.types import TIMESTAMP as LSQL_TIMESTAMP

HEADER_PREFIX = "lsql.error."
"""Prefix of the headers of a dead letter."""

KAFKAS_TIME_LIMITS = TopicLimits(after_ms=3_600_000)
"""The default of brokers."""

_ACTIONS: dict[Policy, FailureAction] = {"continue": "skipped", "dlq": "dead_letter"}
_LATE_PHASE = "late"
_LATE_MESSAGE = f"event time has passed {HEADER_PREFIX}window and the grace"
_DUPLICATE = "duplicate"
"""The action for another row of a failed record that is already counted."""
ERROR_ACTION, _ERROR_TOPIC, _ERROR_CODE = _ERROR_COLUMNS = ("error_action", "error_topic", "error_code")


@dataclass(frozen=True, slots=True)
class OutputContext:
    """Properties of the processor and its target topics that determine output records."""

    _: KW_ONLY
    app_id: str = ""
    size_limits: Mapping[str, str] = field(default_factory=dict)
    """By topic, the result of `size_limits`."""
    time_limits: Mapping[str, TopicLimits] = field(default_factory=dict)
    """By topic: the topics whose limits for timestamps are known."""
    compacted: frozenset[str] = frozenset()
    """Compacted topics: they accept no record without a key."""
    with_identities: bool = False
    """Whether records have IDENTITY_COLUMNS."""
    run: str = ""
    """The run id of the checkpoint of the query; empty without a checkpoint."""

    def with_default_times(self, topics: Iterable[str]) -> OutputContext:
        """The same with the default limits of brokers for timestamps in topics whose limits are not known."""
        return replace(self, time_limits=dict.fromkeys(topics, KAFKAS_TIME_LIMITS) | dict(self.time_limits))

    def identities(self, identity: RowIdentity, insert: str) -> list[Column]:
        """The columns with the identity of a row, if records have it. `insert` is a name of the INSERT."""
        return identity_columns(identity, insert) if self.with_identities else []


def _action(policies: ErrorPolicies, origin: Origin) -> Column:
    """`dead_letter` or `skipped` for each failed row, by the policy; null for valid rows."""
    assert origin.error is not None
    phase = origin.error["phase"]
    action = F.when(phase == "read", F.lit(_ACTIONS.get(policies.read))).when(
        phase == "write", F.lit(_ACTIONS.get(policies.write))
    )
    if policies.late == "dlq":
        action = F.when(phase == _LATE_PHASE, F.lit(_ACTIONS["dlq"])).otherwise(action)
    if not origin.unnested:
        return action
    record_id = pack({name: origin.record[name] for name in ("topic", "partition", "offset")})
    return F.when(phase.isNotNull(), F.when(is_first(record_id), action).otherwise(F.lit(_DUPLICATE)))


def _with_error_columns(frame: DataFrame, policies: ErrorPolicies, origin: Origin) -> DataFrame:
    """The rows with `error_action`, `error_topic` and `error_code`; one row for each failed record."""
    assert origin.error is not None
    rows = frame.select(
        "*",
        _action(policies, origin).alias(ERROR_ACTION),
        F.when(origin.error.isNotNull(), origin.record["topic"]).alias(_ERROR_TOPIC),
        origin.error["code"].alias(_ERROR_CODE),
    )
    action = F.col(ERROR_ACTION)
    return rows.where(action.isNull() | (action != _DUPLICATE)) if origin.unnested else rows


def _is_dead_letter() -> Column:
    return F.col(ERROR_ACTION) == _ACTIONS["dlq"]


def _dead_letters(
    frame: DataFrame, policies: ErrorPolicies, origin: Origin, context: OutputContext, insert: str
) -> DataFrame:
    """The dead letters of failed rows. Takes rows with error columns."""
    place = (origin.record["partition"], origin.record["offset"])
    identity = RowIdentity(place, of_record=True, topic=origin.record["topic"])
    dead_letter = _dead_letter(policies, origin, context)
    return frame.where(_is_dead_letter()).select(
        F.lit(policies.dead_letter_topic).alias("topic"),
        *(dead_letter[name].alias(name) for name in ("key", "value")),
        _dead_letter_time(policies, origin, context).alias("ts"),
        dead_letter["headers"].alias("headers"),
        *context.identities(identity, insert),
        *_ERROR_COLUMNS,
    )


def records_and_dead_letters(
    frame: DataFrame,
    policies: ErrorPolicies,
    origin: Origin,
    context: OutputContext,
    topic: str,
    record: Column,
    identity: Sequence[Column],
    of_failure: Sequence[Column],
) -> DataFrame:
    """Records and dead letters in the order of the rows, with error columns.

    Args:
        topic: the target.
        record: a struct of `ts` and `record`, a struct of key, value and headers; for valid rows.
        identity: the columns with the identity of a row; none without exactly-once.
        of_failure: the identity of its dead letter.
    """
    rows = _with_error_columns(frame, policies, origin)
    dead_letter_topic = policies.dead_letter_topic
    dead_letter = None if dead_letter_topic is None else _dead_letter(policies, origin, context)

    dead_letter_ts = _dead_letter_time(policies, origin, context)

    def choose(valid: Column, failed: Column | None) -> Column:
        return valid if failed is None else F.when(_is_dead_letter(), failed).otherwise(valid)

    def field_of_record(name: str) -> Column:
        return choose(record["record"][name], None if dead_letter is None else dead_letter[name]).alias(name)

    return rows.select(
        choose(F.lit(topic), None if dead_letter_topic is None else F.lit(dead_letter_topic)).alias("topic"),
        field_of_record("key"),
        field_of_record("value"),
        choose(record["ts"], dead_letter_ts).alias("ts"),
        field_of_record("headers"),
        *(choose(*both).alias(name) for *both, name in zip(identity, of_failure, IDENTITY_COLUMNS, strict=False)),
        *_ERROR_COLUMNS,
    )


def _dead_letter_time(policies: ErrorPolicies, origin: Origin, context: OutputContext) -> Column:
    """The timestamp of the failed record, or the current time if the dead letter topic does not accept it."""
    limits = context.time_limits.get(str(policies.dead_letter_topic), KAFKAS_TIME_LIMITS)
    return accepted_time(origin.record["ts"], limits, replace=True)


def _dead_letter(policies: ErrorPolicies, origin: Origin, context: OutputContext) -> Column:
    """A struct of key, value and headers: the record as bytes, with headers that describe the error."""
    assert origin.error is not None
    described = {
        "topic": origin.record["topic"],
        "partition": origin.record["partition"].cast(STRING),
        "offset": origin.record["offset"].cast(STRING),
        "code": origin.error["code"],
        "message": origin.error["message"],
        **({} if origin.late_for is None else {"window": origin.late_for}),
        "timestamp": F.when(
            ~origin.record["ts"].eqNullSafe(_dead_letter_time(policies, origin, context)), origin.record["ts"]
        ).cast(STRING),
        "processor": F.lit(context.app_id),
        "time": convert(F.current_timestamp(), LSQL_TIMESTAMP, LSQL_STRING),
    }
    headers = F.array(
        *(
            F.struct(F.lit(HEADER_PREFIX + name).alias("key"), text.cast(BINARY).alias("value"))
            for name, text in described.items()
        )
    )
    error_headers = F.filter(headers, lambda header: header["value"].isNotNull())
    record_headers = F.coalesce(origin.record["headers"], F.array().cast(HEADERS))
    dead_letter = F.struct(
        origin.record["key"].alias("key"),
        origin.record["value"].alias("value"),
        F.concat(record_headers, error_headers).alias("headers"),
    )
    return limit_size(dead_letter, context.size_limits.get(str(policies.dead_letter_topic)), shorten=True)


def group_rules() -> str:
    """The `rules` for groups and joined pairs: every error is a write error."""
    return rules(read=True, write=True, only_phase="write")


def origin_of_group(write: WriteTopic, relation: Relation, key: Column) -> Origin:
    """The origin of a group or joined pair: the row itself, with its key encoded and its value as JSON."""
    group = group_rules() if write.errors.write != "fail" else rules(read=False, write=False)
    value = encode(relation.whole("value"), JSON_FORMAT, write.input.value_type)
    record = {
        "key": attempt(key, None, group)["value"],
        "value": attempt(value, None, group)["value"],
        "topic": F.lit(write.topic),
        "partition": F.lit(None).cast(STRING),
        "offset": F.lit(None).cast(STRING),
        "ts": relation.decoded["ts"],
        "headers": F.lit(None).cast(HEADERS),
    }
    origin = Origin(record=record, rules=group)
    attempted = relation.origin  # has the errors since the operator returned the row
    return origin if attempted is None else replace(origin, error=attempted.error, attempts=attempted.attempts)


# --- counts ---


def _failure_counts(writes: Iterable[WriteTopic]) -> Iterator[Column]:
    """The number of failed records by action, error code and topic."""
    keys: dict[tuple[FailureAction, str, str], None] = {}
    for write in writes:
        topics = (write.topic,) if write.stateful else tuple(source_topics(write))
        phases: tuple[tuple[Policy, tuple[str, ...]], ...] = (
            (write.errors.read, READ_CODES),
            (write.errors.write, WRITE_CODES),
        )
        if write.stateful:
            # `failed_row_filter` counts the read errors.
            phases = ((write.errors.write, (MALFORMED, *WRITE_CODES)),)
            if write.errors.late == "dlq":
                late = [(_ACTIONS["dlq"], LATE, topic) for topic in source_topics(write)]
                keys |= dict.fromkeys(late)
        keys |= dict.fromkeys(
            (_ACTIONS[policy], code, topic)
            for policy, codes in phases
            if policy in _ACTIONS
            for code in codes
            for topic in topics
        )
    return (_failure_count(*key) for key in keys)


def _failure_count(action: FailureAction, code: str, topic: str) -> Column:
    same = (F.col(ERROR_ACTION) == action) & (F.col(_ERROR_CODE) == code) & (F.col(_ERROR_TOPIC) == topic)
    return F.count(F.when(same, F.lit(1))).alias(failure_count_name(action, code, topic))


def source_topics(write: WriteTopic) -> dict[str, None]:
    """The topics that an INSERT reads, in the order of the plan."""
    return {node.schema.topic: None for node in nodes(write.input) if isinstance(node, ReadTopic)}


def insert_identity(write: WriteTopic) -> str:
    """The name of an INSERT in identities of its records. The same place in another source is another record."""
    return f"{write.insert}/{','.join(source_topics(write))}"


def dead_letter_identity(write: WriteTopic) -> str:
    """The name of a stateful INSERT in identities of dead letters, before the topic of the record."""
    return f"{write.insert}#dead/"


def count_failed_records(rows: DataFrame, query: Query) -> DataFrame:
    """The records and dead letters to write, without error columns. Failed records are counted.

    Args:
        rows: with error columns.
        query: which writes them.
    """
    counts = list(_failure_counts(write for write in query.writes if isinstance(write, WriteTopic))) or list(
        _dead_letter_counts(query)
    )
    observed = rows.observe(f"{ERRORS_METRIC}0", *counts) if counts else rows
    return observed.where(F.col(ERROR_ACTION).isNull() | _is_dead_letter()).drop(*_ERROR_COLUMNS)


def _dead_letter_counts(query: Query) -> Iterator[Column]:
    topics = dict.fromkeys(topic for write in query.dead_letters_of for topic in source_topics(write))
    return (_failure_count(_ACTIONS["dlq"], code, topic) for code in READ_CODES for topic in topics)


# --- late records ---


def late_origin(record: Column, intervals: Column) -> Origin:
    """The origin of rows that are late records.

    Args:
        record: LATE_RECORD.
        intervals: LATE_FOR.
    """
    fields = {"phase": _LATE_PHASE, "code": LATE, "message": _LATE_MESSAGE}
    error = F.struct(*(F.lit(text).alias(name) for name, text in fields.items()))
    return Origin(record={name: record[name] for name in ORIGIN}, rules="", error=error, late_for=intervals)


def with_late_records(origin: Origin, late: LateRecord) -> Origin:
    """The origin of rows, some of which are late records."""
    is_late = late.record.isNotNull()
    of_late = late_origin(late.record, late.intervals)
    assert of_late.error is not None
    record = {name: F.when(is_late, of_late.record[name]).otherwise(value) for name, value in origin.record.items()}
    other = F.lit(None).cast(RECORD_ERROR) if origin.error is None else origin.error
    return replace(
        origin,
        record=record,
        error=F.when(is_late, of_late.error).otherwise(other),
        late_for=F.when(is_late, of_late.late_for),
    )


def late_dead_letters(rows: DataFrame, write: WriteTopic, context: OutputContext) -> DataFrame:
    """The dead letters of late records, with error columns.

    Args:
        rows: LATE_RECORD and LATE_FOR.
    """
    origin = late_origin(F.col(LATE_RECORD), F.col(LATE_FOR))
    failed = _with_error_columns(rows, write.errors, origin)
    return _dead_letters(failed, write.errors, origin, context, f"{write.insert}#late/")


def with_error_columns(frame: DataFrame) -> DataFrame:
    """Output rows with error columns; null if no errors are handled."""
    missing = [name for name in _ERROR_COLUMNS if name not in frame.columns]
    return frame.select("*", *(F.lit(None).cast(STRING).alias(name) for name in missing))


# --- inputs of stateful operators ---


def ignore_failed_rows(frame: DataFrame, origin: Origin) -> DataFrame:
    """Removes failed rows without counting them: another step reads the same rows, and counts them."""
    assert origin.error is not None
    return frame.where(origin.error.isNull())


def failed_row_filter(write: WriteTopic) -> FailedRowHandler:
    """Removes failed rows from the input of a stateful operator. Under the policy `continue` it counts them."""
    number = 0

    def drop_failed_rows(frame: DataFrame, origin: Origin) -> DataFrame:
        nonlocal number
        assert origin.error is not None
        if write.errors.read == "continue":
            number += 1
            counts = [_failure_count("skipped", code, topic) for code in READ_CODES for topic in source_topics(write)]
            frame = _with_error_columns(frame, write.errors, origin).observe(f"{ERRORS_METRIC}{number}", *counts)
        return frame.where(origin.error.isNull())

    return drop_failed_rows


def failed_group_filter(write: WriteTopic) -> FailedRowHandler:
    """Removes failed groups and joined pairs from the input of the next operator, and counts them."""
    number = 0

    def drop_failed_rows(frame: DataFrame, origin: Origin) -> DataFrame:
        nonlocal number
        assert origin.error is not None
        number += 1
        counts = [
            F.count(F.when(origin.error["code"] == code, F.lit(1))).alias(
                failure_count_name("skipped", code, write.topic)
            )
            for code in READ_CODES
        ]
        return frame.observe(f"{ERRORS_METRIC}of-rows-{number}", *counts).where(origin.error.isNull())

    return drop_failed_rows


def dead_letter_collector(write: WriteTopic, context: OutputContext, collected: list[DataFrame]) -> FailedRowHandler:
    """Appends the dead letters of failed rows to `collected`, and keeps the rows."""

    def collect_dead_letters(frame: DataFrame, origin: Origin) -> DataFrame:
        rows = _with_error_columns(frame, write.errors, origin)
        collected.append(_dead_letters(rows, write.errors, origin, context, dead_letter_identity(write)))
        return frame

    return collect_dead_letters
