"""Text of `.proto` files to frozen data. Pure.

Source: the specifications of Protocol Buffers' proto2 and proto3. Options, services and extensions are skipped, since
they change no byte of a message.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Literal

from lsql_runner.formats.proto_file import Label, ProtoEnum, ProtoError, ProtoField, ProtoFile, ProtoMessage

_TOKEN = re.compile(
    r"""(?P<space>\s+|//[^\n]*|/\*.*?\*/)
      | (?P<text>"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*')
      | (?P<name>\.?[A-Za-z_][A-Za-z0-9_]*(?:\.[A-Za-z_][A-Za-z0-9_]*)*)
      | (?P<number>0[xX][0-9a-fA-F]+|\d[0-9.eE]*(?:(?<=[eE])[+-]\d+)?|\.\d+(?:[eE][+-]?\d+)?)
      | (?P<symbol>[^\s])""",
    re.VERBOSE | re.DOTALL,
)
_LARGEST_NUMBER = 536_870_911
_DEEPEST = 32
_LABELS: dict[str, Label] = {"optional": "optional", "required": "required", "repeated": "repeated"}
_WORD = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\Z")


def parse_proto(text: str) -> ProtoFile:
    """The file in a text.

    Raises:
        ProtoError: it is not a .proto file, or one of an edition, or has groups.
    """
    return _Parser(text).file()


class _Parser:
    """Reads tokens from left to right."""

    def __init__(self, text: str) -> None:
        self._tokens = [found.group() for found in _TOKEN.finditer(text) if found.lastgroup != "space"]
        self._at = 0

    def file(self) -> ProtoFile:
        syntax: Literal["proto2", "proto3"] = "proto2"
        package = ""
        imports: list[str] = []
        messages: list[ProtoMessage] = []
        enums: list[ProtoEnum] = []
        while self._at < len(self._tokens):
            match self._next():
                case "syntax":
                    self._expect("=")
                    syntax = self._syntax()
                case "edition":
                    raise ProtoError("editions are not supported, only proto2 and proto3")
                case "package":
                    package = self._next()
                    self._expect(";")
                case "import":
                    if self._peek() in ("public", "weak"):
                        self._next()
                    imports.append(self._string())
                    self._expect(";")
                case "message":
                    messages.append(self._message(1))
                case "enum":
                    enums.append(self._enum())
                case "option" | "service" | "extend":
                    self._skip()
                case ";":
                    pass
                case other:
                    raise ProtoError(f"{other!r} does not begin a definition")
        return ProtoFile(syntax, package, tuple(imports), tuple(messages), tuple(enums))

    def _syntax(self) -> Literal["proto2", "proto3"]:
        found = self._string()
        self._expect(";")
        if found == "proto2":
            return "proto2"
        if found == "proto3":
            return "proto3"
        raise ProtoError(f"the syntax {found!r} is neither proto2 nor proto3")

    def _message(self, depth: int) -> ProtoMessage:
        name = self._word()
        if depth > _DEEPEST:
            raise ProtoError(f"{name} is more than {_DEEPEST} messages deep")
        fields: list[ProtoField] = []
        messages: list[ProtoMessage] = []
        enums: list[ProtoEnum] = []
        reserved: list[tuple[int, int]] = []
        self._expect("{")
        while (word := self._next()) != "}":
            match word:
                case "message":
                    messages.append(self._message(depth + 1))
                case "enum":
                    enums.append(self._enum())
                case "oneof":
                    fields += self._oneof()
                case "reserved":
                    reserved += self._reserved()
                case "option" | "extensions" | "extend":
                    self._skip()
                case ";":
                    pass
                case _:
                    fields.append(self._field(word, None))
        _check_fields(name, fields)
        return ProtoMessage(name, tuple(fields), tuple(messages), tuple(enums), tuple(reserved))

    def _oneof(self) -> Iterator[ProtoField]:
        name = self._word()
        self._expect("{")
        while (word := self._next()) != "}":
            if word == "option":
                self._skip()
            elif word != ";":
                yield self._field(word, name)

    def _field(self, word: str, oneof: str | None) -> ProtoField:
        label: Label = ""
        key = None
        if word in _LABELS:
            label, word = _LABELS[word], self._next()
        if word == "map" and self._peek() == "<":
            self._next()
            label, key = "map", self._next()
            self._expect(",")
            word = self._next()
            self._expect(">")
        if word == "group":
            raise ProtoError("groups are not supported")
        if not _WORD.match(word.removeprefix(".").replace(".", "")):
            raise ProtoError(f"{word!r} is not a field type")
        name = self._word()
        self._expect("=")
        number = self._number()
        if self._peek() == "[":
            self._balanced("[", "]")
        self._expect(";")
        return ProtoField(name, number, word, label, key, oneof)

    def _enum(self) -> ProtoEnum:
        name = self._word()
        values: list[tuple[str, int]] = []
        self._expect("{")
        while (word := self._next()) != "}":
            if word in ("option", "reserved") and self._peek() != "=":
                self._skip()
            elif word != ";":
                self._expect("=")
                values.append((word, self._number()))
                if self._peek() == "[":
                    self._balanced("[", "]")
                self._expect(";")
        if not values:
            raise ProtoError(f"the enum {name} has no values")
        return ProtoEnum(name, tuple(values))

    def _reserved(self) -> Iterator[tuple[int, int]]:
        while (word := self._next()) != ";":
            if word.isdigit():
                last = int(word)
                if self._peek() == "to":
                    self._next()
                    word_after = self._next()
                    if word_after != "max" and not word_after.isdigit():
                        raise ProtoError(f"{word_after!r} does not end a range")
                    last = _LARGEST_NUMBER if word_after == "max" else int(word_after)
                yield int(word), last

    def _skip(self) -> None:
        """To the end of a statement: its semicolon, or its braces."""
        while (word := self._next()) != ";":
            if word == "[":
                self._at -= 1
                self._balanced("[", "]")
            if word == "{":
                self._at -= 1
                self._balanced("{", "}")
                if self._peek() != ";":
                    return

    def _balanced(self, opening: str, closing: str) -> None:
        depth = 0
        while True:
            word = self._next()
            depth += (word == opening) - (word == closing)
            if not depth:
                return

    def _peek(self, ahead: int = 0) -> str:
        place = self._at + ahead
        return self._tokens[place] if place < len(self._tokens) else ""

    def _next(self) -> str:
        if self._at >= len(self._tokens):
            raise ProtoError("the text ends in the middle of a definition")
        self._at += 1
        return self._tokens[self._at - 1]

    def _expect(self, wanted: str) -> None:
        found = self._next()
        if found != wanted:
            raise ProtoError(f"{found!r} found where {wanted!r} is expected")

    def _word(self) -> str:
        found = self._next()
        if not _WORD.match(found):
            raise ProtoError(f"{found!r} is not a name")
        return found

    def _number(self) -> int:
        sign = -1 if self._peek() == "-" else 1
        if sign < 0:
            self._next()
        found = self._next()
        try:
            is_octal = len(found) > 1 and found.isdigit() and found.startswith("0")
            return sign * int(found, 8 if is_octal else 0)
        except ValueError:
            raise ProtoError(f"{found!r} is not a whole number") from None

    def _string(self) -> str:
        found = self._next()
        if found[:1] not in ("'", '"') or len(found) < 2:
            raise ProtoError(f"{found!r} is not a quoted string")
        return found[1:-1]


def _check_fields(message: str, fields: Iterable[ProtoField]) -> None:
    names: set[str] = set()
    numbers: set[int] = set()
    for field in fields:
        if field.name in names or field.number in numbers:
            raise ProtoError(f"{message} has two fields {field.name} or two with the number {field.number}")
        if not 1 <= field.number <= _LARGEST_NUMBER:
            raise ProtoError(f"{field.number} is not a valid number for {message}.{field.name}")
        names.add(field.name)
        numbers.add(field.number)
