"""The messages of a `.proto` file as descriptors of Google's library, which takes 0.1 s to load."""

from __future__ import annotations

from collections.abc import Iterator

from google.protobuf import (
    any_pb2,
    duration_pb2,
    empty_pb2,
    field_mask_pb2,
    struct_pb2,
    timestamp_pb2,
    wrappers_pb2,
)
from google.protobuf.descriptor import Descriptor
from google.protobuf.descriptor_pb2 import (
    DescriptorProto,
    EnumDescriptorProto,
    FieldDescriptorProto,
    FileDescriptorProto,
)
from google.protobuf.descriptor_pool import DescriptorPool

from lsql_runner.cases.scalars import InvalidValue
from lsql_runner.errors import DetailTable
from lsql_runner.formats.proto_file import ProtoEnum, ProtoField, ProtoFile, ProtoMessage
from lsql_runner.formats.proto_text import parse_proto
from lsql_runner.formats.spec import FormatError

_REASONS = DetailTable({"NOT_A_FILE": "not a .proto file ({problem})"})
MessageIndexes = tuple[int, ...]
"""The message of a record: its index among the outermost messages of the file, then the indexes of nested messages."""
SCALARS = {
    name.removeprefix("TYPE_").lower(): number
    for name, number in FieldDescriptorProto.Type.items()
    if name not in ("TYPE_GROUP", "TYPE_MESSAGE", "TYPE_ENUM")
}
_WELL_KNOWN = (any_pb2, duration_pb2, empty_pb2, field_mask_pb2, struct_pb2, timestamp_pb2, wrappers_pb2)
_FILE = "case.proto"


def read_messages(text: str) -> tuple[dict[MessageIndexes, Descriptor], str]:
    """The messages of a file by their indexes, and the prefix of their full names: its package with a dot.

    Raises:
        InvalidValue: the text is not a valid `.proto` file.
    """
    pool = DescriptorPool()
    try:
        for module in _WELL_KNOWN:
            pool.AddSerializedFile(module.DESCRIPTOR.serialized_pb)
        pool.AddSerializedFile(_file(parse_proto(text)).SerializeToString())
        file = pool.FindFileByName(_FILE)
    except FormatError as error:
        raise InvalidValue(_REASONS("NOT_A_FILE", problem=error.reason)) from None
    except (TypeError, ValueError) as error:
        raise InvalidValue(_REASONS("NOT_A_FILE", problem=str(error))) from None
    messages: dict[MessageIndexes, Descriptor] = {}
    for number, descriptor in enumerate(file.message_types_by_name.values()):
        messages.update(_walk_messages((number,), descriptor))
    return messages, f"{file.package}." if file.package else ""


def _walk_messages(indexes: MessageIndexes, descriptor: Descriptor) -> Iterator[tuple[MessageIndexes, Descriptor]]:
    """A message and the messages inside it."""
    yield indexes, descriptor
    declared = [inner for inner in descriptor.nested_types if not inner.GetOptions().map_entry]
    for number, inner in enumerate(declared):
        yield from _walk_messages((*indexes, number), inner)


def _file(file: ProtoFile) -> FileDescriptorProto:
    known = [module.DESCRIPTOR.name for module in _WELL_KNOWN]
    proto = FileDescriptorProto(name=_FILE, package=file.package, syntax=file.syntax, dependency=known)
    proto.message_type.extend(_message(one, file.syntax) for one in file.messages)
    proto.enum_type.extend(map(_enum, file.enums))
    return proto


def _enum(enum: ProtoEnum) -> EnumDescriptorProto:
    proto = EnumDescriptorProto(name=enum.name)
    proto.options.allow_alias = len({number for _, number in enum.values}) < len(enum.values)
    for name, number in enum.values:
        proto.value.add(name=name, number=number)
    return proto


def _message(message: ProtoMessage, syntax: str) -> DescriptorProto:
    proto = DescriptorProto(name=message.name)
    proto.nested_type.extend(_message(inner, syntax) for inner in message.messages)
    proto.enum_type.extend(map(_enum, message.enums))
    oneofs = list(dict.fromkeys(field.oneof for field in message.fields if field.oneof is not None))
    for field in message.fields:
        one = _field(field)
        if field.label == "map":
            proto.nested_type.append(_entry(field, one))
        if field.oneof is not None:
            one.oneof_index = oneofs.index(field.oneof)
        elif field.label == "optional" and syntax == "proto3":
            one.proto3_optional = True
        proto.field.append(one)
    for one in proto.field:
        if one.proto3_optional:  # each has a synthetic oneof, after the oneofs of the file
            one.oneof_index = len(oneofs)
            oneofs.append(f"_{one.name}")
    for name in oneofs:
        proto.oneof_decl.add(name=name)
    return proto


def _field(field: ProtoField) -> FieldDescriptorProto:
    labels = FieldDescriptorProto.Label
    label = {"repeated": labels.LABEL_REPEATED, "map": labels.LABEL_REPEATED, "required": labels.LABEL_REQUIRED}
    proto = FieldDescriptorProto(name=field.name, number=field.number)
    proto.label = label.get(field.label, labels.LABEL_OPTIONAL)
    return _set_type(proto, field.type)


def _set_type(field: FieldDescriptorProto, name: str) -> FieldDescriptorProto:
    """The field with its type. The pool resolves names that are not scalar types."""
    if name in SCALARS:
        field.type = FieldDescriptorProto.Type.ValueType(SCALARS[name])
    else:
        field.type_name = name
    return field


def _entry(field: ProtoField, repeated: FieldDescriptorProto) -> DescriptorProto:
    """The message type of a map's entries; the field becomes a repeated field of this type."""
    name = "".join(part[:1].upper() + part[1:] for part in field.name.split("_")) + "Entry"
    proto = DescriptorProto(name=name)
    proto.options.map_entry = True
    for number, (part, kind) in enumerate((("key", field.key or ""), ("value", field.type)), 1):
        one = proto.field.add(name=part, number=number, label=FieldDescriptorProto.Label.LABEL_OPTIONAL)
        _set_type(one, kind)
    repeated.ClearField("type")
    repeated.type_name = name
    return proto
