"""Null, presence, size, and what a value is made of."""

from __future__ import annotations

from lsql_runner.bind.functions.lowering import Arg, Native, Rest, native
from lsql_runner.bind.functions.spec import Function, signature
from lsql_runner.bind.functions.strings import json_text

GROUP = "Nulls and types"

VALUE = Arg(0)


def _type_name() -> Native:
    """The type as LSQL spells it; the engine says bigint for long and binary for bytes, also inside
    others."""
    name: Native = native("typeof", VALUE)
    for theirs, ours in (("bigint", "long"), ("binary", "bytes"), ("void", "null")):
        name = native("regexp_replace", name, f"(^|[:<,]){theirs}(?=$|[,>])", f"$1{ours}")
    return name


FUNCTIONS = (
    Function(
        signature=signature("AS_NON_NULLABLE(value: A) -> A"),
        lowering=native("coalesce", VALUE, native("raise_error", "AS_NON_NULLABLE was given a null")),
        doc="The value, with a type that is never null; a null fails the record.",
        example="AS_NON_NULLABLE('set')",
        result='"set"',
        group=GROUP,
        nulls="never",
    ),
    Function(
        signature=signature("AS_NULLABLE(value: A) -> A"),
        lowering=VALUE,
        doc="The value, with a type that may be null.",
        example="AS_NULLABLE(5)",
        result="5",
        group=GROUP,
        nulls="always",
    ),
    Function(
        signature=signature("COALESCE(values: A...) -> A"),
        lowering=native("coalesce", Rest()),
        doc="The first value that is not null, in the common type of all; null if all are null.",
        example="COALESCE(NULL, 'not updated')",
        result='"not updated"',
        group=GROUP,
        nulls="custom",
    ),
    Function(
        signature=signature("DUMP(value: any) -> string"),
        lowering=native("concat", _type_name(), "(", json_text(VALUE), ")"),
        doc="The type of the value and in brackets the value as JSON, to look at; never null.",
        example="DUMP('abc')",
        result=r'"string(\"abc\")"',
        group=GROUP,
        nulls="never",
    ),
    Function(
        signature=signature("EXISTS(value: any) -> boolean"),
        lowering=native("isnotnull", VALUE),
        doc="Whether the field is there: a field that is missing in the record and one that is null are both not.",
        example="EXISTS('x')",
        result="true",
        group=GROUP,
        nulls="never",
    ),
    Function(
        signature=signature("ISNOTNULL(value: any) -> boolean"),
        lowering=native("isnotnull", VALUE),
        doc="Whether the value is not null.",
        example="ISNOTNULL(NULL)",
        result="false",
        group=GROUP,
        nulls="never",
    ),
    Function(
        signature=signature("ISNULL(value: any) -> boolean"),
        lowering=native("isnull", VALUE),
        doc="Whether the value is null.",
        example="ISNULL(NULL)",
        result="true",
        group=GROUP,
        nulls="never",
    ),
    Function(
        signature=signature("SIZEOF(value: array) -> int"),
        lowering=native("array_size", VALUE),
        doc="How many elements the array has, nulls among them; null for a null array.",
        example="SIZEOF(REGEXP('a1 b22', '[0-9]+'))",
        result="2",
        group=GROUP,
    ),
)
