"""What becomes of the rows that a condition does not hold for, and of those that it fails on."""

from __future__ import annotations

from dataclasses import replace

from pyspark.sql import Column
from pyspark.sql import functions as F

from lsql_runner.engine.attempts import FAULT
from lsql_runner.engine.relation import Relation


def where(relation: Relation, condition: Column, of_table: bool) -> Relation:
    """The rows that a condition holds for, and, where errors are caught, those that it fails on, with the error.

    Args:
        relation: what is filtered.
        condition: a BOOLEAN over its frame.
        of_table: the rows are a table's: one that the condition does not hold for is there no more.
    """
    if of_table:
        return _of_table(relation, condition)
    if relation.origin is None:
        return replace(relation, frame=relation.frame.where(condition))
    tried, holds = relation.attempt(condition)
    return replace(tried, frame=tried.frame.where(failed(tried) | holds))


def failed(relation: Relation) -> Column:
    """Whether a row has an error. Something was attempted before."""
    assert relation.origin is not None
    assert relation.origin.error is not None
    return relation.origin.error.isNotNull()


def _of_table(relation: Relation, condition: Column) -> Relation:
    assert relation.upsert is not None
    if relation.origin is None or not relation.origin.of_operator:  # attempted where a record is taken in, or written
        present = relation.upsert.present & F.coalesce(condition, F.lit(False))
        return replace(relation, upsert=replace(relation.upsert, present=present))
    # A row that is not there any more has the columns that it had: there is nothing to judge.
    tried, holds = relation.attempt(F.when(relation.upsert.present, condition))
    return _told(tried, relation.origin.error, holds)


def _told(tried: Relation, earlier: Column | None, holds: Column) -> Relation:
    """A row that the condition fails on twice: it is not there any more, and it is told with the error."""
    assert tried.origin is not None
    assert tried.origin.error is not None
    assert tried.upsert is not None
    error = tried.origin.error
    is_new = error.isNotNull() if earlier is None else error.isNotNull() & earlier.isNull()
    none = F.lit(None).cast(FAULT)
    name = f"told_{tried.origin.attempts}"
    frame = tried.frame.select(
        "*", F.explode(F.when(is_new, F.array(none, error)).otherwise(F.array(error))).alias(name)
    )
    present = tried.upsert.present & (F.col(name).isNotNull() | F.coalesce(holds, F.lit(False)))
    origin = replace(tried.origin, error=F.col(name))
    return replace(tried, frame=frame, upsert=replace(tried.upsert, present=present), origin=origin)
