"""Converts values of case files to Protobuf and back with Google's library, which checks our own encoder and decoder.

A value has the form of Protobuf's JSON with the field names of the `.proto` file: enums by name, keys of maps as text;
bytes and times as in all case files. A decoded message has all fields, including zeros, empty lists and nulls.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any, TypeVar

from google.protobuf import wrappers_pb2
from google.protobuf.descriptor import FieldDescriptor
from google.protobuf.message import DecodeError, Message
from google.protobuf.message_factory import GetMessageClass

from lsql_runner.cases.proto_files import SCALARS, MessageIndexes, read_messages
from lsql_runner.cases.scalars import Instant, InvalidValue, Single, bytes_of
from lsql_runner.errors import DetailTable

T = TypeVar("T")
_Field = Any
"""A FieldDescriptor. The library has two such classes, and its stubs mix them."""
_TIMESTAMP = "google.protobuf.Timestamp"
_WRAPPERS = {f"google.protobuf.{name}" for name in wrappers_pb2.DESCRIPTOR.message_types_by_name}
_NAMES: dict[int, str] = {number: name for name, number in SCALARS.items()}
_FLOATS = (FieldDescriptor.TYPE_FLOAT, FieldDescriptor.TYPE_DOUBLE)
_FLOAT_OVERFLOW = 3.4028235677973366e38
"""From here on, infinity is the nearest 32-bit floating-point number."""
_NANOS = 1_000_000_000
_REASONS = DetailTable(
    {
        "MESSAGE_MISSING": "the file has no message",
        "MESSAGE_UNKNOWN": "the file has no message with the indexes {indexes}",
        "INDEXES_INVALID": "the record does not begin with the indexes of a message",
        "NOT_DECODABLE": "not a value of the message ({problem})",
        "NOT_A_MESSAGE": "a message is {{field: value}}, not {value}",
        "FIELD_UNKNOWN": "unknown field {field}; the fields are {known}",
        "NOT_A_LIST": "a repeated field is a list",
        "NOT_A_MAP": "a map is {{key: value}}",
        "NOT_A_VALUE": "{value} is not a valid {type}",
        "NOT_A_SYMBOL": "{value} is not one of {known}",
    }
)


class ProtoSchema:
    """Writes and reads the messages of a file.

    Raises:
        InvalidValue: the text is not a valid `.proto` file.
    """

    def __init__(self, text: str) -> None:
        self._messages, self._prefix = read_messages(text)

    def encode(self, value: Any, name: str | None) -> bytes:
        """The indexes of a message and its bytes, which follow the schema id in a record.

        Args:
            name: the message, as `Outer.Inner`; None, or a name that the file does not have, stands for the first one.

        Raises:
            InvalidValue: it is not a value of the message.
        """
        if not self._messages:
            raise InvalidValue(_REASONS("MESSAGE_MISSING"))
        by_name = {
            descriptor.full_name.removeprefix(self._prefix): indexes for indexes, descriptor in self._messages.items()
        }
        indexes = by_name.get(name or "", (0,))
        message = GetMessageClass(self._messages[indexes])()
        _fill(message, value, "")
        return _encode_indexes(indexes) + message.SerializePartialToString(deterministic=True)

    def decode(self, data: bytes) -> Any:
        """The value of a message, from the bytes that follow the schema id in a record.

        Raises:
            InvalidValue: the bytes are not a message of the file.
        """
        indexes, at = _decode_indexes(data)
        if indexes not in self._messages:
            raise InvalidValue(_REASONS("MESSAGE_UNKNOWN", indexes=", ".join(map(str, indexes))))
        message = GetMessageClass(self._messages[indexes])()
        try:
            message.ParseFromString(data[at:])
            return _value(message)
        except (DecodeError, UnicodeDecodeError) as error:
            raise InvalidValue(_REASONS("NOT_DECODABLE", problem=f"{type(error).__name__}: {error}")) from None


@lru_cache(maxsize=256)
def proto_schema(text: str) -> ProtoSchema:
    """The schema with this text, parsed once.

    Raises:
        InvalidValue: as `ProtoSchema`.
    """
    return ProtoSchema(text)


# --- indexes of messages ---


def _encode_indexes(indexes: MessageIndexes) -> bytes:
    return b"\0" if indexes == (0,) else b"".join(_varint(number << 1) for number in (len(indexes), *indexes))


def _varint(number: int) -> bytes:
    encoded = bytearray()
    while number > 0x7F:
        encoded.append(number & 0x7F | 0x80)
        number >>= 7
    return bytes((*encoded, number))


def _decode_indexes(data: bytes) -> tuple[MessageIndexes, int]:
    """The indexes at the beginning of some bytes, and the number of bytes that they take: a count and as many indexes,
    in zigzag encoding. The count 0 stands for (0,)."""
    at = 0

    def number() -> int:
        nonlocal at
        varint = shift = 0
        while True:
            if at >= len(data) or shift > 28:
                raise InvalidValue(_REASONS("INDEXES_INVALID"))
            varint |= (data[at] & 0x7F) << shift
            shift, at = shift + 7, at + 1
            if data[at - 1] < 0x80:
                return varint >> 1

    count = number()
    if count > len(data):
        raise InvalidValue(_REASONS("INDEXES_INVALID"))
    return tuple(number() for _ in range(count)) or (0,), at


# --- writing ---


def _fill(message: Message, value: Any, place: str) -> None:
    fields = message.DESCRIPTOR.fields_by_name
    message.SetInParent()
    if message.DESCRIPTOR.full_name == _TIMESTAMP:
        seconds, nanos = divmod(_read_at(place, Instant.of, value).nanos, _NANOS)
        value = {"seconds": seconds, "nanos": nanos}
    elif message.DESCRIPTOR.full_name in _WRAPPERS:
        value = {"value": value}
    if not isinstance(value, Mapping):
        raise InvalidValue(_REASONS("NOT_A_MESSAGE", value=_show(value)), place)
    for name, part in value.items():
        if not isinstance(name, str) or name not in fields:
            raise InvalidValue(_REASONS("FIELD_UNKNOWN", field=str(name), known=", ".join(fields)), place)
        if part is not None:
            _set_field(message, fields[name], part, f"{place}.{name}" if place else name)


def _set_field(message: Message, field: _Field, value: Any, place: str) -> None:
    if field.is_repeated and not _is_map(field):
        if not isinstance(value, list):
            raise InvalidValue(_REASONS("NOT_A_LIST"), place)
        items = getattr(message, field.name)
        for item in value:
            if field.message_type is not None:
                _fill(items.add(), item, f"{place}[]")
            else:
                items.append(_scalar(item, field, f"{place}[]"))
    elif field.is_repeated:
        if not isinstance(value, Mapping):
            raise InvalidValue(_REASONS("NOT_A_MAP"), place)
        _fill_map(getattr(message, field.name), field, value, place)
    elif field.message_type is not None:
        _fill(getattr(message, field.name), value, place)
    else:
        setattr(message, field.name, _scalar(value, field, place))


def _fill_map(entries: Any, field: _Field, value: Mapping[Any, Any], place: str) -> None:
    keys, values = (field.message_type.fields_by_name[name] for name in ("key", "value"))
    for name, part in value.items():
        key = _map_key(name, keys, place)
        if values.message_type is not None:
            _fill(entries[key], part, place)
        else:
            entries[key] = _scalar(part, values, place)


def _map_key(value: Any, field: _Field, place: str) -> Any:
    text = str(value).lower() if isinstance(value, bool) else str(value)
    if field.type == FieldDescriptor.TYPE_BOOL and text in ("true", "false"):
        return text == "true"
    is_number = field.type != FieldDescriptor.TYPE_STRING and text.removeprefix("-").isdecimal()
    return _scalar(int(text) if is_number else text, field, place)


def _scalar(value: Any, field: _Field, place: str) -> Any:
    """The value as the library takes it, checked first: the library itself would accept 1 as true."""
    kind = field.type
    if kind == FieldDescriptor.TYPE_ENUM:
        return _enum_number(value, field, place)
    if kind == FieldDescriptor.TYPE_BYTES:
        return _read_at(place, bytes_of, value)
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    if kind in _FLOATS:
        is_too_large = is_number and kind == FieldDescriptor.TYPE_FLOAT and _FLOAT_OVERFLOW <= abs(value) < math.inf
        fits = is_number and not is_too_large
    elif kind == FieldDescriptor.TYPE_BOOL:
        fits = isinstance(value, bool)
    elif kind == FieldDescriptor.TYPE_STRING:
        fits = isinstance(value, str)
    else:
        fits = isinstance(value, int) and is_number and _in_range(value, kind)
    if not fits:
        raise InvalidValue(_REASONS("NOT_A_VALUE", value=_show(value), type=_NAMES[kind]), place)
    return value


def _read_at(place: str, read: Callable[[Any], T], value: Any) -> T:
    """The result of `read`, whose InvalidValue gets the path of the field."""
    try:
        return read(value)
    except InvalidValue as error:
        raise InvalidValue(error.reason, place) from None


def _in_range(value: int, kind: int) -> bool:
    name = _NAMES[kind]
    bits = 32 if name.endswith("32") else 64
    is_signed = not name.startswith(("uint", "fixed"))
    return -(1 << bits - 1) <= value < 1 << bits - 1 if is_signed else 0 <= value < 1 << bits


def _enum_number(value: Any, field: _Field, place: str) -> int:
    known = field.enum_type.values_by_name
    if isinstance(value, str) and value in known:
        return int(known[value].number)
    if not isinstance(value, str) or not value.removeprefix("-").isdecimal():
        raise InvalidValue(_REASONS("NOT_A_SYMBOL", value=_show(value), known=", ".join(known)), place)
    return int(value)


# --- reading ---


def _value(message: Message) -> Any:
    fields = {field.name: _field_value(message, field) for field in message.DESCRIPTOR.fields}
    if message.DESCRIPTOR.full_name == _TIMESTAMP:
        return Instant(fields["seconds"] * _NANOS + fields["nanos"])
    return fields["value"] if message.DESCRIPTOR.full_name in _WRAPPERS else fields


def _field_value(message: Message, field: _Field) -> Any:
    value = getattr(message, field.name)
    if _is_map(field):
        values = field.message_type.fields_by_name["value"]
        # The library's maps are unordered.
        return {str(key).lower() if isinstance(key, bool) else str(key): _one(value[key], values) for key in value}
    if field.is_repeated:
        return [_one(item, field) for item in value]
    return _one(value, field) if not field.has_presence or message.HasField(field.name) else None


def _one(value: Any, field: _Field) -> Any:
    if field.message_type is not None:
        return _value(value)
    if field.type == FieldDescriptor.TYPE_ENUM:
        symbol = field.enum_type.values_by_number.get(value)
        return str(value) if symbol is None else symbol.name
    return Single(value) if field.type == FieldDescriptor.TYPE_FLOAT else value


def _is_map(field: _Field) -> bool:
    return field.message_type is not None and bool(field.message_type.GetOptions().map_entry)


def _show(value: Any) -> str:
    return f"{value!r:.80}"
