"""Avro schemas with the types of their values, on which Python (when it binds) and the JVM (when it decodes) agree."""

from typing import Any


def record(*fields: dict[str, Any], name: str = "r", **more: Any) -> dict[str, Any]:
    """The schema of a record."""
    return {"type": "record", "name": name, "fields": list(fields), **more}


TYPED: list[tuple[Any, str]] = [
    ("null", "null"),
    ("boolean", "boolean"),
    ("int", "int"),
    ("long", "long"),
    ("float", "float"),
    ("double", "double"),
    ("bytes", "bytes"),
    ("string", "string"),
    ({"type": "string"}, "string"),
    ({"type": "string", "avro.java.string": "String"}, "string"),
    ({"type": "enum", "name": "e", "symbols": ["A"]}, "string"),
    ({"type": "fixed", "name": "f", "size": 4}, "bytes"),
    ({"type": "array", "items": "int"}, "array<int>"),
    ({"type": "map", "values": ["null", "long"]}, "map<string, long>"),
    ({"type": "bytes", "logicalType": "decimal", "precision": 9, "scale": 2}, "decimal(9,2)"),
    ({"type": "bytes", "logicalType": "decimal", "precision": 9}, "decimal(9,0)"),
    (
        {"type": "fixed", "name": "f", "size": 8, "logicalType": "decimal", "precision": 4, "scale": 1},
        "decimal(4,1)",
    ),
    (
        {"type": "fixed", "name": "f", "size": 2, "logicalType": "decimal", "precision": 4},
        "decimal(4,0)",
    ),
    ({"type": "fixed", "name": "f", "size": 2, "logicalType": "decimal", "precision": 5}, "bytes"),
    ({"type": "bytes", "logicalType": "decimal", "precision": 2, "scale": 3}, "bytes"),
    ({"type": "int", "logicalType": "date"}, "date"),
    ({"type": "int", "logicalType": "time-millis"}, "time"),
    ({"type": "long", "logicalType": "time-micros"}, "time"),
    ({"type": "long", "logicalType": "timestamp-millis"}, "timestamp"),
    ({"type": "long", "logicalType": "timestamp-micros"}, "timestamp"),
    ({"type": "long", "logicalType": "local-timestamp-millis"}, "timestamp"),
    ({"type": "long", "logicalType": "timestamp-nanos"}, "timestamp"),
    ({"type": "long", "logicalType": "local-timestamp-nanos"}, "timestamp"),
    ({"type": "string", "logicalType": "uuid"}, "string"),
    ({"type": "fixed", "name": "u", "size": 16, "logicalType": "uuid"}, "string"),
    ({"type": "fixed", "name": "u", "size": 8, "logicalType": "uuid"}, "bytes"),
    (["int", {"type": "long", "logicalType": "time-micros"}], "struct<member0: int, member1: time>"),
    ([{"type": "int", "logicalType": "unknown"}, "long"], "long"),
    ({"type": "fixed", "name": "d", "size": 12, "logicalType": "duration"}, "bytes"),
    ({"type": "string", "logicalType": "date"}, "string"),
    (["null", "string"], "string"),
    (["string", "null"], "string"),
    (["int", "long"], "long"),
    (["null", "float", "double"], "double"),
    (["null", "int", "string"], "struct<member0: int, member1: string>"),
    (["string"], "string"),
]
"""A schema, and its type as the language writes it."""

REFUSED: list[tuple[Any, str]] = [
    (record({"name": "next", "type": ["null", "r"]}), "the type r contains itself (field next)"),
    (
        record({"name": "a", "type": {"type": "bytes", "logicalType": "decimal", "precision": 99, "scale": 2}}),
        "decimal with more than 38 digits (field a)",
    ),
    (
        record({"name": "a", "type": record({"name": "b", "type": "who"}, name="s")}),
        "unknown type who (field a.b)",
    ),
]
"""Schema without a type, and the reason that Python gives."""
