"""The input of the operators' benchmark: clicks of users and attributes of users, as JSON or AVRO."""

from __future__ import annotations

import io
import json
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import fastavro

from bench.feed import send
from devkit.broker import Broker
from devkit.registry import Registry

USER_COUNT = 20_000
COUNTRIES = 100
"""The groups of the aggregates over tables; each change moves a user to another group."""
PAUSE_MS = 20_000
"""Time between two clicks of a user, and between two changes."""

_STRIDE = 7_919  # a prime that does not divide the number of users, so that neighbours in the topic have distant keys


@dataclass(frozen=True, slots=True, eq=False)
class Input:
    """A topic of the benchmark. `fields` have the format of LSQL_TOPICS; JSON and AVRO have all their types."""

    topic: str
    fields: Mapping[str, str]
    value: Callable[[int, int], dict[str, Any]]
    """The value of a record, by its number and its user."""
    is_avro: bool = False


def _click(number: int, user: int) -> dict[str, Any]:
    return {"user": f"user-{user}", "page": f"/page/{number % 50}", "ms": number % 1_000, "bytes": number % 9_973}


def _user(number: int, user: int) -> dict[str, Any]:
    return {"country": f"c{number % COUNTRIES}", "name": f"Name {user}", "points": number % 1_009}


_CLICK_FIELDS = {"user": "string not null", "page": "string not null", "ms": "long not null", "bytes": "long not null"}
_USER_FIELDS = {"country": "string not null", "name": "string not null", "points": "long not null"}

CLICKS = Input("clicks", _CLICK_FIELDS, _click)
AVRO_CLICKS = Input("clicks-avro", _CLICK_FIELDS, _click, is_avro=True)
USERS = Input("users", _USER_FIELDS, _user)
PROFILES = Input("profiles", _USER_FIELDS, _user)


def preload(broker: Broker, registry: Registry, source: Input, count: int, partitions: int) -> None:
    """Create the topic and write `count` records, the newest about a minute old."""
    broker.create_topic(source.topic, partitions)
    start_ms = int(time.time() * 1000) - 60_000 - _at_ms(count)
    send(broker.bootstrap, source.topic, _records(source, registry, count, start_ms), count)


def _records(source: Input, registry: Registry, count: int, start_ms: int) -> Iterator[tuple[bytes, bytes, int]]:
    encode = _avro(source, registry) if source.is_avro else _json
    for number in range(count):
        user = number * _STRIDE % USER_COUNT
        yield b"user-%d" % user, encode(source.value(number, user)), start_ms + _at_ms(number)


def _at_ms(number: int) -> int:
    return number * PAUSE_MS // USER_COUNT


def _json(value: dict[str, Any]) -> bytes:
    return json.dumps(value, separators=(",", ":")).encode()


def _avro(source: Input, registry: Registry) -> Callable[[dict[str, Any]], bytes]:
    fields = [{"name": name, "type": kind.removesuffix(" not null")} for name, kind in source.fields.items()]
    schema = {"type": "record", "name": "Click", "fields": fields}
    number = registry.register(f"{source.topic}-value", json.dumps(schema))
    parsed, head = fastavro.parse_schema(schema), b"\0" + number.to_bytes(4, "big")

    def encode(value: dict[str, Any]) -> bytes:
        body = io.BytesIO()
        fastavro.schemaless_writer(body, parsed, value)
        return head + body.getvalue()

    return encode
