"""Checks that the class of a user-defined function exists and has the declared arguments and result."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from pathlib import Path

from lsql_runner.errors import Detail, DetailTable, LsqlError
from lsql_runner.formats.catalog import UserFunction
from lsql_runner.jvm.java import java_version
from lsql_runner.types import (
    BOOLEAN,
    BYTES,
    DATE,
    DOUBLE,
    FLOAT,
    INT,
    LONG,
    STRING,
    TIME,
    TIMESTAMP,
    Array,
    DataType,
    Decimal,
    Map,
    Struct,
    describe,
)
from lsql_runner.user_functions.class_file import ABSTRACT, INTERFACE, PUBLIC, ClassFile, Method
from lsql_runner.user_functions.declared import MAX_ARGUMENTS
from lsql_runner.user_functions.jars import Jars

_PROBLEMS = DetailTable(
    {
        "JARS_MISSING": "the directory contains no jar",
        "NOT_FOUND": "no jar of the directory contains it",
        "NOT_PUBLIC": "it is not public",
        "ABSTRACT": "it is abstract",
        "NO_CONSTRUCTOR": "it has no public constructor without parameters",
        "TOO_NEW": "it was compiled for Java {found}, and the JVM is Java {own}",
        "NO_INTERFACE": "it does not implement {expected}",
        "OTHER_INTERFACE": "it implements {found}, and the function has {count} arguments",
        "ARGUMENT": "the argument {argument} is declared as {declared}, and its method call takes {found}",
        "RESULT": "the result is declared as {declared}, and its method call returns {found}",
    }
)

_WAYS_OUT = DetailTable(
    {
        "ADD_JAR": "Put the jar with the class into the directory",
        "ADD_JAR_OR_NAME": "Put its jar there, or correct the name; similar classes: {near}",
        "MAKE_USABLE": "Make it a public class with a public constructor without parameters; a nested class is static",
        "RELEASE": "Compile it with --release {own}",
        "IMPLEMENT": "Implement org.apache.spark.sql.api.java.{expected}",
        "COUNT": "Declare {count} arguments, or implement {expected}",
        "TYPE": "Declare {instead}, or let the method have the class {classes}",
        "CLASS": "Let the method have the class {classes}",
    }
)

_INTERFACE = re.compile(r"org/apache/spark/sql/api/java/(UDF(\d+))")

_CLASSES: Mapping[DataType, tuple[str, ...]] = {
    INT: ("java/lang/Integer", "I"),
    LONG: ("java/lang/Long", "J"),
    FLOAT: ("java/lang/Float", "F"),
    DOUBLE: ("java/lang/Double", "D"),
    STRING: ("java/lang/String",),
    BOOLEAN: ("java/lang/Boolean", "Z"),
    BYTES: ("[B",),
    DATE: ("java/sql/Date", "java/time/LocalDate"),
    TIME: ("java/time/LocalTime",),
    TIMESTAMP: ("java/sql/Timestamp", "java/time/Instant"),
}
"""By type: the classes of its values. Kotlin gives a method primitive parameters (`I`)."""

_ANY = ("java/lang/Object", "java/lang/Comparable", "java/io/Serializable")
"""Classes that say too little to be compared with a declared type."""

_PRIMITIVES = {"I": "int", "J": "long", "F": "float", "D": "double", "Z": "boolean", "[B": "byte[]"}


def check_classes(functions: Iterable[UserFunction], jars: Jars, path: Path) -> None:
    """Check the class of each function.

    Args:
        functions: the functions.
        jars: of their directory.
        path: of the file that declares them, for errors.

    Raises:
        LsqlError: FUNCTION_CLASS_INVALID, FILE_UNREADABLE for a damaged jar.
    """
    for function in functions:
        fault = _problem(function, jars)
        if fault is not None:
            problem, way_out = fault
            raise LsqlError(
                "FUNCTION_CLASS_INVALID",
                path=str(path),
                function=function.name,
                class_name=function.class_name,
                reason=problem,
                instead=way_out,
            )


_Problem = tuple[Detail, Detail]
"""The problem of a class, and its solution."""


def _problem(function: UserFunction, jars: Jars) -> _Problem | None:
    if not jars.paths:
        return _PROBLEMS("JARS_MISSING"), _WAYS_OUT("ADD_JAR")
    name = function.class_name.replace(".", "/")
    class_file = jars.find(name)
    if class_file is None:
        near = ", ".join(jars.similar(name)) or "none"
        return _PROBLEMS("NOT_FOUND"), _WAYS_OUT("ADD_JAR_OR_NAME", near=near)
    return (
        _unusable(class_file)
        or _of_interfaces(function, jars.interfaces(class_file))
        or _of_types(function, jars, class_file)
    )


def _unusable(class_file: ClassFile) -> _Problem | None:
    own = java_version()
    if own is not None and class_file.java_version > own:
        return _PROBLEMS("TOO_NEW", found=class_file.java_version, own=own), _WAYS_OUT("RELEASE", own=own)
    if not class_file.access & PUBLIC:
        return _PROBLEMS("NOT_PUBLIC"), _WAYS_OUT("MAKE_USABLE")
    if class_file.access & (ABSTRACT | INTERFACE):
        return _PROBLEMS("ABSTRACT"), _WAYS_OUT("MAKE_USABLE")
    if not any(m.name == "<init>" and not m.parameters and m.access & PUBLIC for m in class_file.methods):
        return _PROBLEMS("NO_CONSTRUCTOR"), _WAYS_OUT("MAKE_USABLE")
    return None


def _of_interfaces(function: UserFunction, names: Iterable[str]) -> _Problem | None:
    count = len(function.arguments)
    expected = f"UDF{count}"
    matches = [match for name in names if (match := _INTERFACE.fullmatch(name))]
    implemented = {int(match.group(2)) for match in matches}
    if count in implemented:
        return None
    usable = sorted(number for number in implemented if 1 <= number <= MAX_ARGUMENTS)
    if not usable:
        return _PROBLEMS("NO_INTERFACE", expected=expected), _WAYS_OUT("IMPLEMENT", expected=expected)
    way_out = _WAYS_OUT("COUNT", count=usable[0], expected=expected)
    return _PROBLEMS("OTHER_INTERFACE", found=f"UDF{usable[0]}", count=count), way_out


def _of_types(function: UserFunction, jars: Jars, class_file: ClassFile) -> _Problem | None:
    problems = [_mismatch(function, method) for method in jars.calls(class_file, len(function.arguments))]
    return None if None in problems else next(iter(problems), None)


def _mismatch(function: UserFunction, method: Method) -> _Problem | None:
    """The first argument or the result of a method that does not have the declared type."""
    for argument, parameter in zip(function.arguments, method.parameters, strict=True):
        classes = _classes(argument.type, is_result=False)
        if parameter not in (*classes, *_ANY):
            declared, shown = describe(argument.type), _java_name(parameter)
            problem = _PROBLEMS("ARGUMENT", argument=argument.name, declared=declared, found=shown)
            return problem, _instead(parameter, classes)
    classes = _classes(function.result.type, is_result=True)
    if method.result not in (*classes, *_ANY):
        declared = describe(function.result.type)
        return _PROBLEMS("RESULT", declared=declared, found=_java_name(method.result)), _instead(method.result, classes)
    return None


def _classes(kind: DataType, is_result: bool) -> tuple[str, ...]:
    """The classes of values of a type, the usual one first."""
    match kind:
        case Decimal():
            return ("java/math/BigDecimal",)
        case Array():
            lists = ("java/util/List", "scala/collection/Seq", "scala/collection/mutable/ArraySeq")
            more = ("java/util/ArrayList", "scala/collection/immutable/Seq", "[Ljava/lang/Object;")
            return (*lists, *more) if is_result else lists
        case Map():
            maps = ("java/util/Map", "scala/collection/Map", "scala/collection/immutable/Map")
            more = ("java/util/HashMap", "java/util/LinkedHashMap", "java/util/TreeMap")
            return (*maps, *more) if is_result else maps
        case Struct():
            return ("org/apache/spark/sql/Row",)
    return _CLASSES[kind]


def _instead(class_name: str, classes: tuple[str, ...]) -> Detail:
    shown = " or ".join(_java_name(name) for name in classes[:2] if len(name) > 1)
    scalar = next((describe(kind) for kind, names in _CLASSES.items() if class_name in names), None)
    return _WAYS_OUT("CLASS", classes=shown) if scalar is None else _WAYS_OUT("TYPE", instead=scalar, classes=shown)


def _java_name(name: str) -> str:
    """A class as Java code names it: `Integer`, `java.time.Instant`."""
    return _PRIMITIVES.get(name) or name.replace("/", ".").removeprefix("java.lang.")
