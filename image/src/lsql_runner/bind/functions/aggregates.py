"""Aggregates over the records of a group. All ignore NULL."""

from __future__ import annotations

from lsql_runner.bind.functions.expected import EXPECTED_ARGUMENT
from lsql_runner.bind.functions.spec import AggregateFunction, Constraint, signature

_MAX_VALUES = 10_000
"""The maximum number of values that an aggregate keeps. A group is one row of the state, and each batch that changes it
writes the whole row."""

_LIMIT = Constraint("limit", r"[1-9][0-9]{0,3}|10000", EXPECTED_ARGUMENT("INTEGER_RANGE", least=1, most=_MAX_VALUES))

_ORDER = "Values are ordered by event time, then by partition and offset, independent of the order of arrival."
_EMPTY = "The array is empty if all values are null."


def _first_or_last(name: str, which: str, result: str) -> AggregateFunction:
    return AggregateFunction(
        signature=signature(f"{name}(value: A) -> A"),
        doc=f"Returns the {which} value that is not null. {_ORDER}",
        example=f"{name}(x)",
        result=result,
        depends_on_order=True,
    )


def _extreme(name: str, which: str, values: str, example: str, result: str) -> AggregateFunction:
    return AggregateFunction(
        signature=signature(f"{name}(value: O, limit: integer literal = 1) -> array<O>"),
        doc=f"Returns the `limit` {which} {values} that are not null, the {which} first. Text is compared by its UTF-8 "
        f"bytes. {_EMPTY}",
        example=example,
        result=result,
        never_null=True,
        constraints=(_LIMIT,),
    )


def _by_frequency(name: str, which: str, result: str) -> AggregateFunction:
    return AggregateFunction(
        signature=signature(f"{name}(value: O, limit: integer literal = 1) -> array<O>"),
        doc=f"Returns the `limit` {which} frequent values, the {which} frequent first. Of two values with the same "
        "frequency, the smaller is first. The state of a group has all its distinct values with their counts. "
        f"{_EMPTY}",
        example=f"{name}(x, 2)",
        result=result,
        never_null=True,
        constraints=(_LIMIT,),
    )


AGGREGATES = (
    AggregateFunction(
        signature=signature("AVG(value: N) -> mean of N"),
        doc="Returns the mean of the values that are not null: a decimal with four more digits for decimals, else a "
        "double.",
        example="AVG(x)",
        result="2.25",
        synonyms=("MEAN", "AVERAGE"),
    ),
    _by_frequency("BOTTOMK", "least", "[1,2]"),
    AggregateFunction(
        signature=signature("COLLECT(value: A, limit: integer literal) -> array<A>"),
        doc=f"Returns the first `limit` values that are not null. {_ORDER} {_EMPTY}",
        example="COLLECT(x, 3)",
        result="[2,3,1]",
        synonyms=("ARRAY_AGG", "COLLECT_LIST"),
        never_null=True,
        depends_on_order=True,
        constraints=(_LIMIT,),
    ),
    AggregateFunction(
        signature=signature("COLLECT_UNIQUE(value: E, limit: integer literal) -> array<E>"),
        doc=f"Returns the first `limit` distinct values that are not null. {_ORDER} {_EMPTY}",
        example="COLLECT_UNIQUE(x, 4)",
        result="[2,3,1]",
        synonyms=("COLLECT_SET", "COUNT_DISTINCT"),
        never_null=True,
        depends_on_order=True,
        constraints=(_LIMIT,),
    ),
    AggregateFunction(
        signature=signature("COUNT(value: any) -> long"),
        doc="Returns the number of records whose value is not null. COUNT(*) counts all records that have a value.",
        example="COUNT(x)",
        result="4",
        never_null=True,
    ),
    _first_or_last("FIRST", "first", "2"),
    _first_or_last("LAST", "last", "3"),
    AggregateFunction(
        signature=signature("MAX(value: O) -> O"),
        doc="Returns the largest value that is not null. Text is compared by its UTF-8 bytes.",
        example="MAX(x)",
        result="3",
    ),
    _extreme("MAXK", "largest", "values", "MAXK(x, 2)", "[3,3]"),
    _extreme("MAXK_UNIQUE", "largest", "distinct values", "MAXK_UNIQUE(x, 2)", "[3,2]"),
    AggregateFunction(
        signature=signature("MIN(value: O) -> O"),
        doc="Returns the smallest value that is not null. Text is compared by its UTF-8 bytes.",
        example="MIN(x)",
        result="1",
    ),
    _extreme("MINK", "smallest", "values", "MINK(x, 3)", "[1,2,3]"),
    _extreme("MINK_UNIQUE", "smallest", "distinct values", "MINK_UNIQUE(x)", "[1]"),
    AggregateFunction(
        signature=signature("SUM(value: N) -> total of N"),
        doc="Returns the sum of the values that are not null: a long for whole numbers, a decimal for decimals, else "
        "a double. The record fails if the sum is outside the range of its type.",
        example="SUM(x)",
        result="9",
    ),
    _by_frequency("TOPK", "most", "[3,1]"),
)
