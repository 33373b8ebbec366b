"""JSON that stands in a string field, read by a path."""

from __future__ import annotations

from lsql_runner.bind.functions.lowering import Arg, Lambda, Lowering, Native, Param, native
from lsql_runner.bind.functions.spec import Form, Function, signature

GROUP = "JSON"

JSON, PATH = Arg(0), Arg(1)

_STEP = r"(?:\.[^.\[\]*]+|\['(?!\*'\])[^'?]+'\]|\[\d{1,9}\])"
_PATHS = Form(
    "path",
    rf"\$(?:{_STEP})*(?:\[\*\](?:{_STEP})*|\.\*)?",
    "a path like $, $.a.b, $['a b'], $.a[0], with at most one $.a[*].b or, at its end, $.a.*",
)
"""What the engine's reader knows, and what is put together from it below. Filters and `..` it does not take
for a path, and would give null for them: here they are refused."""

_LOCAL_PATH = native("substring", native("regexp_replace", PATH, r"\.\*\z", ""), 2)
_FOUND = native(
    "get_json_object",
    native("concat", '[{"v":', JSON, "}]"),
    native("concat", "$[*].v", _LOCAL_PATH),
)
"""What the path (its closing .* left out) leads to, as JSON; an array of that for [*]. The reader takes the
quotes off a string at the top but not inside an array, and writes one match of [*] without the array only
at the top: hence the document is wrapped."""


def _each_as_json(values: Lowering) -> Native:
    return native("transform", values, Lambda(("value",), native("to_json", Param("value"))))


_ELEMENTS = _each_as_json(native("from_json", _FOUND, "array<variant>"))
_MEMBERS = _each_as_json(native("map_values", native("from_json", _FOUND, "map<string,variant>")))
_INSIDE = native(
    "if",
    native("startswith", _FOUND, "["),
    _ELEMENTS,
    native("if", native("startswith", _FOUND, "{"), _MEMBERS, native("array")),
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
            native("if", native("endswith", PATH, ".*"), _INSIDE, native("array", _FOUND)),
        ),
        native("array"),
    ),
)

FUNCTIONS = (
    Function(
        signature=signature("JSON_EXTRACT_ALL(json: string, path: string literal) -> array<string>"),
        lowering=native("array_compact", _MATCHES),
        doc="Everything in the JSON text that the path leads to, each as JSON text; an empty array where there "
        "is "
        "nothing, a null, or no JSON. Numbers may be written in another way of the same value.",
        example="""JSON_EXTRACT_ALL('{"hour": 1, "zone": "CET"}', '$.*')""",
        result=r'["1","\"CET\""]',
        group=GROUP,
        forms=(_PATHS,),
    ),
    Function(
        signature=signature("JSON_EXTRACT_FIRST(json: string, path: string literal) -> string"),
        lowering=native("get", native("array_compact", _MATCHES), 0),
        doc="The first thing in the JSON text that the path leads to, as JSON text (a string keeps its quotes); "
        "null where "
        "there is nothing, a null, or no JSON.",
        example="""JSON_EXTRACT_FIRST('{"contacts": [{"type": "email"}]}', '$.contacts[0].type')""",
        result=r'"\"email\""',
        group=GROUP,
        nulls="sometimes",
        forms=(_PATHS,),
    ),
)
