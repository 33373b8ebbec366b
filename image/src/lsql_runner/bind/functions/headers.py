"""Functions of the headers of a record."""

from __future__ import annotations

from lsql_runner.bind.functions.lowering import Arg, native
from lsql_runner.bind.functions.spec import Function, signature

GROUP = "Headers"

EXAMPLE_HEADERS: tuple[tuple[str, bytes], ...] = (
    ("source", b"web"),
    ("count", bytes.fromhex("fffffffe")),
    ("size", bytes.fromhex("0000000000000100")),
    ("ratio", bytes.fromhex("3fc00000")),
    ("price", bytes.fromhex("c002000000000000")),
)
"""The headers of the record with which the examples run."""


def _number(kind: str, size: int, example: str, result: str) -> Function:
    name = f"HEADERAS{kind.upper()}"
    return Function(
        signature=signature(f"{name}(name: header) -> {kind}"),
        lowering=Arg(0),
        doc=f"Returns the last header with this name as {kind}: {size} bytes, big-endian, as Kafka's serializers write "
        "it. Null if the record has no such header.",
        example=f"{name}('{example}')",
        result=result,
        group=GROUP,
        nulls="sometimes",
    )


FUNCTIONS = (
    Function(
        signature=signature("HEADERASSTRING(name: header) -> string"),
        lowering=Arg(0),
        doc="Returns the last header with this name as text, as `_header.<name>` does. Null if the record has no such "
        "header.",
        example="HEADERASSTRING('source')",
        result='"web"',
        group=GROUP,
        nulls="sometimes",
    ),
    _number("int", 4, "count", "-2"),
    _number("long", 8, "size", "256"),
    _number("float", 4, "ratio", "1.5"),
    _number("double", 8, "price", "-2.25"),
    Function(
        signature=signature("HEADERKEYS() -> array<string>"),
        lowering=native("header_keys", Arg(0)),
        doc="Returns the names of all headers of the record, in their order.",
        example="HEADERKEYS()",
        result='["source","count","size","ratio","price"]',
        group=GROUP,
        takes_headers=True,
    ),
)
