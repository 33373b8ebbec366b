"""Filters rows by a condition, which may fail for some of them."""

from __future__ import annotations

from dataclasses import replace

from pyspark.sql import Column
from pyspark.sql import functions as F

from lsql_runner.compile.attempts import RECORD_ERROR
from lsql_runner.compile.relation import Relation


def where(relation: Relation, condition: Column, of_table: bool) -> Relation:
    """The rows for which a condition is true and, if errors are handled, those for which it fails, with the error.

    Args:
        relation: the input.
        condition: a BOOLEAN over its frame.
        of_table: whether the rows belong to a table: then a row for which the condition is false is deleted.
    """
    if of_table:
        return _of_table(relation, condition)
    if relation.origin is None:
        return replace(relation, frame=relation.frame.where(condition))
    attempted, holds = relation.attempt(condition)
    return replace(attempted, frame=attempted.frame.where(has_failed(attempted) | holds))


def with_value(relation: Relation) -> Relation:
    """The records of a stream that have a value; all joined records, which have one from each side."""
    has_value = relation.has_value()
    return relation if has_value is None else where(relation, has_value, of_table=False)


def has_failed(relation: Relation) -> Column:
    """Whether a row has an error. Needs an earlier attempt."""
    assert relation.origin is not None
    assert relation.origin.error is not None
    return relation.origin.error.isNotNull()


def _of_table(relation: Relation, condition: Column) -> Relation:
    assert relation.upsert is not None
    if relation.origin is None or not relation.origin.of_operator:
        # The next stateful operator, or the encoding, attempts the condition.
        present = relation.upsert.present & F.coalesce(condition, F.lit(False))
        return replace(relation, upsert=replace(relation.upsert, present=present))
    # A deleted row has its previous columns; the condition does not apply to it.
    attempted, holds = relation.attempt(F.when(relation.upsert.present, condition))
    return _split_failed(attempted, relation.origin.error, holds)


def _split_failed(attempted: Relation, earlier: Column | None, holds: Column) -> Relation:
    """Replaces a row for which the condition fails by two rows: a deletion, and a row with the error."""
    assert attempted.origin is not None
    assert attempted.origin.error is not None
    assert attempted.upsert is not None
    error = attempted.origin.error
    is_new = error.isNotNull() if earlier is None else error.isNotNull() & earlier.isNull()
    none = F.lit(None).cast(RECORD_ERROR)
    name = f"error_{attempted.origin.attempts}"
    frame = attempted.frame.select(
        "*", F.explode(F.when(is_new, F.array(none, error)).otherwise(F.array(error))).alias(name)
    )
    present = attempted.upsert.present & (F.col(name).isNotNull() | F.coalesce(holds, F.lit(False)))
    origin = replace(attempted.origin, error=F.col(name))
    return replace(attempted, frame=frame, upsert=replace(attempted.upsert, present=present), origin=origin)
