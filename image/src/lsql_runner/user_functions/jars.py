"""The classes in the jars of a directory."""

from __future__ import annotations

import re
import zlib
from collections.abc import Iterator
from functools import cached_property
from pathlib import Path
from zipfile import BadZipFile, ZipFile

from lsql_runner.errors import DetailTable, LsqlError, file_error
from lsql_runner.jvm.spark_jvm import user_jars
from lsql_runner.user_functions.class_file import BRIDGE, STATIC, ClassFile, ClassFileError, Method, read_class

_REASONS = DetailTable({"NOT_A_JAR": "it is not a jar", "CLASS_DAMAGED": "its entry {entry} is not a class file"})


_UNREADABLE_ENTRY = (BadZipFile, EOFError, zlib.error, RuntimeError)
"""What zipfile raises for an entry: damaged, cut off, damaged within deflate; encrypted, or compressed by a method that
it does not know (NotImplementedError is a RuntimeError)."""


class Jars:
    """The jars of a directory, which the JVM has on its class path.

    Args:
        directory: with the jars.
    """

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.paths = user_jars(directory)

    @cached_property
    def _places(self) -> dict[str, Path]:
        """By name of a class, with slashes: the first jar with it, which is the one that the JVM uses."""
        places: dict[str, Path] = {}
        for path in self.paths:
            try:
                with ZipFile(path) as jar:
                    names = jar.namelist()
            except BadZipFile:
                raise LsqlError("FILE_UNREADABLE", path=str(path), reason=_REASONS("NOT_A_JAR")) from None
            except OSError as error:
                raise file_error(path, error) from None
            for name in names:
                if name.endswith(".class"):
                    places.setdefault(name.removesuffix(".class"), path)
        return places

    def find(self, name: str) -> ClassFile | None:
        """The class with a name with slashes; None if no jar has it.

        Raises:
            LsqlError: FILE_UNREADABLE.
        """
        path = self._places.get(name)
        if path is None:
            return None
        entry = f"{name}.class"
        try:
            with ZipFile(path) as jar:
                return read_class(jar.read(entry))
        except (ClassFileError, *_UNREADABLE_ENTRY):
            reason = _REASONS("CLASS_DAMAGED", entry=entry)
            raise LsqlError("FILE_UNREADABLE", path=str(path), reason=reason) from None
        except OSError as error:
            raise file_error(path, error) from None

    def similar(self, name: str) -> list[str]:
        """Classes, as Java code names them, whose own name another class has, in another package or class."""
        own = _own_name(name)
        return sorted(place.replace("/", ".") for place in self._places if _own_name(place) == own)

    def with_parents(self, class_file: ClassFile) -> Iterator[ClassFile]:
        """The class, and the classes and interfaces of the jars that it extends, the nearest first."""
        names, known = [class_file], {class_file.name}
        while names:
            current = names.pop(0)
            yield current
            for name in (*([current.super_name] if current.super_name else []), *current.interfaces):
                parent = None if name in known else self.find(name)
                known.add(name)
                if parent is not None:
                    names.append(parent)

    def interfaces(self, class_file: ClassFile) -> set[str]:
        """The names of all interfaces of a class, as far as the jars contain its parents."""
        return {name for each in self.with_parents(class_file) for name in each.interfaces}

    def calls(self, class_file: ClassFile, count: int) -> list[Method]:
        """The methods `call` of a class, also inherited ones, with a number of parameters."""
        return [
            method
            for each in self.with_parents(class_file)
            for method in each.methods
            if method.name == "call" and not method.access & (BRIDGE | STATIC) and len(method.parameters) == count
        ]


def _own_name(name: str) -> str:
    """`Score` of `com/example/Risk$Score`."""
    return re.split(r"[/$]", name)[-1].lower()
