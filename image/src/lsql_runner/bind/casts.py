"""Which types CAST converts, and what an error advises for an expression of the wrong type."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise, permutations

from lsql_runner.errors import DetailTable
from lsql_runner.errors.details import Detail
from lsql_runner.types import (
    BOOLEAN,
    BYTES,
    DATE,
    INT,
    LONG,
    NULL,
    NUMERIC,
    SCALARS,
    STRING,
    TIME,
    TIMESTAMP,
    Array,
    DataType,
    Decimal,
    Map,
    Struct,
    describe,
    is_numeric,
)

INSTEAD = DetailTable(
    {
        "CAST": "{cast}",
        "FIELD": "the name of one of its fields: {known}",
        "MAP_VALUE": "the name of a key of the map, as in labels.name",
        "ELEMENT": "an element, as in lines[0]; LATERAL reads all elements",
        "FIELD_NAME": "{name} without quotes, or in back-ticks, if it is a field: double quotes are for text",
        "OTHER": "an expression of another type; no CAST converts this one",
    }
)
"""What to write in place of an expression of the wrong type: the parameter `instead`."""

_MAX_NAMES = 12


def can_cast(source: DataType, target: DataType) -> bool:
    """Whether CAST converts between these types. A cast of text can still fail for the value of a record."""
    if source in (target, NULL):
        return True
    if source == NUMERIC:  # whole numbers in a sample: what CAST does with a long
        return can_cast(LONG, target)
    if not (_is_scalar(source) and _is_scalar(target)):
        return False
    if STRING in (source, target):
        return True
    if is_numeric(source) and is_numeric(target):
        return True
    pairs = ({BOOLEAN, INT}, {BOOLEAN, LONG}, {LONG, TIMESTAMP}, {LONG, TIME}, {DATE, TIMESTAMP})
    return {source, target} in pairs or (source, target) == (TIMESTAMP, TIME)


def instead_of(source: DataType, targets: Sequence[DataType]) -> Detail:
    """What to write in place of an expression.

    Args:
        source: the type of the expression.
        targets: the types that fit, the best first; empty if CAST has none of them.
    """
    scalars = [target for target in targets if _is_scalar(target) and target != source]
    if _is_scalar(source) or source == NULL:
        chains = [chain for target in scalars for chain in _chains(source, target)]
        if chains:
            return INSTEAD("CAST", cast=_cast_text(min(chains, key=len)))
    elif scalars:
        match source:
            case Struct() if source.names:
                known = ", ".join(source.names[:_MAX_NAMES]) + (", ..." if len(source.names) > _MAX_NAMES else "")
                return INSTEAD("FIELD", known=known)
            case Map():
                return INSTEAD("MAP_VALUE")
            case Array():
                return INSTEAD("ELEMENT")
    return INSTEAD("OTHER")


def _chains(source: DataType, target: DataType) -> Iterator[tuple[DataType, ...]]:
    """The types to cast to, one after the other, each with `target` at its end."""
    # Only bytes are cast to string between: the text of a number is not the text of a time, and the reverse.
    between = (STRING,) if BYTES in (source, target) else (LONG, INT, TIMESTAMP)
    for count in range(len(between) + 1):
        for steps in permutations(between, count):
            if all(can_cast(a, b) and a != b for a, b in pairwise((source, *steps, target))):
                yield (*steps, target)


def _cast_text(chain: Sequence[DataType]) -> str:
    text = "..."
    for step in chain:
        text = f"CAST({text} AS {describe(step)})"
    return text


def _is_scalar(t: DataType) -> bool:
    """Whether CAST has the type; it has no arrays, maps, structs and durations."""
    return isinstance(t, Decimal) or t in SCALARS.values() or t == NUMERIC
