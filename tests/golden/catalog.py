"""The topics that golden programs read, and the user-defined function that they call."""

from dataclasses import replace

from lsql_runner.formats.catalog import Catalog, UserFunction
from lsql_runner.formats.declared import declared_topics
from lsql_runner.types import DOUBLE, LONG, STRING, Array, Field

_DECLARED = declared_topics(
    {
        "unknown": {
            "key": {"format": "STRING"},
            "value": {
                "format": "JSON",
                "schema": {"id": "long", "note": "json", "tags": "array<json>", "place": {"more": "json"}},
            },
            "origin": "sampled",
        },
        "counts": {
            "key": {"format": "JSON", "schema": {"id": "numeric"}},
            "value": {
                "format": "JSON",
                "schema": {"n": "numeric", "at": "numeric", "xs": "array<numeric>", "name": "string"},
            },
            "origin": "sampled",
        },
        "iot_data": {
            "key": {"format": "STRING"},
            "value": {
                "format": "JSON",
                "schema": {
                    "MMSI": "long not null",
                    "Speed": "double not null",
                    "Longitude": "double not null",
                    "Latitude": "double not null",
                    "Timestamp": "long not null",
                },
            },
        },
        "payments": {
            "key": {"format": "STRING"},
            "value": {
                "format": "JSON",
                "schema": {
                    "id": "string not null",
                    "customerId": "string not null",
                    "amount": "double not null",
                    "currency": "string not null",
                    "ok": "boolean not null",
                    "at": "timestamp not null",
                },
            },
        },
        "orders": {
            "key": {"format": "LONG"},
            "value": {
                "format": "JSON",
                "schema": {
                    "id": "long not null",
                    "customer": "struct<name: string, address: struct<city: string, country: string not null> not null>"
                    " not null",
                    "lines": "array<struct<sku: string not null, qty: int not null, price: decimal(10,2) not null, "
                    "tags: array<string>>> not null",
                    "codes": "array<int> not null",
                },
            },
        },
        "lines-of.text": {"key": {"format": "BYTES"}, "value": {"format": "STRING"}},
        "counters": {"key": {"format": "STRING"}, "value": {"format": "LONG"}},
        "vehicles": {
            "key": {"format": "AVRO", "schema": "string"},
            "value": {
                "format": "AVRO",
                "schema": {
                    "type": "record",
                    "name": "Vehicle",
                    "namespace": "com.example",
                    "fields": [
                        {"name": "plate", "type": "string"},
                        {"name": "speed", "type": ["null", "double"], "default": None},
                        {"name": "at", "type": {"type": "long", "logicalType": "timestamp-millis"}},
                        {
                            "name": "price",
                            "type": {"type": "bytes", "logicalType": "decimal", "precision": 9, "scale": 2},
                        },
                        {"name": "tags", "type": {"type": "array", "items": "string"}},
                    ],
                },
            },
        },
        "alarms": {
            "key": {"format": "STRING"},
            "value": {
                "format": "JSON",
                "schema": {"id": "long not null", "level": "double not null"},
                "schema_id": True,
            },
        },
        "clicks": {
            "key": {"format": "JSON", "schema": {"user": "string not null", "page": "int not null"}},
            "value": {"format": "JSON", "schema": {"page": "int", "ms": "int"}},
        },
        "readings": {
            "key": {"format": "STRING"},
            "value": {
                "format": "JSON",
                "schema": {
                    "sensor": "string not null",
                    "celsius": "double",
                    "unit": "string",
                    "ok": "boolean",
                    "at": "long",
                    "place": "struct<name: string not null, height: int>",
                    "marks": "array<int> not null",
                    "labels": "map<string, string>",
                },
            },
        },
    }
)
CATALOG = Catalog(
    _DECLARED | {"sampled": replace(_DECLARED["readings"], topic="sampled", origin="sampled")},
    sinks={"shop": "postgresql", "order_cache": "redis"},
    functions={
        "RISK_SCORE": UserFunction(
            name="RISK_SCORE",
            class_name="com.example.RiskScore",
            arguments=(Field("sensor", STRING, nullable=False), Field("celsius", DOUBLE), Field("marks", Array(LONG))),
            result=Field("", DOUBLE),
        )
    },
)
"""The topic `sampled` has the fields of `readings`, but its schema comes from a sample of its records. No sampled
record of `unknown` shows the types of some fields. In all sampled records of `counts`, the numbers are whole."""
