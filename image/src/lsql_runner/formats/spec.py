"""The row of a format in the table of formats: the functions and properties in which formats differ.

Other packages use only the row: nothing outside of `formats` compares a format's name. Two tables with the
same keys read and write the bytes: `compile.codecs` in Spark, `cases.codecs` in Python.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from typing import Literal as OneOf

from lsql_runner.errors import Detail, DetailError, DetailTable
from lsql_runner.formats.catalog import Format, Serde
from lsql_runner.types import DataType

_REASONS = DetailTable(
    {
        "FIELD_NAME_INVALID": "`{field}` is not a valid field name: use letters, digits and _",
        "TYPE_RECURSIVE": "the type {type} contains itself",
    }
)


class FormatError(DetailError):
    """A schema, a type or an option that a format does not support."""

    def __init__(self, reason: Detail, path: str = "") -> None:
        super().__init__(reason.in_field(path))


class FieldNameError(FormatError):
    """A field name that a format does not allow."""

    def __init__(self, field: str) -> None:
        super().__init__(_REASONS("FIELD_NAME_INVALID", field=field))
        self.field = field


class RecursiveTypeError(FormatError):
    """A named type of a schema that contains itself; the types of the language cannot."""

    def __init__(self, type: str, path: str) -> None:
        super().__init__(_REASONS("TYPE_RECURSIVE", type=type), path)
        self.type = type
        self.path = path


class DeclarationError(DetailError):
    """An invalid declaration; the reason is the expected value with its place, as `topic orders, value: a schema`."""

    def __init__(self, expected: Detail, place: str = "") -> None:
        super().__init__(expected.at(place))


@dataclass(frozen=True, slots=True)
class Declaration:
    """The declaration, in LSQL_TOPICS or a case file, of a part in a format with many types."""

    place: str
    """For errors, as `topic orders, value`."""
    schema: Any
    options: Any = field(default_factory=dict)
    has_schema_id: bool = False


@dataclass(frozen=True, slots=True)
class SchemaSetting:
    """A SET key for the schema of a target's part, as `defaults.topic.value.<key>`."""

    key: str
    kind: OneOf["name", "dotted name", "boolean"]


@dataclass(frozen=True, slots=True)
class OutputSchema:
    """What determines the schema of a target's part, apart from the type."""

    name: str
    """The name of the record or message, derived from the topic's name; a setting overrides it."""
    is_open: bool
    """Whether records may have fields that the type does not name, as records that pass through unchanged do."""
    settings: Mapping[str, str] = field(default_factory=dict)
    """Values by the key of a SchemaSetting, for the keys that the program sets. A boolean is `true` or `false`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RegisteredText:
    """A schema of a registry, with samples of the topic that uses it."""

    text: str
    references: Mapping[str, str]
    """All schemas that it refers to, directly or not, by the names in the references."""
    samples: Sequence[bytes]
    """Some records of the part."""
    options: Mapping[str, str]
    """The options of the serde that an earlier start determined; empty on the first start."""
    writer: Callable[[], str | None]
    """Returns the text of the schema of the newest record; None if the registry does not have it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RegistryRow:
    """How a format uses a schema registry."""

    kind: str
    """The registry's name of the format (`schemaType`)."""
    in_every_record: bool
    """Whether every record begins with the id of its schema; if not, `Serde.has_schema_id` says so for a topic."""
    schema_is_json: bool
    read: Callable[[RegisteredText], Serde | None]
    """Returns the serde of a registered schema; None if neither the schema nor a sample determines the type.

    Raises FormatError."""
    write: Callable[[Serde, OutputSchema], Serde]
    """Returns the serde with the schema to write, if the format has one. Raises FormatError."""
    revise: Callable[[str, str], str] | None = None
    """Takes a schema and the newest version of its subject; returns the schema, changed so that it is a valid next
    version."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FormatRow:
    """One format."""

    name: str
    doc: str
    """A record of the format, described in one line."""
    one_type: DataType | None = None
    """The type of all values; None for a format with many types, which has a schema."""
    is_of_keys: bool = True
    """Whether keys may have it."""
    is_written: bool = True
    """Whether targets may have it."""
    key_identity: OneOf["bytes", "canonical", "decoded"] = "decoded"
    """How equal keys are recognized: by their bytes, by the bytes of a canonical form, or by their decoded values."""
    keeps_structs: bool = False
    """Whether a computed struct is written in the format of the source."""
    fits: Callable[[DataType], bool]
    """Whether values of a type can be written without loss."""
    declare: Callable[[Format, Declaration], Serde] | None = None
    """Returns the serde of a declaration; None for formats with one type. Raises DeclarationError."""
    describe: Callable[[Serde], Any] | None = None
    """Returns the `schema` of the declaration from which `declare` returns this serde."""
    has_options: bool = False
    from_columns: Callable[[Format, DataType], Serde] | None = None
    """Returns the serde of a CREATE TABLE with these columns; None for formats whose schema needs more than columns.
    Raises FormatError."""
    infer: Callable[[Sequence[bytes], Format], Serde | None] | None = None
    """Takes some records, and returns their serde; it returns None if there are no records and a schema is needed. None
    for formats whose type is not determined by records."""
    recognizes: Callable[[Sequence[bytes]], bool] | None = None
    """Whether the records of a topic without a declared format have this one."""
    registry: RegistryRow | None = None
    settings: tuple[SchemaSetting, ...] = ()

    @property
    def is_sampled(self) -> bool:
        """Whether the fields may be inferred from a sample; then later records may add fields."""
        return self.infer is not None and self.one_type is None

    @property
    def needs_registry(self) -> bool:
        """Whether reading its records requires a schema registry."""
        return self.registry is not None and self.registry.in_every_record

    @property
    def may_have_schema_id(self) -> bool:
        """Whether records begin with a schema id in some topics and not in others."""
        return self.registry is not None and not self.registry.in_every_record

    @property
    def must_be_declared(self) -> bool:
        """Whether neither a sample nor a registry determines the type of its values."""
        return self.infer is None and self.registry is None
