"""Functions of arrays."""

from __future__ import annotations

from lsql_runner.bind.functions.lowering import Arg, AsResult, Rest, native
from lsql_runner.bind.functions.spec import Function, signature

GROUP = "Arrays"
_MOST_REPEATS = 10_000
_PADDED = native("arrays_zip", Rest(step=2))

FUNCTIONS = (
    Function(
        signature=signature("ELEMENT_OF(values: array<A>, index: int) -> A"),
        lowering=native("get", Arg(0), Arg(1)),
        doc="Returns the element at `index`, counted from 0; NULL if there is none, as `values[index]` does.",
        example="ELEMENT_OF(REGEXP('a1 b22', '[0-9]+'), 1)",
        result='"22"',
        group=GROUP,
        nulls="sometimes",
        synonyms=("ELEMENT_AT", "ARRAY_GET"),
    ),
    Function(
        signature=signature("FLATTEN(values: array<array<A>>) -> array<A>"),
        lowering=native("flatten", native("array_compact", Arg(0))),
        doc="Returns the elements of all arrays in one array. Arrays that are NULL are left out.",
        example="FLATTEN(REPEAT(REGEXP('a1 b22', '[0-9]+'), 2))",
        result='["1","22","1","22"]',
        group=GROUP,
    ),
    Function(
        signature=signature("IN_ARRAY(value: E, values: array<E>) -> boolean"),
        lowering=native("array_contains", native("array_compact", Arg(1)), Arg(0)),
        doc="Returns whether the value is an element of the array.",
        example="IN_ARRAY('22', REGEXP('a1 b22', '[0-9]+'))",
        result="true",
        group=GROUP,
        synonyms=("ARRAY_CONTAINS",),
    ),
    Function(
        signature=signature("REPEAT(value: A, count: int) -> array<A>"),
        lowering=native(
            "if",
            native(">", Arg(1), _MOST_REPEATS),
            native("raise_error", f"REPEAT builds at most {_MOST_REPEATS} elements"),
            native("if", native("isnull", Arg(0)), None, native("array_repeat", Arg(0), Arg(1))),
        ),
        doc=f"Returns an array with `count` times the value, an empty one if `count` is negative. More than "
        f"{_MOST_REPEATS} elements are an error.",
        example="REPEAT('a', 3)",
        result='["a","a","a"]',
        group=GROUP,
        synonyms=("ARRAY_REPEAT",),
    ),
    Function(
        signature=signature(
            "ZIP(array1: array, field1: string literal, array2: array..., field2: string literal...) -> array<struct>"
        ),
        lowering=AsResult(native("slice", _PADDED, 1, native("least", Rest(step=2, of="size")))),
        doc="Returns an array of structs with the elements of the arrays at the same position, in fields with these "
        "names. It is as long as the shortest array.",
        example="ZIP([1, 2], 'x', [3, 4, 5], 'y')",
        result='[{"x":1,"y":3},{"x":2,"y":4}]',
        group=GROUP,
        synonyms=("ARRAYS_ZIP",),
    ),
    Function(
        signature=signature(
            "ZIP_ALL(array1: array, field1: string literal, array2: array..., field2: string literal...) "
            "-> array<struct>"
        ),
        lowering=AsResult(_PADDED),
        doc="As ZIP, but the result is as long as the longest array: fields of the others are NULL.",
        example="ZIP_ALL([1, 2], 'x', [3, 4, 5], 'y')",
        result='[{"x":1,"y":3},{"x":2,"y":4},{"x":null,"y":5}]',
        group=GROUP,
    ),
)
