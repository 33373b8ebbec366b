"""What one row of the format table holds: the functions and facts in which formats differ.

A row is all that the rest of the package asks: nothing outside of `formats` compares a format's name. The bytes
themselves are read and written by two tables of the same keys: `engine.codecs` in Spark, `cases.codecs` in Python.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from typing import Literal as OneOf

from lsql_runner.formats.catalog import Format, Serde
from lsql_runner.types import DataType


class FormatError(ValueError):
    """A schema, a type or an option that a format cannot have; the message says what and where."""


class DeclarationError(FormatError):
    """A declaration that makes no sense; the message begins with its place, as `orders.value`."""


@dataclass(frozen=True, slots=True)
class Declaration:
    """What LSQL_TOPICS or a case file says of a part whose format has many types."""

    place: str
    """For messages, as `orders.value`."""
    schema: Any
    options: Any = field(default_factory=dict)
    has_schema_id: bool = False


@dataclass(frozen=True, slots=True)
class SchemaSetting:
    """A SET for the schema that a part of a target is written with, as `defaults.topic.value.<key>`."""

    key: str
    kind: OneOf["name", "dotted name", "boolean"]


@dataclass(frozen=True, slots=True)
class OutputSchema:
    """What the schema of a target's part depends on beside the type."""

    name: str
    """Of the record or message, unless a setting says another: made of the topic's name."""
    is_open: bool
    """Whether records may have fields that the type does not name, as those that pass through have."""
    settings: Mapping[str, str] = field(default_factory=dict)
    """By the key of a SchemaSetting, where the program sets it. A boolean is `true` or `false`."""


@dataclass(frozen=True, slots=True)
class RegisteredText:
    """A schema as a registry holds it, with what else there is to know of the topic."""

    text: str
    references: Mapping[str, str]
    """The schemas that it and they refer to, by the names that they have there."""
    samples: Sequence[bytes]
    """Some records of the part."""
    options: Mapping[str, str]
    """Of the serde that an earlier start found; empty at the first."""
    writer: Callable[[], str | None]
    """The text of the schema that the newest record names, if it names one that the registry has."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RegistryRow:
    """How a format uses a schema registry."""

    kind: str
    """What the registry calls it (`schemaType`)."""
    in_every_record: bool
    """Every record begins with the id of its schema; else a topic's records do or do not (`Serde.has_schema_id`)."""
    schema_is_json: bool
    read: Callable[[RegisteredText], Serde | None]
    """How records are read that the registry has a schema of; None if it leaves the type open and no sample shows it.

    Raises FormatError."""
    write: Callable[[Serde, OutputSchema], Serde]
    """The serde with the schema that it is written with, if any. Raises FormatError."""
    revise: Callable[[str, str], str] | None = None
    """A schema and the newest version of its subject: the schema, changed so that it can follow that version."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FormatRow:
    """One format."""

    name: str
    doc: str
    """What a record is, in one line."""
    one_type: DataType | None = None
    """The type of all its values; None for a format of many types, which has a schema."""
    is_of_keys: bool = True
    is_written: bool = True
    keeps_structs: bool = False
    """A computed struct is written in the format of the source."""
    fits: Callable[[DataType], bool]
    """Whether values of a type can be written without loss."""
    declare: Callable[[Format, Declaration], Serde] | None = None
    """The serde of a declaration; None for formats of one type. Raises DeclarationError."""
    describe: Callable[[Serde], Any] | None = None
    """The `schema` that `declare` makes the serde of again."""
    has_options: bool = False
    from_columns: Callable[[Format, DataType], Serde] | None = None
    """The serde of a CREATE TABLE with these columns; None if columns do not say enough. Raises FormatError."""
    infer: Callable[[Sequence[bytes], Format], Serde | None] | None = None
    """The serde that a sample shows; None as its result if the sample is empty and a schema is needed. Without the
    function a sample shows nothing."""
    recognizes: Callable[[Sequence[bytes]], bool] | None = None
    """Whether records of a topic whose format nobody names are in this one."""
    registry: RegistryRow | None = None
    settings: tuple[SchemaSetting, ...] = ()

    @property
    def is_sampled(self) -> bool:
        """Whether its fields may be known from a sample alone, which more records may widen."""
        return self.infer is not None and self.one_type is None

    @property
    def needs_registry(self) -> bool:
        """Whether its records cannot be read without a schema registry."""
        return self.registry is not None and self.registry.in_every_record

    @property
    def may_have_schema_id(self) -> bool:
        """Whether some topics have records with a schema id, and others have not."""
        return self.registry is not None and not self.registry.in_every_record

    @property
    def must_be_declared(self) -> bool:
        """Whether neither a sample nor a registry says what is in its records."""
        return self.infer is None and self.registry is None
