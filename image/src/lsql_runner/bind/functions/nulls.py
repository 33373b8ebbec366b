"""NULL, types, and the size of arrays."""

from __future__ import annotations

from lsql_runner.bind.functions.lowering import Arg, Native, Rest, native
from lsql_runner.bind.functions.spec import Function, signature
from lsql_runner.bind.functions.strings import json_text

GROUP = "Nulls and types"

VALUE = Arg(0)


def _type_name() -> Native:
    """The name of the type in LSQL. Spark's names are different for some types, also inside other types."""
    name: Native = native("typeof", VALUE)
    for spark_name, lsql_name in (("bigint", "long"), ("binary", "bytes"), ("void", "null")):
        name = native("regexp_replace", name, f"(^|[:<,]){spark_name}(?=$|[,>])", f"$1{lsql_name}")
    return name


FUNCTIONS = (
    Function(
        signature=signature("AS_NON_NULLABLE(value: A) -> A"),
        lowering=native("coalesce", VALUE, native("raise_error", "the argument of AS_NON_NULLABLE is null")),
        doc="Returns the value with a type that is not nullable. The record fails if the value is null.",
        example="AS_NON_NULLABLE('set')",
        result='"set"',
        group=GROUP,
        nulls="never",
    ),
    Function(
        signature=signature("AS_NULLABLE(value: A) -> A"),
        lowering=VALUE,
        doc="Returns the value with a nullable type.",
        example="AS_NULLABLE(5)",
        result="5",
        group=GROUP,
        nulls="always",
    ),
    Function(
        signature=signature("COALESCE(values: A...) -> A"),
        lowering=native("coalesce", Rest()),
        doc="Returns the first value that is not null, in the common type of all values; null if all are null.",
        example="COALESCE(NULL, 'not updated')",
        result='"not updated"',
        group=GROUP,
        synonyms=("IFNULL", "NVL"),
        nulls="custom",
    ),
    Function(
        signature=signature("DUMP(value: any) -> string"),
        lowering=native("concat", _type_name(), "(", json_text(VALUE), ")"),
        doc="Returns the type of the value and, in parentheses, the value as JSON, for debugging. The result is never"
        " null.",
        example="DUMP('abc')",
        result=r'"string(\"abc\")"',
        group=GROUP,
        nulls="never",
    ),
    Function(
        signature=signature("EXISTS(value: any) -> boolean"),
        lowering=native("isnotnull", VALUE),
        doc="Tests whether the record has the field. A field that is null does not exist.",
        example="EXISTS('x')",
        result="true",
        group=GROUP,
        nulls="never",
    ),
    Function(
        signature=signature("ISNOTNULL(value: any) -> boolean"),
        lowering=native("isnotnull", VALUE),
        doc="Tests whether the value is not null.",
        example="ISNOTNULL(NULL)",
        result="false",
        group=GROUP,
        nulls="never",
    ),
    Function(
        signature=signature("ISNULL(value: any) -> boolean"),
        lowering=native("isnull", VALUE),
        doc="Tests whether the value is null.",
        example="ISNULL(NULL)",
        result="true",
        group=GROUP,
        nulls="never",
    ),
    Function(
        signature=signature("SIZEOF(value: array) -> int"),
        lowering=native("array_size", VALUE),
        doc="Returns the number of elements of the array, including nulls.",
        example="SIZEOF(REGEXP('a1 b22', '[0-9]+'))",
        result="2",
        group=GROUP,
        synonyms=("CARDINALITY", "ARRAY_LENGTH", "SIZE"),
    ),
)
