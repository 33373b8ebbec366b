"""Numbers. What has no value in the reals is NaN, as in Java; a whole number that overflows fails the
record."""

from __future__ import annotations

from lsql_runner.bind.functions.lowering import Arg, CastTo, Constant, Lowering, Native, Rest, native
from lsql_runner.bind.functions.spec import Function, Signature, signature
from lsql_runner.bind.functions.strings import smaller
from lsql_runner.types import DOUBLE, INT, LONG, Decimal

GROUP = "Numbers"

X = Arg(0)
HALF = CastTo(Constant("0.5"), Decimal(1, 1))
EARTH_RADIUS_M = 6371000.0
_LONGEST = 9223372036854775807.0


def _double(text: str, doc: str, example: str, result: str) -> Function:
    """A row for a built-in of one double that has the function's own name."""
    parsed: Signature = signature(text)
    return Function(
        signature=parsed, lowering=native(parsed.name.lower(), X), doc=doc, example=example, result=result, group=GROUP
    )


def _whole(rounded: Lowering, name: str) -> Native:
    """A rounded number as long. The built-ins give the nearest long for what is outside and 0 for NaN: that
    fails here."""
    outside = native(">", native("abs", CastTo(X, DOUBLE)), _LONGEST)
    failure = native("raise_error", native("concat", f"{name}: no long holds ", native("string", X)))
    return native("if", outside, failure, CastTo(rounded, LONG))


def _haversine(lat1: Arg, lon1: Arg, lat2: Arg, lon2: Arg) -> Native:
    """Metres along the great circle between two points given in degrees."""

    def squared_sine_of_half(a: Arg, b: Arg) -> Native:
        return native("pow", native("sin", native("/", native("radians", native("-", b, a)), 2.0)), 2.0)

    cosines = native("*", native("cos", native("radians", lat1)), native("cos", native("radians", lat2)))
    h = native("+", squared_sine_of_half(lat1, lat2), native("*", cosines, squared_sine_of_half(lon1, lon2)))
    return native("*", 2.0 * EARTH_RADIUS_M, native("asin", smaller(native("sqrt", h), 1.0)))


_FRACTION = native("%", X, 1)
"""With the sign of the number, and exact for every type: adding one half first is not."""

_ROUNDS_UP = native(
    "or",
    native(">=", _FRACTION, HALF),
    native("and", native("<", _FRACTION, 0), native(">=", _FRACTION, native("negative", HALF))),
)

FUNCTIONS = (
    Function(
        signature=signature("ABS(value: N) -> N"),
        lowering=native("abs", X),
        doc="The number without its sign, in its own type.",
        example="ABS(-7)",
        result="7",
        group=GROUP,
    ),
    _double("ACOS(value: double) -> double", "The arc cosine in radians; NaN outside -1 to 1.", "ACOS(1)", "0.0"),
    _double("ASIN(value: double) -> double", "The arc sine in radians; NaN outside -1 to 1.", "ASIN(0)", "0.0"),
    _double("ATAN(value: double) -> double", "The arc tangent in radians.", "ATAN(0)", "0.0"),
    _double("CBRT(value: double) -> double", "The cube root.", "CBRT(-27)", "-3.0"),
    Function(
        signature=signature("CEIL(value: number) -> long"),
        lowering=_whole(native("ceil", X), "CEIL"),
        doc="The smallest whole number that is not below the value; fails the record where no long holds it.",
        example="CEIL(95.05)",
        result="96",
        group=GROUP,
    ),
    _double("COS(angle: double) -> double", "The cosine of an angle in radians.", "COS(0)", "1.0"),
    _double("COSH(value: double) -> double", "The hyperbolic cosine.", "COSH(0)", "1.0"),
    _double(
        "DEGREES(angle: double) -> double",
        "An angle in degrees, from radians.",
        "DEGREES(1)",
        "57.29577951308232",
    ),
    Function(
        signature=signature("DISTANCE(lat1: double, lon1: double, lat2: double, lon2: double) -> double"),
        lowering=_haversine(Arg(0), Arg(1), Arg(2), Arg(3)),
        doc="Metres between two points given by latitude and longitude in degrees: the haversine formula, "
        "on a sphere of radius 6 371 000 m.",
        example="ROUND(DISTANCE(40.791046, -73.947151, 40.865578, -73.920769))",
        result="8580",
        group=GROUP,
    ),
    Function(
        signature=signature("FLOOR(value: number) -> long"),
        lowering=_whole(native("floor", X), "FLOOR"),
        doc="The largest whole number that is not above the value; fails the record where no long holds it.",
        example="FLOOR(-1.5)",
        result="-2",
        group=GROUP,
    ),
    Function(
        signature=signature("MAX(first: N, others: N...) -> N"),
        lowering=native("greatest", Rest()),
        doc="The largest of two or more numbers, in their common type; nulls are left out, null if all are null. "
        "With one argument MAX is the aggregate.",
        example="MAX(3, 19.5, NULL)",
        result="19.5",
        group=GROUP,
        nulls="custom",
    ),
    Function(
        signature=signature("MIN(first: N, others: N...) -> N"),
        lowering=native("least", Rest()),
        doc="The smallest of two or more numbers, in their common type; nulls are left out, null if all are "
        "null. "
        "With one argument MIN is the aggregate.",
        example="MIN(3, 19, NULL)",
        result="3",
        group=GROUP,
        nulls="custom",
    ),
    Function(
        signature=signature("MOD(value: N, divisor: N) -> N"),
        lowering=native("mod", Arg(0), Arg(1)),
        doc="The remainder of a division, with the sign of the value; a divisor of 0 fails the record.",
        example="MOD(-5, 3)",
        result="-2",
        group=GROUP,
    ),
    Function(
        signature=signature("NEG(value: N) -> N"),
        lowering=native("negative", X),
        doc="The number with the other sign, in its own type.",
        example="NEG(95.95)",
        result="-95.95",
        group=GROUP,
    ),
    Function(
        signature=signature("POW(base: double, exponent: double) -> double"),
        lowering=native("pow", Arg(0), Arg(1)),
        doc="The base raised to the exponent, always a double.",
        example="POW(2, 10)",
        result="1024.0",
        group=GROUP,
    ),
    _double(
        "RADIANS(angle: double) -> double",
        "An angle in radians, from degrees.",
        "RADIANS(180)",
        "3.141592653589793",
    ),
    Function(
        signature=signature("RANDINT() -> int"),
        lowering=CastTo(native("-", native("floor", native("*", native("rand"), 4294967296.0)), 2147483648), INT),
        doc="A random whole number from -2147483648 to 2147483647, another one for each record.",
        example="RANDINT()",
        result="-?[0-9]{1,10}",
        group=GROUP,
        nulls="never",
        deterministic=False,
    ),
    Function(
        signature=signature("ROUND(value: number) -> long"),
        lowering=_whole(native("if", _ROUNDS_UP, native("ceil", X), native("floor", X)), "ROUND"),
        doc="The nearest whole number, upwards from the middle (2.5 gives 3, -2.5 gives -2); "
        "fails the record where no long holds it.",
        example="ROUND(95.95)",
        result="96",
        group=GROUP,
    ),
    Function(
        signature=signature("SIGN(value: number) -> int"),
        lowering=CastTo(native("sign", X), INT),
        doc="The sign: 1 for a positive number, -1 for a negative one, 0 for zero; NaN fails the record.",
        example="SIGN(-2.5)",
        result="-1",
        group=GROUP,
    ),
    _double("SIN(angle: double) -> double", "The sine of an angle in radians.", "SIN(0)", "0.0"),
    _double("SINH(value: double) -> double", "The hyperbolic sine.", "SINH(0)", "0.0"),
    _double("SQRT(value: double) -> double", "The square root; NaN for a negative number.", "SQRT(2.25)", "1.5"),
    _double("TAN(angle: double) -> double", "The tangent of an angle in radians.", "TAN(0)", "0.0"),
    _double("TANH(value: double) -> double", "The hyperbolic tangent.", "TANH(0)", "0.0"),
)
