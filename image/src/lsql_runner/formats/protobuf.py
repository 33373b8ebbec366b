"""PROTOBUF: the id of a `.proto` file in a schema registry, the indexes of a message in the file, and the message."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from lsql_runner.errors import DetailTable
from lsql_runner.formats.catalog import Format, Serde
from lsql_runner.formats.proto_imports import inline_imports
from lsql_runner.formats.proto_names import indexes_of_record, is_first_message, message_indexes
from lsql_runner.formats.proto_output import keep_field_numbers, write_proto
from lsql_runner.formats.proto_schema import proto_serde
from lsql_runner.formats.proto_text import parse_proto
from lsql_runner.formats.spec import (
    Declaration,
    DeclarationError,
    FormatError,
    FormatRow,
    OutputSchema,
    RegisteredText,
    RegistryRow,
    SchemaSetting,
)
from lsql_runner.types import Struct

PROTOBUF_FORMAT = Format("PROTOBUF")
_MESSAGE, _PACKAGE = "protobuf.message", "protobuf.package"
_EXPECTED = DetailTable(
    {
        "TEXT": "expected the text of a .proto file",
        "OPTIONS": 'expected an object with "message", the name of a message in the file',
        "FILE": "expected a .proto file: {reason}",
    }
)


def _declare(form: Format, declaration: Declaration) -> Serde:
    place, body, options = declaration.place, declaration.schema, declaration.options
    if not isinstance(body, str):
        raise DeclarationError(_EXPECTED("TEXT"), place)
    message = options.get("message") if isinstance(options, Mapping) and set(options) <= {"message"} else options
    if message is not None and not isinstance(message, str):
        raise DeclarationError(_EXPECTED("OPTIONS"), f"{place}, options")
    try:
        return proto_serde(form, inline_imports(body, {}), message)
    except FormatError as error:
        raise DeclarationError(_EXPECTED("FILE", reason=error.reason), place) from None


def _read(registered: RegisteredText) -> Serde:
    """The serde of the message that an earlier start determined, else of the newest record's message, else of the first
    message."""
    text = inline_imports(registered.text, registered.references)
    return proto_serde(PROTOBUF_FORMAT, text, registered.options.get("message") or _sampled_message(registered, text))


def _sampled_message(registered: RegisteredText, text: str) -> str | None:
    names = message_indexes(parse_proto(text)).keys()
    if len(names) < 2 or not registered.samples:
        return None
    writer = registered.writer()
    try:
        indexes = {} if writer is None else message_indexes(parse_proto(writer))
    except FormatError:
        return None
    by_indexes = {message: name for name, message in indexes.items()}
    message = by_indexes.get(indexes_of_record(registered.samples[-1]) or ())
    return message if message in names else None


def _write(serde: Serde, output: OutputSchema) -> Serde:
    """A part that passes through unchanged keeps its file if its message is the first: records are written with the
    first message only."""
    if serde.schema is not None and is_first_message(serde.schema, dict(serde.options).get("message")):
        return serde
    message, package = output.settings.get(_MESSAGE, output.name), output.settings.get(_PACKAGE, "")
    return replace(serde, schema=write_proto(serde.type, message, package), options=())


FORMATS = (
    FormatRow(
        name="PROTOBUF",
        doc="a Protobuf message, preceded by its schema id and its message indexes",
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
            revise=keep_field_numbers,
        ),
        settings=(SchemaSetting(_MESSAGE, "name"), SchemaSetting(_PACKAGE, "dotted name")),
    ),
)
