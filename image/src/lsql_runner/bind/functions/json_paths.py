"""JSON text in string fields: values by path."""

from __future__ import annotations

from lsql_runner.bind.functions.expected import EXPECTED_ARGUMENT
from lsql_runner.bind.functions.lowering import Arg, Lambda, Lowering, Native, Param, native
from lsql_runner.bind.functions.spec import Constraint, Function, signature

GROUP = "JSON"

JSON, PATH = Arg(0), Arg(1)

_STEP = r"(?:\.[^.\[\]*]+|\['(?!\*'\])[^'?]+'\]|\[\d{1,9}\])"
_PATHS = Constraint("path", rf"\$(?:{_STEP})*(?:\[\*\](?:{_STEP})*|\.\*)?", EXPECTED_ARGUMENT("JSON_PATH"))
"""The paths that the lowerings below support. Spark's get_json_object returns NULL for filters and `..`, which would
hide the mistake."""

_LOCAL_PATH = native("substring", native("regexp_replace", PATH, r"\.\*\z", ""), 2)
_VALUE = native(
    "get_json_object",
    native("concat", '[{"v":', JSON, "}]"),
    native("concat", "$[*].v", _LOCAL_PATH),
)
"""The value at the path without a final `.*`, as JSON; for `[*]` an array of the values.

The document is wrapped in an array and an object, because get_json_object treats the top level differently: it removes
the quotes of a string, and writes a single match of `[*]` without the array.
"""


def _each_as_json(values: Lowering) -> Native:
    return native("transform", values, Lambda(("value",), native("to_json", Param("value"))))


_ELEMENTS = _each_as_json(native("from_json", _VALUE, "array<variant>"))
_MEMBERS = _each_as_json(native("map_values", native("from_json", _VALUE, "map<string,variant>")))
_INSIDE = native(
    "if",
    native("startswith", _VALUE, "["),
    _ELEMENTS,
    native("if", native("startswith", _VALUE, "{"), _MEMBERS, native("array")),
)
_MATCHES = native(
    "if",
    native("or", native("isnull", JSON), native("isnull", PATH)),
    None,
    native(
        "coalesce",
        native(
            "if",
            native("contains", PATH, "[*]"),
            _ELEMENTS,
            native("if", native("endswith", PATH, ".*"), _INSIDE, native("array", _VALUE)),
        ),
        native("array"),
    ),
)

FUNCTIONS = (
    Function(
        signature=signature("JSON_EXTRACT_ALL(json: string, path: string literal) -> array<string>"),
        lowering=native("array_compact", _MATCHES),
        doc="Returns all values at a path in JSON text, each as JSON text. The array is empty if there is no value, "
        "the value is null, or the text is not JSON. The format of numbers can change.",
        example="""JSON_EXTRACT_ALL('{"hour": 1, "zone": "CET"}', '$.*')""",
        result=r'["1","\"CET\""]',
        group=GROUP,
        synonyms=("JSON_QUERY",),
        constraints=(_PATHS,),
    ),
    Function(
        signature=signature("JSON_EXTRACT_FIRST(json: string, path: string literal) -> string"),
        lowering=native("get", native("array_compact", _MATCHES), 0),
        doc="Returns the first value at a path in JSON text, as JSON text: a string has its quotes. The result is "
        "null if there is no value, the value is null, or the text is not JSON.",
        example="""JSON_EXTRACT_FIRST('{"contacts": [{"type": "email"}]}', '$.contacts[0].type')""",
        result=r'"\"email\""',
        group=GROUP,
        synonyms=("JSON_VALUE", "GET_JSON_OBJECT", "EXTRACTJSONFIELD"),
        nulls="sometimes",
        constraints=(_PATHS,),
    ),
)
