"""Aggregates over the records of a group. All leave nulls out."""

from __future__ import annotations

from lsql_runner.bind.functions.spec import AggregateFunction, Form, signature

MOST_KEPT = 10_000
"""How many values an aggregate may keep: a group is one row of the state, written anew with every batch that changes
it."""

_LIMIT = Form("limit", r"[1-9][0-9]{0,3}|10000", f"a whole number from 1 to {MOST_KEPT}")

_ORDER = "by event time, then by partition and offset, whatever the order of arrival"
_FREQUENT = "All different values of the group are counted, so its state grows with them."


def _of_order(name: str, which: str, result: str) -> AggregateFunction:
    return AggregateFunction(
        signature=signature(f"{name}(value: A) -> A"),
        doc=f"The {which} value that is not null, {_ORDER}.",
        example=f"{name}(x)",
        result=result,
        depends_on_order=True,
    )


def _extreme(name: str, what: str, example: str, result: str) -> AggregateFunction:
    return AggregateFunction(
        signature=signature(f"{name}(value: O, limit: integer literal = 1) -> array<O>"),
        doc=f"The `limit` {what}; text is compared by its UTF-8 bytes. An empty array if all are null.",
        example=example,
        result=result,
        never_null=True,
        forms=(_LIMIT,),
    )


def _ranked(name: str, what: str, result: str) -> AggregateFunction:
    return AggregateFunction(
        signature=signature(f"{name}(value: O, limit: integer literal = 1) -> array<O>"),
        doc=f"The `limit` values that came {what} first; of two that came equally often the smaller one is first. "
        f"{_FREQUENT} An empty array if all are null.",
        example=f"{name}(x, 2)",
        result=result,
        never_null=True,
        forms=(_LIMIT,),
    )


AGGREGATES = (
    AggregateFunction(
        signature=signature("AVG(value: N) -> mean of N"),
        doc="The mean of the values that are not null: a double, for decimals a decimal with four more digits.",
        example="AVG(x)",
        result="2.25",
    ),
    _ranked("BOTTOMK", "least often, the rarest", "[1,2]"),
    AggregateFunction(
        signature=signature("COLLECT(value: A, limit: integer literal) -> array<A>"),
        doc=f"The first `limit` values that are not null, {_ORDER}. An empty array if all are null.",
        example="COLLECT(x, 3)",
        result="[2,3,1]",
        never_null=True,
        depends_on_order=True,
        forms=(_LIMIT,),
    ),
    AggregateFunction(
        signature=signature("COLLECT_UNIQUE(value: E, limit: integer literal) -> array<E>"),
        doc=f"The first `limit` different values that are not null, {_ORDER}. An empty array if all are null.",
        example="COLLECT_UNIQUE(x, 4)",
        result="[2,3,1]",
        never_null=True,
        depends_on_order=True,
        forms=(_LIMIT,),
    ),
    AggregateFunction(
        signature=signature("COUNT(value: any) -> long"),
        doc="How many records have a value that is not null; COUNT(*) counts all records.",
        example="COUNT(x)",
        result="4",
        never_null=True,
    ),
    _of_order("FIRST", "first", "2"),
    _of_order("LAST", "last", "3"),
    AggregateFunction(
        signature=signature("MAX(value: O) -> O"),
        doc="The largest value that is not null, in its own type; text is compared by its UTF-8 bytes.",
        example="MAX(x)",
        result="3",
    ),
    _extreme("MAXK", "largest values that are not null, the largest first", "MAXK(x, 2)", "[3,3]"),
    _extreme("MAXK_UNIQUE", "largest different values, the largest first", "MAXK_UNIQUE(x, 2)", "[3,2]"),
    AggregateFunction(
        signature=signature("MIN(value: O) -> O"),
        doc="The smallest value that is not null, in its own type; text is compared by its UTF-8 bytes.",
        example="MIN(x)",
        result="1",
    ),
    _extreme("MINK", "smallest values that are not null, the smallest first", "MINK(x, 3)", "[1,2,3]"),
    _extreme("MINK_UNIQUE", "smallest different values, the smallest first", "MINK_UNIQUE(x)", "[1]"),
    AggregateFunction(
        signature=signature("SUM(value: N) -> total of N"),
        doc="The sum of the values that are not null: a long for whole numbers, a decimal for decimals, else a double. "
        "A sum that its type cannot hold fails the record.",
        example="SUM(x)",
        result="9",
    ),
    _ranked("TOPK", "most often, the most frequent", "[3,1]"),
)
