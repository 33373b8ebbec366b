"""Parses the text of `.proto` files to frozen data. Pure.

Source: the specifications of proto2 and proto3. Options, services and the fields of extensions are skipped, because
they do not change the bytes of a message. The groups of an extension are messages of the file or message that the
extension is in: they count in the indexes of messages.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Literal

from lsql_runner.errors import DetailTable
from lsql_runner.formats.proto_file import Label, ProtoEnum, ProtoField, ProtoFile, ProtoMessage
from lsql_runner.formats.spec import FormatError

_TOKEN = re.compile(
    r"""(?P<space>\s+|//[^\n]*|/\*.*?\*/)
      | (?P<text>"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*')
      | (?P<name>\.?[A-Za-z_][A-Za-z0-9_]*(?:\.[A-Za-z_][A-Za-z0-9_]*)*)
      | (?P<number>0[xX][0-9a-fA-F]+|\d[0-9.eE]*(?:(?<=[eE])[+-]\d+)?|\.\d+(?:[eE][+-]?\d+)?)
      | (?P<symbol>[^\s])""",
    re.VERBOSE | re.DOTALL,
)
_LARGEST_NUMBER = 536_870_911
_MAX_DEPTH = 32
_LABELS: dict[str, Label] = {"optional": "optional", "required": "required", "repeated": "repeated"}
_WORD = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\Z")
_REASONS = DetailTable(
    {
        "EDITION": "editions are not supported, only proto2 and proto3",
        "GROUP": "groups are not supported",
        "SYNTAX_UNKNOWN": "the syntax `{syntax}` is neither proto2 nor proto3",
        "TOO_DEEP": "the message {message} is nested more than {limit} levels deep",
        "TEXT_ENDS": "the text ends inside a definition",
        "UNEXPECTED": "found `{found}`, expected `{expected}`",
        "NOT_A_DEFINITION": "found `{found}`, expected a definition",
        "NOT_A_NAME": "found `{found}`, expected a name",
        "NOT_A_TYPE": "found `{found}`, expected the type of a field",
        "NOT_A_NUMBER": "found `{found}`, expected a whole number",
        "NOT_A_STRING": "found `{found}`, expected a quoted string",
        "NOT_A_RANGE_END": "found `{found}`, expected the end of a range",
        "ENUM_EMPTY": "the enum {enum} has no values",
        "FIELD_NAME_DUPLICATE": "{message} has two fields with the name {name}",
        "FIELD_NUMBER_DUPLICATE": "{message} has two fields with the number {number}",
        "FIELD_NUMBER_INVALID": "{number} is not a valid field number",
    }
)


def parse_proto(text: str) -> ProtoFile:
    """The data of a file with this text.

    Raises:
        FormatError: it is not a .proto file of proto2 or proto3, or it has groups.
    """
    return _Parser(text).file()


class _Parser:
    """Reads tokens from left to right."""

    def __init__(self, text: str) -> None:
        self._tokens = [match.group() for match in _TOKEN.finditer(text) if match.lastgroup != "space"]
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
                    raise FormatError(_REASONS("EDITION"))
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
                case "extend":
                    messages += self._extension(1)
                case "option" | "service":
                    self._skip()
                case ";":
                    pass
                case other:
                    raise FormatError(_REASONS("NOT_A_DEFINITION", found=other))
        return ProtoFile(
            syntax=syntax, package=package, imports=tuple(imports), messages=tuple(messages), enums=tuple(enums)
        )

    def _syntax(self) -> Literal["proto2", "proto3"]:
        syntax = self._string()
        self._expect(";")
        if syntax == "proto2":
            return "proto2"
        if syntax == "proto3":
            return "proto3"
        raise FormatError(_REASONS("SYNTAX_UNKNOWN", syntax=syntax))

    def _message(self, depth: int) -> ProtoMessage:
        return self._body(self._word(), depth)

    def _extension(self, depth: int) -> Iterator[ProtoMessage]:
        """The groups of an extension."""
        self._next()
        self._expect("{")
        while (word := self._next()) != "}":
            if word in _LABELS:
                word = self._next()
            if word == "group":
                name = self._word()
                self._expect("=")
                self._number()
                if self._peek() == "[":
                    self._skip_balanced("[", "]")
                yield self._body(name, depth)
            elif word != ";":
                self._skip()

    def _body(self, name: str, depth: int) -> ProtoMessage:
        """A message from its opening brace on."""
        if depth > _MAX_DEPTH:
            raise FormatError(_REASONS("TOO_DEEP", message=name, limit=_MAX_DEPTH))
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
                    reserved += self._reserved_ranges()
                case "extend":
                    messages += self._extension(depth + 1)
                case "option" | "extensions":
                    self._skip()
                case ";":
                    pass
                case _:
                    fields.append(self._field(word, None))
        _check_fields(name, fields)
        return ProtoMessage(
            name=name, fields=tuple(fields), messages=tuple(messages), enums=tuple(enums), reserved=tuple(reserved)
        )

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
            raise FormatError(_REASONS("GROUP"))
        if not _WORD.match(word.removeprefix(".").replace(".", "")):
            raise FormatError(_REASONS("NOT_A_TYPE", found=word))
        name = self._word()
        self._expect("=")
        number = self._number()
        if self._peek() == "[":
            self._skip_balanced("[", "]")
        self._expect(";")
        return ProtoField(name=name, number=number, type=word, label=label, key=key, oneof=oneof)

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
                    self._skip_balanced("[", "]")
                self._expect(";")
        if not values:
            raise FormatError(_REASONS("ENUM_EMPTY", enum=name))
        return ProtoEnum(name, tuple(values))

    def _reserved_ranges(self) -> Iterator[tuple[int, int]]:
        while (word := self._next()) != ";":
            if word.isdigit():
                last = int(word)
                if self._peek() == "to":
                    self._next()
                    word_after = self._next()
                    if word_after != "max" and not word_after.isdigit():
                        raise FormatError(_REASONS("NOT_A_RANGE_END", found=word_after))
                    last = _LARGEST_NUMBER if word_after == "max" else int(word_after)
                yield int(word), last

    def _skip(self) -> None:
        """Skip to the end of a statement: a semicolon, or a closing brace."""
        while (word := self._next()) != ";":
            if word == "[":
                self._at -= 1
                self._skip_balanced("[", "]")
            if word == "{":
                self._at -= 1
                self._skip_balanced("{", "}")
                if self._peek() != ";":
                    return

    def _skip_balanced(self, opening: str, closing: str) -> None:
        depth = 0
        while True:
            word = self._next()
            depth += (word == opening) - (word == closing)
            if not depth:
                return

    def _peek(self) -> str:
        return self._tokens[self._at] if self._at < len(self._tokens) else ""

    def _next(self) -> str:
        if self._at >= len(self._tokens):
            raise FormatError(_REASONS("TEXT_ENDS"))
        self._at += 1
        return self._tokens[self._at - 1]

    def _expect(self, expected: str) -> None:
        word = self._next()
        if word != expected:
            raise FormatError(_REASONS("UNEXPECTED", found=word, expected=expected))

    def _word(self) -> str:
        word = self._next()
        if not _WORD.match(word):
            raise FormatError(_REASONS("NOT_A_NAME", found=word))
        return word

    def _number(self) -> int:
        sign = -1 if self._peek() == "-" else 1
        if sign < 0:
            self._next()
        word = self._next()
        try:
            is_octal = len(word) > 1 and word.isdigit() and word.startswith("0")
            return sign * int(word, 8 if is_octal else 0)
        except ValueError:
            raise FormatError(_REASONS("NOT_A_NUMBER", found=word)) from None

    def _string(self) -> str:
        word = self._next()
        if word[:1] not in ("'", '"') or len(word) < 2:
            raise FormatError(_REASONS("NOT_A_STRING", found=word))
        return word[1:-1]


def _check_fields(message: str, fields: Iterable[ProtoField]) -> None:
    names: set[str] = set()
    numbers: set[int] = set()
    for field in fields:
        if field.name in names:
            raise FormatError(_REASONS("FIELD_NAME_DUPLICATE", message=message, name=field.name))
        if field.number in numbers:
            raise FormatError(_REASONS("FIELD_NUMBER_DUPLICATE", message=message, number=field.number))
        if not 1 <= field.number <= _LARGEST_NUMBER:
            raise FormatError(_REASONS("FIELD_NUMBER_INVALID", number=field.number), f"{message}.{field.name}")
        names.add(field.name)
        numbers.add(field.number)
