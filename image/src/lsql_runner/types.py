"""The types of LSQL values, shared by every stage after the parser.

A type does not include nullability: fields and expressions have it. `describe` returns the text of a type, which users
see and which is stored beside checkpoints; `parse_type` parses it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from lsql_runner.errors import DetailError, DetailTable


@dataclass(frozen=True, slots=True)
class Scalar:
    """A type without parameters, named as in `CAST(x AS <name>)`."""

    name: str


INT = Scalar("int")
LONG = Scalar("long")
FLOAT = Scalar("float")
DOUBLE = Scalar("double")
STRING = Scalar("string")
BOOLEAN = Scalar("boolean")
BYTES = Scalar("bytes")
DATE = Scalar("date")
TIME = Scalar("time")
"""A time of day with microseconds."""
TIMESTAMP = Scalar("timestamp")
NUMBER = Scalar("number")
"""A DOUBLE as the text that it has in its JSON record. Only the planner gives columns this type: see `plan.numbers`."""
NUMERIC = Scalar("numeric")
"""An exact number of 38 digits, 18 of them after the point; in JSON any number, written without zeros at its end.
Fields that are whole numbers in every record of a sample have it."""
DIGITS = Scalar("digits")
"""A NUMERIC as the text that it has in its JSON record, as NUMBER for DOUBLE."""
JSON = Scalar("json")
"""Any value of JSON, as its text: of fields whose type no record of a sample shows. Expressions pass it on unchanged,
or test it for NULL."""
NULL = Scalar("null")
"""The type of the literal NULL, which is accepted as a value of every type."""

SCALARS: dict[str, Scalar] = {
    t.name: t for t in (INT, LONG, FLOAT, DOUBLE, STRING, BOOLEAN, BYTES, DATE, TIME, TIMESTAMP)
}


MAX_PRECISION = 38
"""The maximum number of digits of a decimal."""


@dataclass(frozen=True, slots=True)
class Decimal:
    """A fixed-point number of `precision` digits, `scale` of them after the point."""

    precision: int = MAX_PRECISION
    scale: int = 18


@dataclass(frozen=True, slots=True)
class Array:
    element: DataType
    nullable: bool = field(default=True, compare=False)
    """Whether elements can be NULL. Decoding checks it; expressions treat every element as nullable."""


@dataclass(frozen=True, slots=True)
class Map:
    value: DataType
    """Keys are always strings, as in the supported formats."""
    nullable: bool = field(default=True, compare=False)
    """Whether values can be NULL, as in Array."""


@dataclass(frozen=True, slots=True)
class Field:
    name: str
    type: DataType
    nullable: bool = True


@dataclass(frozen=True, slots=True)
class Struct:
    fields: tuple[Field, ...]

    def field(self, name: str) -> Field | None:
        """The field called exactly `name` (LSQL field names are case-sensitive), or None."""
        return next((f for f in self.fields if f.name == name), None)

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(f.name for f in self.fields)


DataType = Scalar | Decimal | Array | Map | Struct

_NUMERIC_RANK: dict[DataType, int] = {INT: 0, LONG: 1, NUMERIC: 2, FLOAT: 4, DOUBLE: 5}
_DECIMAL_RANK = 3


def is_numeric(t: DataType) -> bool:
    return isinstance(t, Decimal) or t in _NUMERIC_RANK


def is_integer(t: DataType) -> bool:
    return t in (INT, LONG)


def _rank(t: DataType) -> int:
    return _DECIMAL_RANK if isinstance(t, Decimal) else _NUMERIC_RANK[t]


_EXACT: dict[DataType, Decimal] = {INT: Decimal(10, 0), LONG: Decimal(19, 0), NUMERIC: Decimal()}


def _as_decimal(t: DataType, other: DataType) -> DataType:
    """If `other` is a decimal, the decimal type that has all digits of the exact type `t`; otherwise `t`."""
    return _EXACT.get(t, t) if isinstance(other, Decimal) else t


def wider_numeric(a: DataType, b: DataType) -> DataType:
    """The numeric type that both operands are converted to, int < long < numeric < decimal < float < double."""
    a, b = _as_decimal(a, b), _as_decimal(b, a)
    if isinstance(a, Decimal) and isinstance(b, Decimal):
        scale = max(a.scale, b.scale)
        whole = max(a.precision - a.scale, b.precision - b.scale)
        return Decimal(min(38, whole + scale), scale)
    return a if _rank(a) >= _rank(b) else b


def common_type(a: DataType, b: DataType) -> DataType | None:
    """The type that values of `a` and `b` are converted to (in CASE, COALESCE, comparisons), or None."""
    if b in (a, NULL):
        return a
    if a == NULL:
        return b
    if is_numeric(a) and is_numeric(b):
        return wider_numeric(a, b)
    if {a, b} == {DATE, TIMESTAMP}:
        return TIMESTAMP
    if isinstance(a, Array) and isinstance(b, Array):
        element = common_type(a.element, b.element)
        return None if element is None else Array(element)
    return None


def describe(t: DataType) -> str:
    """The text of a type: `long`, `decimal(38,18)`, `array<string>`, `struct<a: int, b: string>`."""
    match t:
        case Scalar(name):
            return name
        case Decimal(precision, scale):
            return f"decimal({precision},{scale})"
        case Array(element, nullable):
            return f"array<{describe_with_null(element, nullable)}>"
        case Map(value, nullable):
            return f"map<string, {describe_with_null(value, nullable)}>"
        case Struct(fields):
            return "struct<" + ", ".join(_describe_field(f) for f in fields) + ">"


_BARE_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\Z")


def _describe_field(f: Field) -> str:
    name = f.name if _BARE_NAME.match(f.name) else "`" + f.name.replace("`", "``") + "`"
    return f"{name}: {describe_field_type(f)}"


def describe_field_type(f: Field) -> str:
    """The text of a field's type, with its nullability: `long`, `long not null`."""
    return describe_with_null(f.type, f.nullable)


def describe_with_null(t: DataType, nullable: bool) -> str:
    """The text of a type with the nullability of its values: `long`, `long not null`."""
    return describe(t) + ("" if nullable else " not null")


_TOKEN = re.compile(r"\s*(`(?:[^`]|``)*`|[A-Za-z_][A-Za-z0-9_]*|\d+|[<>(),:])")


_REASONS = DetailTable(
    {
        "UNEXPECTED": "unexpected {found} in the type {text}",
        "TEXT_ENDS": "the type {text} ends where {expected} is expected",
        "EXPECTED": "expected {expected} and not {found} in the type {text}",
        "TYPE_UNKNOWN": "unknown type {type}; the types are {known}",
        "NOT_A_NUMBER": "expected a number and not {found} in the type {text}",
        "TOO_DEEP": "the type is nested more than {limit} levels deep",
        "DECIMAL_RANGE": "decimal({precision},{scale}) is out of range: 1 <= precision <= 38, 0 <= scale <= precision",
    }
)


MAX_TYPE_DEPTH = 100
"""How deeply types may be nested. Readers and writers of values call themselves for each level."""
_SHOWN_CHARS = 80


def _quote(text: str) -> str:
    """The text in quotes, without its end if it is long."""
    return repr(text if len(text) <= _SHOWN_CHARS else f"{text[:_SHOWN_CHARS]}...")


class TypeTextError(DetailError):
    """A text that is not a type."""


def parse_type(text: str) -> DataType:
    """Parse the text that `describe` returns.

    Raises:
        TypeTextError: the text is not a type.
    """
    words = _TypeWords(text)
    parsed = words.read_type()
    words.expect_end()
    return parsed


def parse_field(name: str, text: str) -> Field:
    """The field of this name whose type is the text that `describe_field_type` returns.

    Raises:
        TypeTextError: as `parse_type`.
    """
    words = _TypeWords(text)
    parsed, nullable = words.read_field_type()
    words.expect_end()
    return Field(name, parsed, nullable)


class _TypeWords:
    """Parses the text of a type."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._words = list(self._split(text))
        self._at = 0
        self._depth = 0

    @staticmethod
    def _split(text: str) -> Iterator[str]:
        at = 0
        while at < len(text.rstrip()):
            match = _TOKEN.match(text, at)
            if not match:
                raise TypeTextError(_REASONS("UNEXPECTED", found=repr(text[at:].strip()[:20]), text=_quote(text)))
            yield match.group(1)
            at = match.end()

    def _next(self, expected: str) -> str:
        if self._at >= len(self._words):
            raise TypeTextError(_REASONS("TEXT_ENDS", expected=expected, text=_quote(self._text)))
        self._at += 1
        return self._words[self._at - 1]

    def _take(self, word: str) -> bool:
        if self._at < len(self._words) and self._words[self._at].lower() == word:
            self._at += 1
            return True
        return False

    def _expect(self, word: str) -> None:
        actual = self._next(repr(word))
        if actual != word:
            raise TypeTextError(_REASONS("EXPECTED", expected=repr(word), found=repr(actual), text=_quote(self._text)))

    def expect_end(self) -> None:
        if self._at < len(self._words):
            rest = repr(self._words[self._at])
            raise TypeTextError(_REASONS("UNEXPECTED", found=rest, text=_quote(self._text)))

    def read_type(self) -> DataType:
        self._depth += 1
        if self._depth > MAX_TYPE_DEPTH:
            raise TypeTextError(_REASONS("TOO_DEEP", limit=MAX_TYPE_DEPTH))
        parsed = self._read_type()
        self._depth -= 1
        return parsed

    def _read_type(self) -> DataType:
        word = self._next("a type").lower()
        if word in SCALARS:
            return SCALARS[word]
        match word:
            case JSON.name:
                return JSON
            case NUMERIC.name:
                return NUMERIC
            case "decimal":
                return self._read_decimal()
            case "array":
                self._expect("<")
                element, nullable = self.read_field_type()
                self._expect(">")
                return Array(element, nullable)
            case "map":
                self._expect("<")
                self._expect("string")
                self._expect(",")
                value, nullable = self.read_field_type()
                self._expect(">")
                return Map(value, nullable)
            case "struct":
                return Struct(self._read_fields())
        known = ", ".join((*SCALARS, "decimal", "array", "map", "struct"))
        raise TypeTextError(_REASONS("TYPE_UNKNOWN", type=repr(word), known=known))

    def _read_decimal(self) -> Decimal:
        if not self._take("("):
            return Decimal()
        precision = self._read_number()
        self._expect(",")
        scale = self._read_number()
        self._expect(")")
        if not 1 <= precision <= 38 or not 0 <= scale <= precision:
            raise TypeTextError(_REASONS("DECIMAL_RANGE", precision=precision, scale=scale))
        return Decimal(precision, scale)

    def _read_number(self) -> int:
        text = self._next("a number")
        if not text.isdecimal():
            raise TypeTextError(_REASONS("NOT_A_NUMBER", found=repr(text), text=_quote(self._text)))
        return int(text)

    def _read_fields(self) -> tuple[Field, ...]:
        self._expect("<")
        fields: list[Field] = []
        while not self._take(">"):
            if fields:
                self._expect(",")
            name = self._next("the name of a field")
            if name.startswith("`"):
                name = name[1:-1].replace("``", "`")
            self._expect(":")
            fields.append(Field(name, *self.read_field_type()))
        return tuple(fields)

    def read_field_type(self) -> tuple[DataType, bool]:
        """The type of a field and its nullability."""
        parsed = self.read_type()
        if not self._take("not"):
            return parsed, True
        self._expect("null")
        return parsed, False
