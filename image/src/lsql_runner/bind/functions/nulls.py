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
        signature("AS_NON_NULLABLE(value: A) -> A"),
        native("coalesce", VALUE, native("raise_error", "AS_NON_NULLABLE was given a null")),
        "The value, with a type that is never null; a null fails the record.",
        "AS_NON_NULLABLE('set')",
        '"set"',
        GROUP,
        nulls="never",
    ),
    Function(
        signature("AS_NULLABLE(value: A) -> A"),
        VALUE,
        "The value, with a type that may be null.",
        "AS_NULLABLE(5)",
        "5",
        GROUP,
        nulls="always",
    ),
    Function(
        signature("COALESCE(values: A...) -> A"),
        native("coalesce", Rest()),
        "The first value that is not null, in the common type of all; null if all are null.",
        "COALESCE(NULL, 'not updated')",
        '"not updated"',
        GROUP,
        nulls="custom",
    ),
    Function(
        signature("DUMP(value: any) -> string"),
        native("concat", _type_name(), "(", json_text(VALUE), ")"),
        "The type of the value and in brackets the value as JSON, to look at; never null.",
        "DUMP('abc')",
        r'"string(\"abc\")"',
        GROUP,
        nulls="never",
    ),
    Function(
        signature("EXISTS(value: any) -> boolean"),
        native("isnotnull", VALUE),
        "Whether the field is there: a field that is missing in the record and one that is null are both not.",
        "EXISTS('x')",
        "true",
        GROUP,
        nulls="never",
    ),
    Function(
        signature("ISNOTNULL(value: any) -> boolean"),
        native("isnotnull", VALUE),
        "Whether the value is not null.",
        "ISNOTNULL(NULL)",
        "false",
        GROUP,
        nulls="never",
    ),
    Function(
        signature("ISNULL(value: any) -> boolean"),
        native("isnull", VALUE),
        "Whether the value is null.",
        "ISNULL(NULL)",
        "true",
        GROUP,
        nulls="never",
    ),
    Function(
        signature("SIZEOF(value: array) -> int"),
        native("array_size", VALUE),
        "How many elements the array has, nulls among them; null for a null array.",
        "SIZEOF(REGEXP('a1 b22', '[0-9]+'))",
        "2",
        GROUP,
    ),
)
