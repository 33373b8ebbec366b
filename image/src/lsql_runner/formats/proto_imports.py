"""Combines a `.proto` file and its imports in one file."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from lsql_runner.errors import DetailTable
from lsql_runner.formats.proto_file import ProtoEnum, ProtoField, ProtoFile, ProtoMessage, print_proto
from lsql_runner.formats.proto_names import WELL_KNOWN, full_name, presence, resolve_name, types_of
from lsql_runner.formats.proto_schema import SCALAR_TYPES
from lsql_runner.formats.proto_text import parse_proto
from lsql_runner.formats.spec import FormatError

_OF_GOOGLE = "google/protobuf/"
_REASONS = DetailTable({"IMPORT_MISSING": "the schema has no reference for the import {name}"})


def inline_imports(text: str, imports: Mapping[str, str]) -> str:
    """One file with the imported types appended under new names. It still imports the well-known types of Protobuf.

    Args:
        text: the file.
        imports: all files that it imports, directly or not, by the names in the import statements.

    Raises:
        FormatError: one of them is not a .proto file, or an imported file is missing.
    """
    file = parse_proto(text)
    others = _collect_imports(file, imports, {})
    if not others:
        return text
    moved = {}  # new full names of imported types, by their old ones
    for other in others.values():
        for name in types_of(other):
            own = name.removeprefix(f"{other.package}.")
            prefix = f"{other.package.replace('.', '_')}_" if other.package else "imported_"
            moved[name] = full_name(file.package, prefix + own)
    known = {**{name: name for name in (*types_of(WELL_KNOWN), *types_of(file))}, **moved}
    messages, enums = list(_rewritten(file, known, "")[0]), list(file.enums)
    for other in others.values():
        prefix = f"{other.package.replace('.', '_')}_" if other.package else "imported_"
        more, kinds = _rewritten(other, known, prefix)
        messages += more
        enums += kinds
    google = sorted({name for one in (file, *others.values()) for name in one.imports if name.startswith(_OF_GOOGLE)})
    # Only proto3 has both implicit and explicit presence.
    return print_proto(
        ProtoFile(
            syntax="proto3", package=file.package, imports=tuple(google), messages=tuple(messages), enums=tuple(enums)
        )
    )


def _collect_imports(file: ProtoFile, texts: Mapping[str, str], files: dict[str, ProtoFile]) -> dict[str, ProtoFile]:
    for name in file.imports:
        if name in files or name.startswith(_OF_GOOGLE):
            continue
        if name not in texts:
            raise FormatError(_REASONS("IMPORT_MISSING", name=name))
        files[name] = parse_proto(texts[name])
        _collect_imports(files[name], texts, files)
    return files


def _rewritten(
    file: ProtoFile, known: Mapping[str, str], prefix: str
) -> tuple[tuple[ProtoMessage, ...], tuple[ProtoEnum, ...]]:
    """The types of a file; fields refer to types by full names, and outermost types have a prefix."""

    def field(one: ProtoField, scope: str) -> ProtoField:
        full = None if one.type in SCALAR_TYPES else resolve_name(one.type, scope, known)
        kind = presence(one, file)
        label = "" if kind == "implicit" or one.oneof else "optional" if kind == "required" else kind
        return replace(one, type=one.type if full is None else f".{known[full]}", label=label)

    def message(one: ProtoMessage, outer: str) -> ProtoMessage:
        name = full_name(outer, one.name)
        fields = tuple(field(f, name) for f in one.fields)
        return replace(one, fields=fields, messages=tuple(message(inner, name) for inner in one.messages))

    messages = (message(one, file.package) for one in file.messages)
    return (
        tuple(replace(one, name=prefix + one.name) for one in messages),
        tuple(replace(one, name=prefix + one.name) for one in file.enums),
    )
