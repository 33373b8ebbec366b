"""The parts of a SELECT: its projections, groups and results."""

from __future__ import annotations

from lsql_runner.errors.kinds import ErrorKind

SELECT: dict[str, ErrorKind] = {
    "STAR_MISPLACED": ErrorKind(
        "`*` stands where one value is needed.",
        "Name a field; `*` alone is for SELECT * and COUNT(*).",
    ),
    "STAR_OF_SCALAR": ErrorKind(
        "{name}.* needs a struct, and {name} is {found}.",
        "Write {name} without the star.",
    ),
    "STAR_WITH_AGGREGATE": ErrorKind(
        "SELECT * beside GROUP BY or an aggregate.",
        "Name the grouped fields and the aggregates.",
    ),
    "PROJECTION_DUPLICATE": ErrorKind(
        "{name} is set twice.",
        "Give one of them another alias.",
    ),
    "PROJECTION_CONFLICT": ErrorKind(
        "{name} is set as a value and as a struct.",
        "Set the whole of it or fields inside it.",
    ),
    "PROJECTION_TARGET_INVALID": ErrorKind(
        "Nothing can be projected to {name}.",
        "Project to a field, to _key or to _value.",
    ),
    "VALUE_MISSING": ErrorKind(
        "The SELECT sets the key but no value.",
        "Add `*` or a field; for a tombstone, NULL AS _value.",
    ),
    "FINAL_WITHOUT_WINDOW": ErrorKind(
        "emit='final' asks for one result, when nothing can change it any more; without a window that is never.",
        "Add a window, or SET emit='changes'.",
    ),
    "HAVING_WITHOUT_AGGREGATE": ErrorKind(
        "There is a HAVING but nothing is aggregated.",
        "Aggregate something, or write WHERE.",
    ),
    "AGGREGATE_MISPLACED": ErrorKind(
        "{function} is an aggregate and cannot stand in {clause}.",
        "Aggregate in the SELECT list.",
    ),
    "AGGREGATE_MISSING": ErrorKind(
        "GROUP BY without an aggregate.",
        "Aggregate something, as COUNT(*) AS n.",
    ),
    "NOT_GROUPED": ErrorKind(
        "{name} is neither grouped nor aggregated.",
        "Add it to GROUP BY, or aggregate it: MAX({name}).",
    ),
    "KEY_IN_AGGREGATE": ErrorKind(
        "The key of an aggregate is its group; _key cannot be set.",
        "GROUP BY what the key should be.",
    ),
    "TARGET_IS_WITH_QUERY": ErrorKind(
        "{name} is a WITH query and cannot be a target.",
        "Name a topic after INSERT INTO.",
    ),
    "NAME_DUPLICATE": ErrorKind(
        "{name} is defined twice.",
        "Give one of them another name.",
    ),
}
