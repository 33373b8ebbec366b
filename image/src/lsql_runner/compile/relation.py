"""A plan node in Spark: a DataFrame, and an expression over it for each column of the node.

Columns stay expressions until a node needs their values. Each node decodes the key and value of a source itself, and
only the fields that it reads: decoding a few fields for a filter, and the other fields for the records that pass it,
costs less than decoding everything once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from lsql_runner.bind.expr import Expr, RandomBits, walk
from lsql_runner.compile.attempts import Origin, attempt, known_not_null
from lsql_runner.compile.codecs.table import decode
from lsql_runner.compile.identity import RECORD, RowIdentity
from lsql_runner.formats.catalog import Serde
from lsql_runner.plan.usage import type_read


@dataclass(frozen=True, slots=True)
class Undecoded:
    """A key or value that is still encoded."""

    raw: Column
    serde: Serde


@dataclass(frozen=True, slots=True)
class Upsert:
    """The effect of a row on a table."""

    row_id: Column
    """BINARY: the key of the row in the table; null for a record without a key, which cannot be a row."""
    present: Column
    """BOOLEAN, never null: false deletes the row. A deleted row has its previous columns."""
    topic: str | None = None
    """The topic of the rows, whose records may have no key; None if every row has a row id."""
    unchanged: Column | None = None
    """BOOLEAN, never null: the row is that of before the batch, and only repeated (`TaskBatch` of the JVM); None if no
    row is."""


@dataclass(frozen=True, slots=True)
class LateRecord:
    """A late record, which a stateful operator returns in place of dropping it."""

    record: Column
    """A struct of the columns in ORIGIN; null for a row that is a result."""
    intervals: Column
    """The time intervals for which it is late, a STRING."""


FailedRowHandler = Callable[[DataFrame, Origin], DataFrame]
"""Takes the rows before a stateful operator, and their origin, which has an error for each failed row. Returns the rows
that the operator reads."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Relation:
    """The rows of a plan node."""

    frame: DataFrame
    decoded: dict[str, Column]
    """Columns of the node over the frame, by name."""
    undecoded: dict[str, Undecoded]
    """`key`, `value`: decoded if an expression reads them."""
    identity: RowIdentity
    upsert: Upsert | None = None
    """The effect of the rows on a table; None for rows of a stream."""
    origin: Origin | None = None
    """If errors of records are handled: the record of each row. Then the frame contains failed rows too, and every
    computation is attempted."""
    late: LateRecord | None = None
    """Some rows are no results, but late records; None if there are none."""
    handle_failed_rows: FailedRowHandler | None = None
    """Called with the rows before a stateful operator reads them; not None if there is an origin."""

    def columns_for(self, exprs: Iterable[Expr]) -> dict[str, Column]:
        """All decoded columns, `key` and `value` decoded as far as the expressions read them, and RECORD if random
        values are derived from it."""
        expressions = list(exprs)
        columns = dict(self.decoded)
        for name, part in self.undecoded.items():
            kind = type_read(name, part.serde.type, expressions)
            if kind is not None:
                columns[name] = decode(part.raw, part.serde, kind)
        record = self.identity.record
        if record is not None and any(isinstance(part, RandomBits) for expr in expressions for part in walk(expr)):
            columns[RECORD] = record
        return columns

    def whole(self, name: str) -> Column:
        """All of `key` or `value`, decoded."""
        if name in self.decoded:
            return self.decoded[name]
        part = self.undecoded[name]
        return decode(part.raw, part.serde, part.serde.type)

    def has_value(self) -> Column | None:
        """BOOLEAN: whether the record has a value, which is not decoded for it; None if the rows have no value."""
        if "value" in self.undecoded:
            return self.undecoded["value"].raw.isNotNull()
        return self.decoded["value"].isNotNull() if "value" in self.decoded else None

    def renamed(self, suffix: str) -> Relation:
        """The same columns with a suffix on their names."""
        return replace(
            self,
            decoded={f"{name}{suffix}": value for name, value in self.decoded.items()},
            undecoded={f"{name}{suffix}": part for name, part in self.undecoded.items()},
        )

    def with_column(self, name: str, value: Column) -> Relation:
        return replace(self, decoded={**self.decoded, name: value})

    def with_undecoded(self, name: str, part: Undecoded) -> Relation:
        return replace(self, undecoded={**self.undecoded, name: part})

    def attempt(self, value: Column) -> tuple[Relation, Column]:
        """The same rows with the error of computing a value, and the value. Needs an origin."""
        assert self.origin is not None
        name = f"attempt_{self.origin.attempts}"
        frame = self.frame.select("*", attempt(value, self.origin.error, self.origin.rules).alias(name))
        return replace(self, frame=frame, origin=self.origin.after(name)), F.col(name)["value"]

    def stateful_input(self, *columns: Column) -> DataFrame:
        """The named columns as the input of a stateful operator, without failed rows."""
        plain = self.frame.select(*columns)
        if self.origin is None or self.handle_failed_rows is None:
            return plain
        attempted, values = self.attempt(F.struct(*columns))
        assert attempted.origin is not None
        valid = self.handle_failed_rows(attempted.frame, attempted.origin)
        # The state's schema contains the nullability of its columns: it must not depend on the error policy.
        never_null = {f.name for f in plain.schema.fields if not f.nullable}
        fields = ((name, values.getField(name)) for name in plain.columns)
        return valid.select(
            *((known_not_null(value) if name in never_null else value).alias(name) for name, value in fields)
        )

    def unnested(self, generator: Column, names: tuple[str, ...]) -> Relation:
        """The rows that a generator (`posexplode`) makes of each row. `names` are the names of its columns; the first
        column is the position."""
        unique = tuple(f"{name}_{len(self.frame.columns)}" for name in names)  # the frame may have columns named so
        frame = self.frame.select("*", generator.alias(*unique))
        decoded = self.decoded | {name: F.col(f"`{column}`") for name, column in zip(names, unique, strict=True)}
        origin = None if self.origin is None else replace(self.origin, unnested=True)
        identity = self.identity.unnested(F.col(f"`{unique[0]}`"))
        return replace(self, frame=frame, decoded=decoded, identity=identity, upsert=None, origin=origin)
