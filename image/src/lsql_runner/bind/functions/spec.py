"""The rows of the function table.

A signature is the text that users read: `LPAD(text: string, length: int, pad: string = ' ') -> string`.
The kind of a parameter is one of these:

    a type name     string int long double boolean bytes date time timestamp (numbers are widened: an int fits a long)
    number          any numeric type
    integer         int or long
    text            string, or another scalar except bytes, which is converted to a string
    instant         timestamp, date (midnight UTC) or long (milliseconds since 1970 UTC)
    array, struct   any array, any struct
    any             any type
    A, B            a type variable: all arguments of the same variable are converted to their common type
    E               a type variable for types with equality: all except maps and types that contain a map
    N               a type variable for numeric types
    array<A>        an array of a type variable; also array<array<A>>
    header          the name of a header, a literal; the lowering has the value of the last header of that name
    O               a type variable for types with an order: numbers, string, boolean, date, time,
                    timestamp

`...` after a parameter means one or more arguments; after several, that they repeat in this order. `= value` makes a
parameter optional. With `literal`, the argument must be a literal.

A result is a type, a type variable of the parameters, an array of a type variable, `total of N` (long for whole
numbers, decimal for decimals, else double), `mean of N` (decimal for decimals, else double) or `array<struct>`: structs
with an element of each array, in a field whose name is the literal after the array.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal as OneOf

from lsql_runner.bind.functions.lowering import Lowering
from lsql_runner.errors import Detail
from lsql_runner.types import DataType

Nulls = OneOf["propagate", "sometimes", "never", "custom", "always"]
"""How a function treats NULL.

`propagate`: accepts no NULL in the modern dialect; in the legacy dialect, NULL if an argument is NULL.
`sometimes`: as `propagate`, but the result can also be NULL for other reasons.
`never`: accepts NULL; the result is never NULL.
`always`: accepts NULL; the result can always be NULL.
`custom`: accepts NULL; the result is NULL only if all arguments are, as for COALESCE.
"""

Default = str | int | float | bool | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Parameter:
    name: str
    kind: str
    optional: bool = False
    default: Default = None
    repeated: bool = False
    constant: bool = False
    """Whether the argument must be a literal."""
    type: DataType | None = None
    """The type of an argument of a user-defined function; then `kind` is its text."""
    refuses_null: bool = False
    """Of a user-defined function that accepts NULL for other arguments: whether it does not for this one."""


@dataclass(frozen=True, slots=True)
class Signature:
    text: str
    name: str
    parameters: tuple[Parameter, ...]
    result: str

    @property
    def min_arguments(self) -> int:
        return sum(not p.optional for p in self.parameters)

    @property
    def max_arguments(self) -> int | None:
        """None if the last parameter can be repeated."""
        return None if any(p.repeated for p in self.parameters) else len(self.parameters)

    def takes(self, count: int) -> bool:
        """Whether a call can have this number of arguments."""
        most, repeated = self.max_arguments, self._repeated
        if count < self.min_arguments or (most is not None and count > most):
            return False
        return not repeated or (count - self.min_arguments) % len(repeated) == 0

    def parameter(self, position: int) -> Parameter:
        """The parameter for the argument at `position`, counted from 0."""
        if position < len(self.parameters):
            return self.parameters[position]
        repeated = self._repeated or self.parameters[-1:]
        return repeated[(position - len(self.parameters)) % len(repeated)]

    @property
    def _repeated(self) -> tuple[Parameter, ...]:
        return tuple(p for p in self.parameters if p.repeated)


@dataclass(frozen=True, slots=True)
class Constraint:
    """The values of a parameter that are supported. It is checked for literals, before the program runs."""

    parameter: str
    regex: str
    """Matches the whole text of a valid literal."""
    expected: Detail

    def allows(self, text: str) -> bool:
        """Whether a literal with this text is valid."""
        return re.fullmatch(self.regex, text) is not None


@dataclass(frozen=True, slots=True, kw_only=True)
class Function:
    """A scalar function. `example` is an LSQL expression, `result` its value as JSON text; a test runs the example."""

    signature: Signature
    lowering: Lowering
    doc: str
    example: str
    result: str
    group: str
    nulls: Nulls = "propagate"
    aliases: tuple[str, ...] = ()
    synonyms: tuple[str, ...] = ()
    """Names of the function in other languages, for messages: they cannot be called."""
    deterministic: bool = True
    """If False, calls with the same arguments return different values, and `result` is a regular expression."""
    random_bits: int = 0
    """How many random LONGs the lowering has as arguments, after the arguments of the signature."""
    takes_headers: bool = False
    """Whether the lowering has the headers of the record as its last argument."""
    constraints: tuple[Constraint, ...] = ()
    variants: tuple[Function, ...] = ()
    """The same function with other parameters. They are tried in this order if the arguments do not fit this row."""

    @property
    def name(self) -> str:
        return self.signature.name

    @property
    def takes_nulls(self) -> bool:
        return self.nulls not in ("propagate", "sometimes")

    def takes_null_at(self, position: int) -> bool:
        """Whether the argument at `position`, counted from 0, may be NULL."""
        return self.takes_nulls and not self.signature.parameter(position).refuses_null


@dataclass(frozen=True, slots=True, kw_only=True)
class AggregateFunction:
    """An aggregate. It ignores NULL. Without any value the result is NULL, unless the aggregate is `never_null`.

    `example` runs as a test over five records whose field `x` is 2, 3, NULL, 1, 3; `result` is its value as JSON text.
    """

    signature: Signature
    doc: str
    example: str
    result: str
    group: str = "Aggregates"
    synonyms: tuple[str, ...] = ()
    """As of a Function."""
    never_null: bool = False
    depends_on_order: bool = False
    """Whether the result depends on the order of the records.

    Records are ordered by event time, then partition, offset, and position in the arrays of LATERAL.
    """
    constraints: tuple[Constraint, ...] = ()

    @property
    def name(self) -> str:
        return self.signature.name


@dataclass(frozen=True, slots=True, kw_only=True)
class SpecialForm:
    """A function whose arguments have a syntax of their own, which the parser reads.

    `example` and `result` are as in Function.
    """

    name: str
    syntax: str
    """The call and the type of its result, in place of a signature."""
    doc: str
    example: str
    result: str
    group: str
    synonyms: tuple[str, ...] = ()
    """As of a Function."""


_SIGNATURE = re.compile(r"(?P<name>[A-Z_0-9]+)\((?P<parameters>.*)\) -> (?P<result>.+)\Z")
_PARAMETER = re.compile(
    r"(?P<name>\w+): (?P<kind>[\w<>]+)(?P<constant> literal)?(?P<repeated>\.\.\.)?(?: = (?P<default>.+))?\Z"
)


def signature(text: str) -> Signature:
    """Parse the text of a signature.

    Raises:
        ValueError: the text is not a signature: a bug in the function table.
    """
    parsed = _SIGNATURE.match(text)
    if not parsed:
        raise ValueError(f"not a signature: {text!r}")
    body = parsed["parameters"]
    parameters = tuple(_parameter(part) for part in re.split(r", (?=\w+: )", body)) if body else ()
    return Signature(text, parsed["name"], parameters, parsed["result"])


def _parameter(text: str) -> Parameter:
    parsed = _PARAMETER.match(text)
    if not parsed:
        raise ValueError(f"not a parameter: {text!r}")
    default = parsed["default"]
    return Parameter(
        name=parsed["name"],
        kind=parsed["kind"],
        optional=default is not None,
        default=_default(default),
        repeated=bool(parsed["repeated"]),
        constant=bool(parsed["constant"]) or parsed["kind"] == "header",
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
    """The types of a call that fits a signature."""

    arguments: tuple[DataType, ...]
    """The types to which the arguments are converted."""
    result: DataType
