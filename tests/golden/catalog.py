"""The topics that golden programs read."""

from lsql_runner.bind.catalog import Catalog
from lsql_runner.declared import declared_topics

CATALOG = Catalog(
    declared_topics(
        {
            "iot_data": {
                "key": {"format": "STRING"},
                "value": {
                    "format": "JSON",
                    "schema": {
                        "MMSI": "long",
                        "Speed": "double",
                        "Longitude": "double",
                        "Latitude": "double",
                        "Timestamp": "long",
                    },
                },
            },
            "payments": {
                "key": {"format": "STRING"},
                "value": {
                    "format": "JSON",
                    "schema": {
                        "id": "string",
                        "customerId": "string",
                        "amount": "double",
                        "currency": "string",
                        "ok": "boolean",
                        "at": "timestamp",
                    },
                },
            },
            "orders": {
                "key": {"format": "LONG"},
                "value": {
                    "format": "JSON",
                    "schema": {
                        "id": "long",
                        "customer": "struct<name: string, address: struct<city: string, country: string>>",
                        "lines": "array<struct<sku: string, qty: int, price: decimal(10,2), tags: array<string>>>",
                        "codes": "array<int>",
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
            "clicks": {
                "key": {"format": "JSON", "schema": {"user": "string", "page": "int"}},
                "value": {"format": "JSON", "schema": {"page": "int", "ms": "int"}},
            },
        }
    ),
    sinks={"shop": "postgresql", "order_cache": "redis"},
)
