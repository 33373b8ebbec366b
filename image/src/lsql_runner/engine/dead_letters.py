"""What becomes of records with an error: dead letters, or nothing; and how many there were.

Rows on their way out have the columns of `compile_query` and three more: `fate`, null for a record that is well,
`dead` or `skipped`; `error_topic` and `error_code`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from lsql_runner.bind.error_policies import ErrorPolicies, Policy
from lsql_runner.engine.attempts import MALFORMED, READ_CODES, WRITE_CODES, Origin, attempt, fit, is_first, rules
from lsql_runner.engine.packed import packed
from lsql_runner.engine.progress import ERRORS_METRIC, caught_as
from lsql_runner.engine.relation import Relation, Sift
from lsql_runner.engine.schema import HEADERS, STRING
from lsql_runner.engine.serde import encode
from lsql_runner.formats.catalog import JSON_FORMAT
from lsql_runner.plan.nodes import ReadTopic
from lsql_runner.plan.queries import Query, WriteTopic
from lsql_runner.plan.tree import nodes

HEADER = "lsql.error."
"""Before the names of the headers that a dead letter has."""

_FATES: dict[Policy, str] = {"continue": "skipped", "dlq": "dead"}
_AGAIN = "again"
"""A further row of a record that has had its fate."""
_OUTCOME = ("fate", "error_topic", "error_code")


@dataclass(frozen=True, slots=True)
class Outlet:
    """Where records go, as far as they depend on it."""

    processor: str = ""
    """The application id."""
    rooms: Mapping[str, str] = field(default_factory=dict)
    """By topic, what `room_of` gave."""
    keyed: frozenset[str] = frozenset()
    """Topics that take no record without a key."""


def fates(policies: ErrorPolicies, origin: Origin) -> Column:
    """What becomes of each row by its error; null for one without."""
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
    """The frame with the outcome of each row, one for each record."""
    assert origin.error is not None
    found = frame.select(
        "*",
        fates(policies, origin).alias("fate"),
        F.when(origin.error.isNotNull(), origin.record["topic"]).alias("error_topic"),
        origin.error["code"].alias("error_code"),
    )
    return found.where(F.col("fate").isNull() | (F.col("fate") != _AGAIN)) if origin.unnested else found


def letters(frame: DataFrame, policies: ErrorPolicies, origin: Origin, outlet: Outlet) -> DataFrame:
    """The dead letters among rows that have their fates."""
    dead = frame.where(F.col("fate") == _FATES["dlq"])
    letter = _letter(policies, origin, outlet)
    return dead.select(
        F.lit(policies.queue).alias("topic"),
        *(letter[name].alias(name) for name in ("key", "value")),
        origin.record["ts"].alias("ts"),
        letter["headers"].alias("headers"),
        *_OUTCOME,
    )


def outcome(
    frame: DataFrame, policies: ErrorPolicies, origin: Origin, outlet: Outlet, topic: str, record: Column
) -> DataFrame:
    """Records and dead letters, side by side as they come.

    Args:
        topic: the target.
        record: a struct of `ts` and `record`, itself one of key, value and headers, of rows that are well.
    """
    rows = with_fates(frame, policies, origin)
    is_dead, queue = F.col("fate") == _FATES["dlq"], policies.queue
    letter = None if queue is None else _letter(policies, origin, outlet)

    def either(good: Column, dead: Column | None) -> Column:
        return good if dead is None else F.when(is_dead, dead).otherwise(good)

    def part(name: str) -> Column:
        return either(record["record"][name], None if letter is None else letter[name])

    return rows.select(
        either(F.lit(topic), None if queue is None else F.lit(queue)).alias("topic"),
        part("key").alias("key"),
        part("value").alias("value"),
        either(record["ts"], origin.record["ts"]).alias("ts"),
        part("headers").alias("headers"),
        *_OUTCOME,
    )


def _letter(policies: ErrorPolicies, origin: Origin, outlet: Outlet) -> Column:
    """A struct of key, value and headers: the record as it came, with headers that say what is wrong with it."""
    assert origin.error is not None
    told = {
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
            for name, text in told.items()
        )
    )
    known = F.filter(headers, lambda header: header["value"].isNotNull())
    before = F.coalesce(origin.record["headers"], F.array().cast(HEADERS))
    whole = F.struct(
        origin.record["key"].alias("key"),
        origin.record["value"].alias("value"),
        F.concat(before, known).alias("headers"),
    )
    return fit(whole, outlet.rooms.get(str(policies.queue)), shortens=True)


def rules_of_rows() -> str:
    """Which faults of groups and pairs are caught, for `attempt`: all are of what is written."""
    return rules(read=True, write=True, all_are="write")


def origin_of_row(sink: WriteTopic, relation: Relation, key: Column) -> Origin:
    """The origin of what is no record of a topic: the row itself, its key encoded, its value as JSON."""
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
    known = relation.origin  # of what was attempted since an operator made the row
    return row if known is None else replace(row, error=known.error, attempts=known.attempts)


# --- how many ---


def counts(sinks: Iterable[WriteTopic]) -> Iterator[Column]:
    """How many records of each topic had an error of each code, and what became of them."""
    kinds: dict[tuple[str, str, str], None] = {}
    for sink in sinks:
        topics = (sink.topic,) if sink.stateful else tuple(_sources(sink))
        sides: tuple[tuple[Policy, tuple[str, ...]], ...] = (
            (sink.errors.read, READ_CODES),
            (sink.errors.write, WRITE_CODES),
        )
        if sink.stateful:
            sides = ((sink.errors.write, (MALFORMED, *WRITE_CODES)),)  # of what it writes; see `sifts`
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
    """The records and dead letters that are to be written, of rows with an outcome; all that have an error counted."""
    found = list(counts(sink for sink in query.sinks if isinstance(sink, WriteTopic))) or list(_letter_counts(query))
    watched = rows.observe(f"{ERRORS_METRIC}0", *found) if found else rows
    written = watched.where(F.col("fate").isNull() | (F.col("fate") == _FATES["dlq"]))
    return written.drop(*_OUTCOME)


def _letter_counts(query: Query) -> Iterator[Column]:
    topics = dict.fromkeys(topic for sink in query.dead_letters_of for topic in _sources(sink))
    return (_count(_FATES["dlq"], code, topic) for code in READ_CODES for topic in topics)


# --- what is kept ---


def sifts(sink: WriteTopic) -> Sift:
    """Leaves rows with an error out of what is kept, and counts them where nobody else does."""
    number = 0

    def sift(frame: DataFrame, origin: Origin) -> DataFrame:
        nonlocal number
        assert origin.error is not None
        if sink.errors.read == "continue":
            number += 1
            codes = [_count("skipped", code, topic) for code in READ_CODES for topic in _sources(sink)]
            frame = with_fates(frame, sink.errors, origin).observe(f"{ERRORS_METRIC}{number}", *codes)
        return frame.where(origin.error.isNull())

    return sift


def sifts_of_rows(sink: WriteTopic) -> Sift:
    """Leaves groups and pairs with an error out of what the next operator keeps, and counts them."""
    number = 0

    def sift(frame: DataFrame, origin: Origin) -> DataFrame:
        nonlocal number
        assert origin.error is not None
        number += 1
        codes = [
            F.count(F.when(origin.error["code"] == code, F.lit(1))).alias(f"{_FATES['continue']}/{code}/{sink.topic}")
            for code in READ_CODES
        ]
        return frame.observe(f"{ERRORS_METRIC}of-rows-{number}", *codes).where(origin.error.isNull())

    return sift


def collecting(sink: WriteTopic, outlet: Outlet, found: list[DataFrame]) -> Sift:
    """Puts the dead letters that the rows give beside the others."""

    def sift(frame: DataFrame, origin: Origin) -> DataFrame:
        found.append(letters(with_fates(frame, sink.errors, origin), sink.errors, origin, outlet))
        return frame

    return sift


Sifting = Callable[[WriteTopic], Sift]
