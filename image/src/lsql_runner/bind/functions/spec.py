"""What one row of the function table holds, and how a call is matched to it.

A signature is written once, as users read it: `LPAD(text: string, length: int, pad: string = ' ') -> string`.
The kinds a parameter may ask for:

    a type name     string int long double boolean bytes date timestamp (numbers widen: an int fits a long)
    number          any numeric type
    integer         int or long
    text            string, or any scalar but bytes: it is converted to its text
    instant         a point in time: timestamp, date (its midnight, UTC) or long (milliseconds since 1970 UTC)
    array, struct   any array, any struct
    any             any type
    A, B            one type variable each: arguments of the same letter are brought to their common type
    E               the same for what can be equal: anything but maps, and what holds one
    N               the same for numbers only
    O               the same for what has an order: numbers, string, boolean, date, timestamp

`...` after a parameter means once or more; `= value` makes it optional; `literal` asks for a literal.
A result is a type, a variable of the parameters, an array of one, `total of N` (long for whole numbers, decimal for
decimals, else double) or `mean of N` (decimal for decimals, else double).
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal as OneOf

from lsql_runner.bind.functions.lowering import Lowering
from lsql_runner.types import DataType

Nulls = OneOf["propagate", "sometimes", "never", "custom", "always"]
"""What a function makes of nulls. It takes none, and where the rules let one pass is null itself: `propagate`; the
same, but it may also be null for other reasons: `sometimes`. It takes nulls, and is `never` null, `always` possibly
null, or (`custom`) null only if every argument is (COALESCE and its kin)."""

Default = str | int | float | bool | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Parameter:
    name: str
    kind: str
    optional: bool = False
    default: Default = None
    repeated: bool = False
    constant: bool = False
    """Written `name: string literal`: the argument must be a literal."""


@dataclass(frozen=True, slots=True)
class Signature:
    text: str
    name: str
    parameters: tuple[Parameter, ...]
    result: str

    @property
    def least(self) -> int:
        return sum(not p.optional for p in self.parameters)

    @property
    def most(self) -> int | None:
        return None if any(p.repeated for p in self.parameters) else len(self.parameters)

    def parameter(self, position: int) -> Parameter:
        """The parameter that the argument at `position` (from zero) belongs to."""
        return self.parameters[min(position, len(self.parameters) - 1)]


@dataclass(frozen=True, slots=True)
class Form:
    """What a literal argument, as text, must look like to be supported."""

    parameter: str
    regex: str
    expected: str

    def fits(self, text: str) -> bool:
        return re.fullmatch(self.regex, text) is not None


@dataclass(frozen=True, slots=True, kw_only=True)
class Function:
    """One row. `example` is an LSQL expression, `result` its value as JSON text; both are run as a test."""

    signature: Signature
    lowering: Lowering
    doc: str
    example: str
    result: str
    group: str
    nulls: Nulls = "propagate"
    aliases: tuple[str, ...] = ()
    deterministic: bool = True
    """False: the example's value differs from call to call; `result` is then a regular expression."""
    forms: tuple[Form, ...] = ()
    """Checked where the argument is a literal, so that a mistake in it is found before anything runs."""
    variants: tuple[Function, ...] = ()
    """The same function with other parameters, in the order they are tried when this row does not fit."""

    @property
    def name(self) -> str:
        return self.signature.name

    @property
    def takes_nulls(self) -> bool:
        return self.nulls not in ("propagate", "sometimes")


@dataclass(frozen=True, slots=True, kw_only=True)
class AggregateFunction:
    """An aggregate's row. Nulls are left out; without any value the result is null, unless it is `never_null`.

    `example` is taken over five records whose field `x` is 2, 3, null, 1, 3; `result` is its value as JSON text. Both
    are run as a test.
    """

    signature: Signature
    doc: str
    example: str
    result: str
    group: str = "Aggregates"
    never_null: bool = False
    depends_on_order: bool = False
    """The order of the records counts: by event time, then partition, offset, and place in the arrays of LATERAL."""
    forms: tuple[Form, ...] = ()
    """As of a Function."""

    @property
    def name(self) -> str:
        return self.signature.name


_SIGNATURE = re.compile(r"(?P<name>[A-Z_0-9]+)\((?P<parameters>.*)\) -> (?P<result>.+)\Z")
_PARAMETER = re.compile(
    r"(?P<name>\w+): (?P<kind>\w+)(?P<constant> literal)?(?P<repeated>\.\.\.)?(?: = (?P<default>.+))?\Z"
)


def signature(text: str) -> Signature:
    """Read a signature.

    Raises:
        ValueError: the text is not one; only a mistake in the table can cause it.
    """
    found = _SIGNATURE.match(text)
    if not found:
        raise ValueError(f"not a signature: {text!r}")
    body = found["parameters"]
    parameters = tuple(_parameter(part) for part in re.split(r", (?=\w+: )", body)) if body else ()
    return Signature(text, found["name"], parameters, found["result"])


def _parameter(text: str) -> Parameter:
    found = _PARAMETER.match(text)
    if not found:
        raise ValueError(f"not a parameter: {text!r}")
    default = found["default"]
    return Parameter(
        name=found["name"],
        kind=found["kind"],
        optional=default is not None,
        default=_default(default),
        repeated=bool(found["repeated"]),
        constant=bool(found["constant"]),
    )


def _default(text: str | None) -> Default:
    if text is None or text == "NULL":
        return None
    if text.startswith("'"):
        return text[1:-1]
    if text in ("true", "false"):
        return text == "true"
    return float(text) if "." in text else int(text)


@dataclass(frozen=True, slots=True)
class Match:
    """A call that fits: the type each argument is brought to, and the type of the result."""

    arguments: tuple[DataType, ...]
    result: DataType
