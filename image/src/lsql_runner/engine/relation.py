"""A plan node on the way to Spark: a DataFrame and what each of the node's columns is over it.

Columns are expressions until a node needs them as data. The source's key and value are decoded anew at
each place that looks into them, and there only the fields that this place needs: parsing a few fields
for a filter and the rest for what passes costs less than parsing everything once.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from lsql_runner.bind.catalog import Serde
from lsql_runner.bind.expr import Expr
from lsql_runner.engine.serde import decode
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


@dataclass(frozen=True, slots=True)
class Relation:
    frame: DataFrame
    ready: dict[str, Column]
    undecoded: dict[str, Undecoded]
    """`key`, `value`: decoded where an expression looks into them."""
    upsert: Upsert | None = None
    """What the rows are to a table that is made of them; None for rows that no table can be made of."""

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

    def materialized(self, generator: Column, names: tuple[str, ...]) -> Relation:
        """The same columns, and those that a generator makes, as columns of a new DataFrame."""
        raw = {f"raw_{name}": part.raw for name, part in self.undecoded.items()}
        kept = (value.alias(name) for name, value in (raw | self.ready).items())
        frame = self.frame.select(*kept, generator.alias(*names))
        undecoded = {name: replace(part, raw=F.col(f"raw_{name}")) for name, part in self.undecoded.items()}
        return Relation(frame, {name: F.col(f"`{name}`") for name in (*self.ready, *names)}, undecoded)
