"""Numbers. A result that is not a real number is NaN, as in Java. If a whole number overflows, the record fails."""

from __future__ import annotations

from lsql_runner.bind.functions.lowering import Arg, CastTo, Constant, Lowering, Native, Rest, native
from lsql_runner.bind.functions.spec import Function, Signature, signature
from lsql_runner.bind.functions.strings import smaller
from lsql_runner.jvm.java_entries import SHOW_VALUE
from lsql_runner.types import DOUBLE, INT, LONG, Decimal

GROUP = "Numbers"

X = Arg(0)
HALF = CastTo(Constant("0.5"), Decimal(1, 1))
EARTH_RADIUS_M = 6371000.0
_MAX_LONG = 9223372036854775807.0


def _double(text: str, doc: str, example: str, result: str) -> Function:
    """A function of one double. Spark's function has the same name."""
    parsed: Signature = signature(text)
    return Function(
        signature=parsed, lowering=native(parsed.name.lower(), X), doc=doc, example=example, result=result, group=GROUP
    )


def _whole(rounded: Lowering, name: str) -> Native:
    """A rounded number as a long. If it is outside the range, the record fails; Spark's cast would return the nearest
    long, or 0 for NaN."""
    is_outside = native(">", native("abs", CastTo(X, DOUBLE)), _MAX_LONG)
    shown = native(SHOW_VALUE, native("string", X), "the number")
    message = native("concat", f"{name}: ", shown, " is outside the range of a long")
    return native("if", is_outside, native("raise_error", message), CastTo(rounded, LONG))


def _haversine(lat1: Arg, lon1: Arg, lat2: Arg, lon2: Arg) -> Native:
    """Metres along the great circle between two points given in degrees."""

    def squared_sine_of_half(a: Arg, b: Arg) -> Native:
        return native("pow", native("sin", native("/", native("radians", native("-", b, a)), 2.0)), 2.0)

    cosines = native("*", native("cos", native("radians", lat1)), native("cos", native("radians", lat2)))
    h = native("+", squared_sine_of_half(lat1, lat2), native("*", cosines, squared_sine_of_half(lon1, lon2)))
    return native("*", 2.0 * EARTH_RADIUS_M, native("asin", smaller(native("sqrt", h), 1.0)))


_FRACTION = native("%", X, 1)
"""The fraction, with the sign of the number. It is exact for all types; `floor(x + 0.5)` is not."""

_ROUNDS_UP = native(
    "or",
    native(">=", _FRACTION, HALF),
    native("and", native("<", _FRACTION, 0), native(">=", _FRACTION, native("negative", HALF))),
)

FUNCTIONS = (
    Function(
        signature=signature("ABS(value: N) -> N"),
        lowering=native("abs", X),
        doc="Returns the absolute value, in the type of the argument.",
        example="ABS(-7)",
        result="7",
        group=GROUP,
    ),
    _double(
        "ACOS(value: double) -> double", "Returns the arc cosine in radians; NaN outside -1 to 1.", "ACOS(1)", "0.0"
    ),
    _double("ASIN(value: double) -> double", "Returns the arc sine in radians; NaN outside -1 to 1.", "ASIN(0)", "0.0"),
    _double("ATAN(value: double) -> double", "Returns the arc tangent in radians.", "ATAN(0)", "0.0"),
    _double("CBRT(value: double) -> double", "Returns the cube root.", "CBRT(-27)", "-3.0"),
    Function(
        signature=signature("CEIL(value: number) -> long"),
        lowering=_whole(native("ceil", X), "CEIL"),
        doc="Returns the smallest whole number that is not less than the value. The record fails if the result is "
        "outside the range of a long.",
        example="CEIL(95.05)",
        result="96",
        group=GROUP,
        synonyms=("CEILING",),
    ),
    _double("COS(angle: double) -> double", "Returns the cosine of an angle in radians.", "COS(0)", "1.0"),
    _double("COSH(value: double) -> double", "Returns the hyperbolic cosine.", "COSH(0)", "1.0"),
    _double(
        "DEGREES(angle: double) -> double",
        "Converts an angle from radians to degrees.",
        "DEGREES(1)",
        "57.29577951308232",
    ),
    Function(
        signature=signature("DISTANCE(lat1: double, lon1: double, lat2: double, lon2: double) -> double"),
        lowering=_haversine(Arg(0), Arg(1), Arg(2), Arg(3)),
        doc="Returns the distance in metres between two points, given as latitude and longitude in degrees. It uses "
        "the haversine formula on a sphere with a radius of 6 371 000 m.",
        example="ROUND(DISTANCE(40.791046, -73.947151, 40.865578, -73.920769))",
        result="8580",
        group=GROUP,
        synonyms=("HAVERSINE",),
    ),
    Function(
        signature=signature("FLOOR(value: number) -> long"),
        lowering=_whole(native("floor", X), "FLOOR"),
        doc="Returns the largest whole number that is not greater than the value. The record fails if the result is "
        "outside the range of a long.",
        example="FLOOR(-1.5)",
        result="-2",
        group=GROUP,
    ),
    Function(
        signature=signature("MAX(first: N, others: N...) -> N"),
        lowering=native("greatest", Rest()),
        doc="Returns the largest of two or more numbers, in their common type. Nulls are ignored; the result is null "
        "if all are null. With one argument, MAX is an aggregate.",
        example="MAX(3, 19.5, NULL)",
        result="19.5",
        group=GROUP,
        nulls="custom",
    ),
    Function(
        signature=signature("MIN(first: N, others: N...) -> N"),
        lowering=native("least", Rest()),
        doc="Returns the smallest of two or more numbers, in their common type. Nulls are ignored; the result is null"
        " if all are null. With one argument, MIN is an aggregate.",
        example="MIN(3, 19, NULL)",
        result="3",
        group=GROUP,
        nulls="custom",
    ),
    Function(
        signature=signature("MOD(value: N, divisor: N) -> N"),
        lowering=native("mod", Arg(0), Arg(1)),
        doc="Returns the remainder of a division, with the sign of the value. The record fails if the divisor is 0.",
        example="MOD(-5, 3)",
        result="-2",
        group=GROUP,
        synonyms=("MODULO",),
    ),
    Function(
        signature=signature("NEG(value: N) -> N"),
        lowering=native("negative", X),
        doc="Returns the number with the opposite sign, in the type of the argument.",
        example="NEG(95.95)",
        result="-95.95",
        group=GROUP,
        synonyms=("NEGATE",),
    ),
    Function(
        signature=signature("POW(base: double, exponent: double) -> double"),
        lowering=native("pow", Arg(0), Arg(1)),
        doc="Returns the base raised to the exponent, as a double.",
        example="POW(2, 10)",
        result="1024.0",
        group=GROUP,
        synonyms=("POWER",),
    ),
    _double(
        "RADIANS(angle: double) -> double",
        "Converts an angle from degrees to radians.",
        "RADIANS(180)",
        "3.141592653589793",
    ),
    Function(
        signature=signature("RANDINT() -> int"),
        lowering=CastTo(native("shiftright", Arg(0), 32), INT),
        doc="Returns a random whole number from -2147483648 to 2147483647, another one for each record. Without an "
        "aggregate or a join, a batch that runs again has the same numbers.",
        example="RANDINT()",
        result="-?[0-9]{1,10}",
        group=GROUP,
        synonyms=("RANDOM", "RAND"),
        nulls="never",
        deterministic=False,
        random_bits=1,
    ),
    Function(
        signature=signature("ROUND(value: number) -> long"),
        lowering=_whole(native("if", _ROUNDS_UP, native("ceil", X), native("floor", X)), "ROUND"),
        doc="Rounds to the nearest whole number; a value halfway between two is rounded up: 2.5 gives 3, -2.5 gives "
        "-2. The record fails if the result is outside the range of a long.",
        example="ROUND(95.95)",
        result="96",
        group=GROUP,
    ),
    Function(
        signature=signature("SIGN(value: number) -> int"),
        lowering=CastTo(native("sign", X), INT),
        doc="Returns 1 for a positive number, -1 for a negative number, 0 for zero. The record fails if the value is "
        "NaN.",
        example="SIGN(-2.5)",
        result="-1",
        group=GROUP,
    ),
    _double("SIN(angle: double) -> double", "Returns the sine of an angle in radians.", "SIN(0)", "0.0"),
    _double("SINH(value: double) -> double", "Returns the hyperbolic sine.", "SINH(0)", "0.0"),
    _double("SQRT(value: double) -> double", "Returns the square root; NaN for negative numbers.", "SQRT(2.25)", "1.5"),
    _double("TAN(angle: double) -> double", "Returns the tangent of an angle in radians.", "TAN(0)", "0.0"),
    _double("TANH(value: double) -> double", "Returns the hyperbolic tangent.", "TANH(0)", "0.0"),
)
