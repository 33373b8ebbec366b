"""State that a start converts, for a query that groups in the same way and has other aggregates.

Aggregates are added, with the values of an empty group, removed, or get a wider type. Others keep their values.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from lsql_runner.plan.fingerprint import QueryFingerprint, described_nodes
from lsql_runner.plan.layout import SUMS, layout_without_aggregates
from lsql_runner.plan.meaning import Value, canonical
from lsql_runner.plan.queries import Query
from lsql_runner.types import DOUBLE, FLOAT, INT, LONG, DataType, Decimal, parse_type, wider_numeric

_WITH_NUMBERS = frozenset({"COUNT", "SUM", "AVG", "MIN", "MAX"})
"""Aggregates whose state has one number in each column, which can be converted to a wider type."""
_WIDER: dict[DataType, tuple[DataType, ...]] = {INT: (LONG, DOUBLE), LONG: (DOUBLE,), FLOAT: (DOUBLE,)}


@dataclass(frozen=True, slots=True, kw_only=True)
class Conversion:
    """How the groups of a query continue those of another query, which has other aggregates."""

    old: QueryFingerprint
    """The other query."""
    new: QueryFingerprint
    aggregates: tuple[int | None, ...]
    """By aggregate of the query: the number of the stored one whose values it continues; None if it is new."""
    added: tuple[str, ...]
    """The functions of new aggregates, as below."""
    removed: tuple[str, ...]
    widened: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ConvertedQuery:
    """A query whose state is converted for the same query with other aggregates."""

    old: Query
    """The query that the state belongs to."""
    new: Query
    aggregates: tuple[int | None, ...]
    """By aggregate of `new`: the number of that of `old` whose values it continues; None for an empty one."""


def conversion(query: QueryFingerprint, old: QueryFingerprint) -> Conversion | None:
    """The conversion of the state of a query for another one; None if the state cannot be converted.

    At least one aggregate has to continue its values: else there is nothing to keep. If an aggregate is removed and one
    of the same function is added, nobody can say whether its argument was changed, and the state is not converted.
    """
    was, now = _aggregates(old), _aggregates(query)
    if was is None or now is None or layout_without_aggregates(query) != layout_without_aggregates(old):
        return None
    places = _continued(was, now, handles_errors=old.state["write_errors"] != "fail")
    both = [(was[place], new) for place, new in zip(places, now, strict=True) if place is not None]
    added = [new for place, new in zip(places, now, strict=True) if place is None]
    removed = [each for number, each in enumerate(was) if number not in places]
    if not both or not {_function(each) for each in added}.isdisjoint(map(_function, removed)):
        return None
    return Conversion(
        old=old,
        new=query,
        aggregates=tuple(places),
        added=tuple(map(_shown, added)),
        removed=tuple(map(_shown, removed)),
        widened=tuple(_shown(new) for before, new in both if not _is_equal(before, new)),
    )


def _aggregates(query: QueryFingerprint) -> list[Value] | None:
    """The aggregates of the only operator that has groups of records; None if there is none, or more than one."""
    found: list[list[Value]] = [
        node["aggregates"] for node in described_nodes(query.state) if node.get("operator") == "aggregate"
    ]
    return found[0] if len(found) == 1 else None


def _continued(was: Sequence[Value], now: Sequence[Value], *, handles_errors: bool) -> list[int | None]:
    """By aggregate: the number of the stored one whose values it continues."""
    free, places = dict(enumerate(was)), dict[int, int]()

    def is_widened(old: Value, new: Value) -> bool:
        return _is_widened(old, new) and not (handles_errors and old[1] in SUMS)

    for continues in (_is_equal, is_widened):
        for place, new in enumerate(now):
            number = next((number for number, old in free.items() if continues(old, new)), None)
            if place not in places and number is not None:
                places[place] = number
                del free[number]
    return [places.get(place) for place in range(len(now))]


def _function(aggregate: Value) -> str:
    return str(aggregate[1])


def _is_equal(old: Value, new: Value) -> bool:
    return canonical(old) == canonical(new)


def _is_widened(old: Value, new: Value) -> bool:
    """Whether an aggregate is another one over the same field, where a type is wider."""
    (_, function, before, limit, was), (_, other, after, other_limit, now) = old, new
    if function not in _WITH_NUMBERS or (function, limit) != (other, other_limit):
        return False
    old_field, new_field = _field(before), _field(after)
    if old_field is None or new_field is None or old_field.place != new_field.place:
        return False
    if function in SUMS and _has_decimals(was, now, old_field.type, new_field.type):
        return False
    return _is_wider(was, now) and _is_wider(old_field.type, new_field.type)


def _has_decimals(*types: str) -> bool:
    return any(isinstance(parse_type(each), Decimal) for each in types)


@dataclass(frozen=True, slots=True)
class _Field:
    place: str
    name: str
    type: str


def _field(value: Value) -> _Field | None:
    """The field that an argument is, or that it casts to a wider type; None for another argument."""
    match value:
        case ["field", base, path, kind]:
            return _Field(canonical([base, path]), ".".join(path) or "_value", kind)
        case ["cast", operand, kind] if (field := _field(operand)) is not None and _is_wider(field.type, kind):
            return replace(field, type=kind)
    return None


def _is_wider(was: str, now: str) -> bool:
    """Whether a type has all numbers of another one, or is equal."""
    if was == now:
        return True
    old, new = parse_type(was), parse_type(now)
    if isinstance(old, Decimal) and isinstance(new, Decimal):
        return wider_numeric(old, new) == new
    return new in _WIDER.get(old, ())


def _shown(aggregate: Value) -> str:
    """An aggregate for people."""
    _, function, argument, _, _ = aggregate
    field = _field(argument)
    return f"{function}({'*' if argument is None else '...' if field is None else field.name})"
