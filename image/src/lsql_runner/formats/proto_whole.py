"""A `.proto` file with all that it imports, as one file."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from lsql_runner.formats.proto_file import ProtoEnum, ProtoError, ProtoField, ProtoFile, ProtoMessage, print_proto
from lsql_runner.formats.proto_names import WELL_KNOWN, full_name, presence, resolved, types_of
from lsql_runner.formats.proto_schema import SCALAR_TYPES
from lsql_runner.formats.proto_text import parse_proto

_OF_GOOGLE = "google/protobuf/"


def whole_proto(text: str, imports: Mapping[str, str]) -> str:
    """One file with the imported types appended under new names. It imports only Protobuf's own files.

    Args:
        text: the file.
        imports: other files by the names that they are imported by, those that they import too.

    Raises:
        ProtoError: one of them is not a .proto file, or an imported file is missing.
    """
    file = parse_proto(text)
    others = _imported(file, imports, {})
    if not others:
        return text
    moved = {}  # the full name of what is imported: the one that it has in the file
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
    # Of the two, only proto3 has both kinds of presence.
    return print_proto(ProtoFile("proto3", file.package, tuple(google), tuple(messages), tuple(enums)))


def _imported(file: ProtoFile, texts: Mapping[str, str], found: dict[str, ProtoFile]) -> dict[str, ProtoFile]:
    for name in file.imports:
        if name in found or name.startswith(_OF_GOOGLE):
            continue
        if name not in texts:
            raise ProtoError(f"it imports {name}, for which the schema has no reference")
        found[name] = parse_proto(texts[name])
        _imported(found[name], texts, found)
    return found


def _rewritten(
    file: ProtoFile, known: Mapping[str, str], prefix: str
) -> tuple[tuple[ProtoMessage, ...], tuple[ProtoEnum, ...]]:
    """The types of a file with full names for what fields name; the outermost have a prefix."""

    def field(one: ProtoField, scope: str) -> ProtoField:
        full = None if one.type in SCALAR_TYPES else resolved(one.type, scope, known)
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
