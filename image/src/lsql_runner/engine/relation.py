"""A plan node on the way to Spark: a DataFrame and what each of the node's columns is over it.

Columns are expressions until a node needs them as data. The source's key and value are decoded anew at
each place that looks into them, and there only the fields that this place needs: parsing a few fields
for a filter and the rest for what passes costs less than parsing everything once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from lsql_runner.bind.expr import Expr
from lsql_runner.engine.attempts import Origin, attempt, not_null
from lsql_runner.engine.codecs.table import decode
from lsql_runner.formats.catalog import Serde
from lsql_runner.plan.usage import narrowed, paths_into


@dataclass(frozen=True, slots=True)
class Undecoded:
    """A part of the record that is still bytes."""

    raw: Column
    serde: Serde


@dataclass(frozen=True, slots=True)
class Upsert:
    """What a row does to a table."""

    identity: Column
    """BINARY: which row of the table it is; null for a record without a key, of which no table can have a row."""
    present: Column
    """BOOLEAN, never null: whether the table has this row from now on. One that goes has the columns it had."""
    topic: str | None = None
    """Whose records the rows are, which may have no key; None where each row has an identity."""


Sift = Callable[[DataFrame, Origin], DataFrame]
"""Takes rows and their origin, with an error for those that are to be left out."""


@dataclass(frozen=True, slots=True)
class Relation:
    frame: DataFrame
    ready: dict[str, Column]
    undecoded: dict[str, Undecoded]
    """`key`, `value`: decoded where an expression looks into them."""
    upsert: Upsert | None = None
    """What the rows are to a table that is made of them; None for rows that no table can be made of."""
    origin: Origin | None = None
    """Where faults of records are caught: the record that each row was made of. Then rows with an error are among the
    others, and all that is computed has to be attempted."""
    sift: Sift | None = None
    """What becomes of the rows with an error where something is kept; there wherever an origin is."""

    def columns_for(self, exprs: Iterable[Expr]) -> dict[str, Column]:
        """The columns that the expressions read, with as little decoding as they allow."""
        wanted = list(exprs)
        found = dict(self.ready)
        for name, part in self.undecoded.items():
            paths = paths_into(name, wanted)
            if paths:
                found[name] = decode(part.raw, part.serde, narrowed(part.serde.type, paths))
        return found

    def whole(self, name: str) -> Column:
        """All of `key` or `value`, decoded."""
        if name in self.ready:
            return self.ready[name]
        part = self.undecoded[name]
        return decode(part.raw, part.serde, part.serde.type)

    def renamed(self, ending: str) -> Relation:
        """The same columns with an ending to their names."""
        return replace(
            self,
            ready={f"{name}{ending}": value for name, value in self.ready.items()},
            undecoded={f"{name}{ending}": part for name, part in self.undecoded.items()},
        )

    def with_ready(self, name: str, value: Column) -> Relation:
        return replace(self, ready={**self.ready, name: value})

    def with_undecoded(self, name: str, part: Undecoded) -> Relation:
        return replace(self, undecoded={**self.undecoded, name: part})

    def attempt(self, value: Column) -> tuple[Relation, Column]:
        """The same rows with the error that computing a value gave, and the value. There is an origin."""
        assert self.origin is not None
        name = f"attempt_{self.origin.attempts}"
        frame = self.frame.select("*", attempt(value, self.origin.error, self.origin.rules).alias(name))
        return replace(self, frame=frame, origin=self.origin.after(name)), F.col(name)["value"]

    def taken_in(self, *columns: Column) -> DataFrame:
        """The columns, all with names, as a frame of what an operator keeps: without the rows that have an error."""
        plain = self.frame.select(*columns)
        if self.origin is None or self.sift is None:
            return plain
        tried, values = self.attempt(F.struct(*columns))
        assert tried.origin is not None
        good = self.sift(tried.frame, tried.origin)
        never = {f.name for f in plain.schema.fields if not f.nullable}  # what is kept has a type that says so
        fields = ((name, values.getField(name)) for name in plain.columns)
        return good.select(*((not_null(value) if name in never else value).alias(name) for name, value in fields))

    def unnested(self, generator: Column, names: tuple[str, ...]) -> Relation:
        """The same columns, and those that a generator makes: all computed, and attempted, where they are read."""
        made = tuple(f"{name}_{len(self.frame.columns)}" for name in names)  # one below may be called the same
        frame = self.frame.select("*", generator.alias(*made))
        ready = self.ready | {name: F.col(f"`{own}`") for name, own in zip(names, made, strict=True)}
        origin = None if self.origin is None else replace(self.origin, unnested=True)
        return replace(self, frame=frame, ready=ready, upsert=None, origin=origin)
