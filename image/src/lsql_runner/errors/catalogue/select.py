"""SELECT: projections, groups and results."""

from __future__ import annotations

from lsql_runner.errors.kinds import ErrorKind

SELECT: dict[str, ErrorKind] = {
    "STAR_MISPLACED": ErrorKind(
        "`*` cannot be used as a value.", "Use a field. `*` is allowed in SELECT * and COUNT(*)."
    ),
    "STAR_OF_SCALAR": ErrorKind("{name}.* needs a struct; {name} has the type {found}.", "Write {name} without `.*`."),
    "STAR_WITH_AGGREGATE": ErrorKind(
        "SELECT * cannot be combined with GROUP BY or an aggregate.", "Name the grouped fields and the aggregates."
    ),
    "PROJECTION_DUPLICATE": ErrorKind(
        "The SELECT sets {name} twice.",
        "Give one of the two another alias with AS; a path without an alias has the name of its last part.",
    ),
    "PROJECTION_CONFLICT": ErrorKind(
        "The SELECT sets {name} as a whole and fields of it.", "Set either {name} or its fields."
    ),
    "PROJECTION_TARGET_INVALID": ErrorKind(
        "A SELECT cannot set {name}.", "Use the name of a field, _key or _value as the alias."
    ),
    "VALUE_MISSING": ErrorKind(
        "The SELECT sets the key but no value.", "Add `*` or a field. For a tombstone, add NULL AS _value."
    ),
    "FINAL_WITHOUT_WINDOW": ErrorKind(
        "emit='final' needs a window: without one, no result is ever final.", "Add a window, or SET emit='changes'."
    ),
    "HAVING_WITHOUT_AGGREGATE": ErrorKind(
        "The SELECT has a HAVING but no aggregate.", "Add an aggregate, or use WHERE."
    ),
    "NAME_DUPLICATE": ErrorKind("{name} is defined twice.", "Rename one of the two."),
    "TARGET_IS_WITH_QUERY": ErrorKind(
        "{name} is a WITH query; INSERT INTO cannot write to it.", "Name a topic after INSERT INTO."
    ),
    "AGGREGATE_MISPLACED": ErrorKind("The aggregate {function} is not allowed in {clause}.", "{instead}."),
    "AGGREGATE_MISSING": ErrorKind(
        "The SELECT has a GROUP BY but no aggregate.", "Add an aggregate, for example COUNT(*) AS n."
    ),
    "NOT_GROUPED": ErrorKind(
        "{name} is neither in GROUP BY nor in an aggregate.", "Add it to GROUP BY, or aggregate it, as in MAX({name})."
    ),
    "GROUP_KEY_DUPLICATE": ErrorKind(
        "GROUP BY has two fields with the name {name}, and the fields of the key get these names.",
        "Remove one of the two, or give it an alias in a WITH query and GROUP BY the alias.",
    ),
    "KEY_IN_AGGREGATE": ErrorKind(
        "A SELECT with an aggregate cannot set _key: the key is the group.",
        "GROUP BY the value that the key should have.",
    ),
}
