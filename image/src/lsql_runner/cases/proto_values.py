"""Values of a case file to Protobuf and back, by code of its own: a second opinion on what the JVM does.

A value is what Protobuf's JSON would say, under the names of the `.proto` file: enums by name, keys of maps as text;
bytes and times as everywhere in case files. What was written has all fields: zeros, empty lists and nulls too.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any

from lsql_runner.cases.scalars import Instant, InvalidValue, Single, bytes_of
from lsql_runner.formats.proto_schema import Message, Slot, message_place, read_proto
from lsql_runner.formats.proto_text import ProtoError
from lsql_runner.formats.schema_id import SCHEMA_ID_BYTES

_VARINT, _FIXED64, _LENGTH, _FIXED32 = 0, 1, 2, 5
_PACKED = {
    "double": (_FIXED64, "<d"),
    "float": (_FIXED32, "<f"),
    "fixed64": (_FIXED64, "<Q"),
    "sfixed64": (_FIXED64, "<q"),
    "fixed32": (_FIXED32, "<I"),
    "sfixed32": (_FIXED32, "<i"),
}
_RANGES = {
    **dict.fromkeys(("int32", "sint32", "sfixed32"), (-(1 << 31), 1 << 31)),
    **dict.fromkeys(("int64", "sint64", "sfixed64"), (-(1 << 63), 1 << 63)),
    **dict.fromkeys(("uint32", "fixed32"), (0, 1 << 32)),
    **dict.fromkeys(("uint64", "fixed64"), (0, 1 << 64)),
}
_MESSAGES = ("message", "timestamp", "wrapper")
_NANOS = 1_000_000_000


@lru_cache(maxsize=256)
def message_of(text: str, name: str | None = None) -> Message:
    """A message of a file, read once; the first where it has none of the name.

    Raises:
        InvalidValue: the text is no file that can be read.
    """
    try:
        try:
            return read_proto(text, name)
        except ProtoError:
            return read_proto(text)
    except ProtoError as error:
        raise InvalidValue(f"no .proto file: {error}") from None


def encode_message(value: Any, text: str, name: str | None) -> bytes:
    """What stands behind the id of a record: which message it is, and its bytes.

    Raises:
        InvalidValue: it is no value of the message.
    """
    message = message_of(text, name)
    place = b"\0"
    if message.place != (0,):
        place = b"".join(_varint(_zigzag(number)) for number in (len(message.place), *message.place))
    return place + _message(value, message.slots, "")


def decode_message(data: bytes, text: str) -> Any:
    """The value in a whole record, of the message that it names.

    Raises:
        InvalidValue: it holds none.
    """
    place = message_place(data)
    try:
        names = {message.place: message for message in _messages(text)}
        if place not in names:
            raise InvalidValue(f"the schema has no message at {place}")
        body = _Bytes(data, SCHEMA_ID_BYTES)
        for _ in range(1 if data[SCHEMA_ID_BYTES] == 0 else 1 + len(place)):
            body.varint()
        return _decoded(body, names[place].slots)
    except (ProtoError, IndexError, struct.error, UnicodeDecodeError) as error:
        raise InvalidValue(f"{type(error).__name__}: {error}") from None


def _messages(text: str) -> Iterator[Message]:
    from lsql_runner.formats.proto_schema import message_names
    from lsql_runner.formats.proto_text import parse_proto

    for name in message_names(parse_proto(text)):
        yield read_proto(text, name)


# --- writing ---


def _message(value: Any, slots: Sequence[Slot], place: str) -> bytes:
    if not isinstance(value, Mapping):
        raise InvalidValue(f"a message is {{field: value}}, not {value!r:.80}{_at(place)}")
    known = {slot.name: slot for slot in slots}
    strange = [str(name) for name in value if name not in known]
    if strange:
        raise InvalidValue(f"the message has no field {strange[0]}; it has {', '.join(known)}{_at(place)}")
    return b"".join(_field(value[slot.name], slot, _below(place, slot.name)) for slot in slots if slot.name in value)


def _field(value: Any, slot: Slot, place: str) -> bytes:
    if value is None:
        return b""
    if slot.presence == "repeated":
        if not isinstance(value, list):
            raise InvalidValue(f"a repeated field is a list{_at(place)}")
        return b"".join(_tagged(slot, _one(item, slot, f"{place}[]")) for item in value)
    if slot.presence == "map":
        if not isinstance(value, Mapping):
            raise InvalidValue(f"a map is {{key: value}}{_at(place)}")
        return b"".join(_entry(key, item, slot, place) for key, item in value.items())
    return _tagged(slot, _one(value, slot, place))


def _entry(key: Any, value: Any, slot: Slot, place: str) -> bytes:
    assert slot.key is not None
    keys = Slot("key", 1, slot.key, "optional")
    text = str(key).lower() if isinstance(key, bool) else str(key)
    plain: Any = text if slot.key == "string" else text == "true" if slot.key == "bool" else int(text)
    body = _tagged(keys, _one(plain, keys, place)) + _varint(2 << 3 | _wire(slot.kind)) + _one(value, slot, place)
    return _varint(slot.number << 3 | _LENGTH) + _varint(len(body)) + body


def _tagged(slot: Slot, body: bytes) -> bytes:
    return _varint(slot.number << 3 | _wire(slot.kind)) + body


def _wire(kind: str) -> int:
    if kind in _PACKED:
        return _PACKED[kind][0]
    return _LENGTH if kind in (*_MESSAGES, "string", "bytes") else _VARINT


def _one(value: Any, slot: Slot, place: str) -> bytes:
    body: bytes
    match slot.kind:
        case "message":
            body = _message(value, slot.inner, place)
        case "wrapper":
            body = _message({"value": value}, slot.inner, place)
        case "timestamp":
            seconds, nanos = divmod(Instant.of(value).nanos, _NANOS)
            body = _message({"seconds": seconds, "nanos": nanos}, slot.inner, place)
        case "bytes":
            body = bytes_of(value)
        case "string" if isinstance(value, str):
            body = value.encode()
        case _:
            return _scalar(value, slot, place)
    return _varint(len(body)) + body


def _scalar(value: Any, slot: Slot, place: str) -> bytes:
    kind = slot.kind
    if kind == "enum" and isinstance(value, str):
        known = dict(slot.symbols)
        if value not in known and not value.lstrip("-").isdigit():
            raise InvalidValue(f"{value} is none of {', '.join(known)}{_at(place)}")
        return _varint(known[value] if value in known else int(value))
    if kind == "bool" and isinstance(value, bool):
        return _varint(int(value))
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise InvalidValue(f"{value!r:.80} is no {kind}{_at(place)}")
    if kind in _RANGES and not (isinstance(value, int) and _RANGES[kind][0] <= value < _RANGES[kind][1]):
        raise InvalidValue(f"{value!r:.80} is no {kind}{_at(place)}")
    if kind in _PACKED:
        return struct.pack(_PACKED[kind][1], value)
    if kind not in _RANGES:
        raise InvalidValue(f"{value!r:.80} is no {kind}{_at(place)}")
    return _varint(_zigzag(int(value)) if kind.startswith("s") else int(value))


def _zigzag(value: int) -> int:
    return value << 1 if value >= 0 else (-value << 1) - 1


def _varint(value: int) -> bytes:
    value &= (1 << 64) - 1
    found = bytearray()
    while value > 0x7F:
        found.append(value & 0x7F | 0x80)
        value >>= 7
    found.append(value)
    return bytes(found)


# --- reading ---


class _Bytes:
    """A place in bytes, read forwards."""

    def __init__(self, data: bytes, at: int = 0) -> None:
        self._data, self.at = data, at

    @property
    def has_more(self) -> bool:
        return self.at < len(self._data)

    def varint(self) -> int:
        value = shift = 0
        while True:
            byte = self._data[self.at]
            self.at += 1
            value |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                return value & (1 << 64) - 1

    def take(self, size: int) -> bytes:
        found = self._data[self.at : self.at + size]
        if len(found) < size:
            raise InvalidValue("the record ends in the middle of a value")
        self.at += size
        return found

    def value(self, wire: int) -> Any:
        """A number, or bytes."""
        match wire:
            case 0:
                return self.varint()
            case 1:
                return self.take(8)
            case 2:
                return self.take(self.varint())
            case 5:
                return self.take(4)
        raise InvalidValue(f"there is no layout {wire}")


def _decoded(body: _Bytes, slots: Sequence[Slot]) -> dict[str, Any]:
    raw: dict[int, list[tuple[int, Any]]] = {}
    while body.has_more:
        tag = body.varint()
        rivals = _rivals(tag >> 3, slots)
        for number in rivals:
            raw.pop(number, None)
        raw.setdefault(tag >> 3, []).append((tag & 7, body.value(tag & 7)))
    return {slot.name: _read(raw.get(slot.number, []), slot) for slot in slots}


def _rivals(number: int, slots: Sequence[Slot]) -> list[int]:
    oneof = next((slot.oneof for slot in slots if slot.number == number), None)
    return [slot.number for slot in slots if oneof is not None and slot.oneof == oneof and slot.number != number]


def _read(raw: list[tuple[int, Any]], slot: Slot) -> Any:
    if slot.presence == "map":
        return dict(_entry_read(data, slot) for wire, data in raw if wire == _LENGTH)
    wanted = _wire(slot.kind)
    if slot.presence == "repeated":
        found: list[Any] = []
        for wire, data in raw:
            if wire == wanted:
                found.append(_value(data, slot))
            elif wire == _LENGTH:
                packed = _Bytes(data)
                while packed.has_more:
                    found.append(_value(packed.value(wanted), slot))
        return found
    values = [data for wire, data in raw if wire == wanted]
    if not values:
        return _zero(slot) if slot.presence == "implicit" else None
    return _value(b"".join(values) if slot.kind in _MESSAGES else values[-1], slot)


def _entry_read(data: bytes, slot: Slot) -> tuple[str, Any]:
    assert slot.key is not None
    keys = Slot("key", 1, slot.key, "implicit")
    values = Slot("value", 2, slot.kind, "implicit", symbols=slot.symbols, inner=slot.inner)
    found = _decoded(_Bytes(data), (keys, values))
    key = found["key"]
    return (str(key).lower() if isinstance(key, bool) else str(key)), found["value"]


def _zero(slot: Slot) -> Any:
    match slot.kind:
        case "enum":
            return slot.symbols[0][0]
        case "string" | "bytes" | "message" | "timestamp" | "wrapper":
            return _value(b"", slot)
        case kind if kind in _PACKED:
            return _value(bytes(8 if _wire(kind) == _FIXED64 else 4), slot)
    return _value(0, slot)


def _value(data: Any, slot: Slot) -> Any:
    match slot.kind:
        case "message":
            return _decoded(_Bytes(data), slot.inner)
        case "wrapper":
            return _decoded(_Bytes(data), slot.inner)["value"]
        case "timestamp":
            time = _decoded(_Bytes(data), slot.inner)
            return Instant(time["seconds"] * _NANOS + time["nanos"])
        case "string":
            return data.decode()
        case "bytes":
            return data
        case "bool":
            return data != 0
        case "enum":
            number = _signed(data, 32)
            return next((name for name, known in slot.symbols if known == number), str(number))
        case kind if kind in _PACKED:
            [number] = struct.unpack(_PACKED[kind][1], data)
            return Single(number) if kind == "float" else number
        case "uint64":
            return data
        case "uint32":
            return data & 0xFFFFFFFF
        case "sint32" | "sint64":
            return (data >> 1) ^ -(data & 1)
    return _signed(data, 32 if slot.kind == "int32" else 64)


def _signed(data: int, bits: int) -> int:
    data &= (1 << bits) - 1
    return data - (1 << bits) if data >> (bits - 1) else data


def _below(place: str, name: str) -> str:
    return f"{place}.{name}" if place else name


def _at(place: str) -> str:
    return f": field {place}" if place else ""
