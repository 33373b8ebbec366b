"""PROTOBUF: a message behind the id of its file in a schema registry and its place in that file."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from lsql_runner.formats.catalog import Format, Serde
from lsql_runner.formats.proto_file import ProtoError
from lsql_runner.formats.proto_names import is_first, message_names, message_place
from lsql_runner.formats.proto_output import renumbered, write_proto
from lsql_runner.formats.proto_schema import proto_serde
from lsql_runner.formats.proto_text import parse_proto
from lsql_runner.formats.proto_whole import whole_proto
from lsql_runner.formats.spec import (
    Declaration,
    DeclarationError,
    FormatRow,
    OutputSchema,
    RegisteredText,
    RegistryRow,
    SchemaSetting,
)
from lsql_runner.types import Struct

PROTOBUF_FORMAT = Format("PROTOBUF")
_MESSAGE, _PACKAGE = "protobuf.message", "protobuf.package"


def _declare(form: Format, declaration: Declaration) -> Serde:
    place, body, options = declaration.place, declaration.schema, declaration.options
    if not isinstance(body, str):
        raise DeclarationError(f"{place}: the text of a .proto file")
    message = options.get("message") if isinstance(options, Mapping) and set(options) <= {"message"} else options
    if message is not None and not isinstance(message, str):
        raise DeclarationError(f'{place}.options: an object with "message", the name of one in the file')
    try:
        return proto_serde(form, whole_proto(body, {}), message)
    except ProtoError as error:
        raise DeclarationError(f"{place}: a .proto file; {error}") from None


def _read(registered: RegisteredText) -> Serde:
    """Of the message that an earlier start found, else of the one that the newest record holds, else of the first."""
    text = whole_proto(registered.text, registered.references)
    return proto_serde(PROTOBUF_FORMAT, text, registered.options.get("message") or _sampled_message(registered, text))


def _sampled_message(registered: RegisteredText, text: str) -> str | None:
    names = message_names(parse_proto(text))
    if len(names) < 2 or not registered.samples:
        return None
    writer = registered.writer()
    try:
        places = {} if writer is None else {place: name for name, place in message_names(parse_proto(writer)).items()}
    except ProtoError:
        return None
    found = places.get(message_place(registered.samples[-1]) or ())
    return found if found in names else None


def _write(serde: Serde, output: OutputSchema) -> Serde:
    """What passes through keeps its file, if its message is the first: records are written with the first alone."""
    if serde.schema is not None and is_first(serde.schema, dict(serde.options).get("message")):
        return serde
    message, package = output.settings.get(_MESSAGE, output.name), output.settings.get(_PACKAGE, "")
    return replace(serde, schema=write_proto(serde.type, message, package), options=())


FORMATS = (
    FormatRow(
        name="PROTOBUF",
        doc="a Protobuf message, preceded by its schema id and its place in the file",
        keeps_structs=True,
        fits=lambda kind: isinstance(kind, Struct),
        declare=_declare,
        describe=lambda serde: serde.schema,
        has_options=True,
        registry=RegistryRow(
            kind="PROTOBUF",
            in_every_record=True,
            schema_is_json=False,
            read=_read,
            write=_write,
            revise=renumbered,
        ),
        settings=(SchemaSetting(_MESSAGE, "name"), SchemaSetting(_PACKAGE, "dotted name")),
    ),
)
