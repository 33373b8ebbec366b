"""Reads the declarations of a compiled Java class: its interfaces, its methods, and its access.

Source: chapter 4 of the Java Virtual Machine Specification. The class is read and not loaded: none of its code runs.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass

PUBLIC = 0x0001
STATIC = 0x0008
BRIDGE = 0x0040
INTERFACE = 0x0200
ABSTRACT = 0x0400

_UTF8, _CLASS = 1, 7
_TWO_SLOTS = (5, 6)
_BYTES = {3: 4, 4: 4, 5: 8, 6: 8, 8: 2, 9: 4, 10: 4, 11: 4, 12: 4, 15: 3, 16: 2, 17: 4, 18: 4, 19: 2, 20: 2}
"""By tag of a constant: its length in bytes, without the tag."""


class ClassFileError(ValueError):
    """Bytes that are not a class file."""


@dataclass(frozen=True, slots=True)
class Method:
    name: str
    parameters: tuple[str, ...]
    """Types as `java/lang/String` or `[B`; those that generics leave are `java/lang/Object`."""
    result: str
    access: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ClassFile:
    """A class. Names of classes have slashes: `java/lang/Object`."""

    name: str
    super_name: str | None
    interfaces: tuple[str, ...]
    methods: tuple[Method, ...]
    access: int
    java_version: int
    """The Java version for which it was compiled, as 17."""


def read_class(data: bytes) -> ClassFile:
    """The class in the bytes of a class file.

    Raises:
        ClassFileError: they are no class file.
    """
    try:
        return _Reader(data).read()
    except (struct.error, IndexError, KeyError, UnicodeDecodeError, ValueError) as error:
        raise ClassFileError(str(error)) from None


class _Reader:
    def __init__(self, data: bytes) -> None:
        self._data = data
        self._at = 0
        self._constants: dict[int, tuple[int, bytes]] = {}
        """By index: tag and content."""

    def read(self) -> ClassFile:
        magic, _, major = self._numbers(">IHH")
        if magic != 0xCAFEBABE:
            raise ClassFileError("magic")
        self._read_constants()
        access, this, parent, count = self._numbers(">HHHH")
        interfaces = tuple(self._class_name(number) for number in self._numbers(f">{count}H"))
        self._members()  # the fields
        methods = tuple(self._members())
        super_name = self._class_name(parent) if parent else None
        return ClassFile(
            name=self._class_name(this),
            super_name=super_name,
            interfaces=interfaces,
            methods=methods,
            access=access,
            java_version=major - 44,
        )

    def _numbers(self, layout: str) -> tuple[int, ...]:
        numbers = struct.unpack_from(layout, self._data, self._at)
        self._at += struct.calcsize(layout)
        return numbers

    def _read_constants(self) -> None:
        (count,) = self._numbers(">H")
        index = 1
        while index < count:
            (tag,) = self._numbers(">B")
            length = self._numbers(">H")[0] if tag == _UTF8 else 2 if tag == _CLASS else _BYTES[tag]
            self._constants[index] = (tag, self._data[self._at : self._at + length])
            self._at += length
            index += 2 if tag in _TWO_SLOTS else 1

    def _text(self, index: int) -> str:
        tag, content = self._constants[index]
        if tag != _UTF8:
            raise ClassFileError("constant")
        # Java's variant of UTF-8 differs for characters outside of the basic plane and for NUL.
        return content.decode("utf-8", "replace")

    def _class_name(self, index: int) -> str:
        tag, content = self._constants[index]
        if tag != _CLASS:
            raise ClassFileError("constant")
        return self._text(int.from_bytes(content, "big"))

    def _members(self) -> list[Method]:
        """The fields or the methods. A field has no parameters."""
        (count,) = self._numbers(">H")
        methods: list[Method] = []
        for _ in range(count):
            access, name, kind, attributes = self._numbers(">HHHH")
            for _ in range(attributes):
                _, length = self._numbers(">HI")
                self._at += length
            parameters, result = _types(self._text(kind))
            methods.append(Method(self._text(name), parameters, result, access))
        return methods


def _types(descriptor: str) -> tuple[tuple[str, ...], str]:
    """The parameters and the result of `(Ljava/lang/String;[B)V`; the type of a field as the result."""
    if not descriptor.startswith("("):
        return (), _type_name(descriptor)
    inner, _, result = descriptor[1:].partition(")")
    parameters: list[str] = []
    start = at = 0
    while at < len(inner):
        if inner[at] != "[":
            at = inner.index(";", at) if inner[at] == "L" else at
            parameters.append(_type_name(inner[start : at + 1]))
            start = at + 1
        at += 1
    return tuple(parameters), _type_name(result)


def _type_name(descriptor: str) -> str:
    return descriptor[1:-1] if descriptor.startswith("L") else descriptor
