"""The checks of the classes in the jars, on compiled classes. No class is loaded."""

from pathlib import Path
from zipfile import ZIP_DEFLATED, ZipFile

import pytest

from devkit.java_compiler import build_jar
from lsql_runner.errors import Detail, LsqlError
from lsql_runner.user_functions.class_file import ClassFileError, read_class
from lsql_runner.user_functions.load import FILE, load_functions

_IMPORTS = """
package com.example;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.api.java.*;
import java.util.*;
"""

SOURCES = {
    "Twice": "public class Twice implements UDF1<Integer, Long> { public Long call(Integer x) { return 2L * x; } }",
    "Inherited": "public class Inherited extends Twice {}",
    "Typed": "public abstract class Typed<T> implements UDF1<T, T> {}",
    "Ofint": "public class Ofint extends Typed<Integer> { public Integer call(Integer x) { return x; } }",
    "Interface": "public interface Interface extends UDF1<Integer, Long> {}",
    "ByInterface": "public class ByInterface implements Interface { public Long call(Integer x) { return 1L; } }",
    "Raw": '@SuppressWarnings("all") public class Raw implements UDF1 { public Object call(Object x) { return x; } }',
    "Both": """public class Both implements UDF1<Integer, Long>, UDF2<Integer, Integer, Long> {
        static { if (true) throw new IllegalStateException("loaded"); }
        public Long call(Integer x) { return 1L; } public Long call(Integer x, Integer y) { return 2L; } }""",
    "Six": """public class Six implements UDF6<Integer,Integer,Integer,Integer,Integer,Integer,Long> {
        public Long call(Integer a, Integer b, Integer c, Integer d, Integer e, Integer f) { return 1L; } }""",
    "Texts": """public abstract class Texts implements UDF2<String, String, Boolean> {
        public Boolean call(String x, String y) { return true; } }""",
    "Primitives": """public class Primitives extends Texts {
        public Boolean call(int x, long y) { return x > y; } }""",
    "Plain": "public class Plain { public Long call(Integer x) { return 1L; } }",
    "Hidden": "class Hidden implements UDF1<Integer, Long> { public Long call(Integer x) { return 1L; } }",
    "Made": """public class Made implements UDF1<Integer, Long> {
        public Made(int seed) {} public Long call(Integer x) { return 1L; } }""",
    "Outer": """public class Outer {
        public static class Nested implements UDF1<Integer, Long> { public Long call(Integer x) { return 1L; } }
        public class Inner implements UDF1<Integer, Long> { public Long call(Integer x) { return 1L; } } }""",
    "Lists": """public class Lists implements UDF3<List<String>, Map<String, Long>, Row, byte[]> {
        public byte[] call(List<String> a, Map<String, Long> b, Row c) { return null; } }""",
    "Times": """public class Times
        implements UDF3<java.time.LocalDate, java.time.Instant, java.time.LocalTime, java.math.BigDecimal> {
        public java.math.BigDecimal call(java.time.LocalDate a, java.time.Instant b, java.time.LocalTime c) {
            return null; } }""",
    "Constants": """public class Constants implements UDF1<Integer, Long> {
        static final long L = 5_000_000_000L; static final double D = 1.5; static final float F = 2.5f;
        public Long call(Integer x) {
            Runnable r = () -> System.out.println("x" + x + L + D + F + '\\u0000'); r.run(); return L; } }""",
}


@pytest.fixture(scope="module")
def jar(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One jar with all classes."""
    path = tmp_path_factory.mktemp("jar") / "all.jar"
    build_jar({f"com/example/{name}.java": _IMPORTS + text for name, text in SOURCES.items()}, path)
    return path


@pytest.fixture
def directory(tmp_path: Path, jar: Path) -> Path:
    (tmp_path / "all.jar").symlink_to(jar)
    return tmp_path


def declare(directory: Path, class_name: str, arguments: str = "x: int", result: str = "long") -> None:
    text = f"f:\n  class: {class_name}\n  arguments: {{{arguments}}}\n  result: {result}\n"
    (directory / FILE).write_text(text)


def refusal(directory: Path) -> LsqlError:
    with pytest.raises(LsqlError) as refused:
        load_functions(directory)
    return refused.value


def detail(error: LsqlError, parameter: str) -> Detail:
    value = error.params[parameter]
    assert isinstance(value, Detail)
    return value


@pytest.mark.parametrize(
    ("class_name", "arguments", "result"),
    [
        ("com.example.Twice", "x: int", "long"),
        ("com.example.Inherited", "x: int", "long"),
        ("com.example.Ofint", "x: int", "int"),
        ("com.example.ByInterface", "x: int", "long"),
        ("com.example.Raw", "x: string", "double"),
        ("com.example.Both", "x: int", "long"),
        ("com.example.Both", "x: int, y: int", "long"),
        ("com.example.Outer$Nested", "x: int", "long"),
        ("com.example.Lists", 'a: array<string>, b: "map<string, long>", c: {d: int}', "bytes"),
        ("com.example.Times", "a: date, b: timestamp, c: time", "decimal(10,2)"),
        ("com.example.Constants", "x: int", "long"),
        ("com.example.Primitives", "x: int, y: long", "boolean"),
    ],
)
def test_a_class_with_the_declared_types_is_accepted(
    directory: Path, class_name: str, arguments: str, result: str
) -> None:
    declare(directory, class_name, arguments, result)

    assert load_functions(directory)["F"].class_name == class_name


@pytest.mark.parametrize(
    ("class_name", "arguments", "result", "reason", "instead"),
    [
        ("com.other.Twice", "x: int", "long", "NOT_FOUND", "ADD_JAR_OR_NAME"),
        ("com.example.Plain", "x: int", "long", "NO_INTERFACE", "IMPLEMENT"),
        ("com.example.Twice", "x: int, y: int", "long", "OTHER_INTERFACE", "COUNT"),
        ("com.example.Six", "x: int", "long", "NO_INTERFACE", "IMPLEMENT"),
        ("com.example.Typed", "x: int", "int", "ABSTRACT", "MAKE_USABLE"),
        ("com.example.Interface", "x: int", "long", "ABSTRACT", "MAKE_USABLE"),
        ("com.example.Hidden", "x: int", "long", "NOT_PUBLIC", "MAKE_USABLE"),
        ("com.example.Made", "x: int", "long", "NO_CONSTRUCTOR", "MAKE_USABLE"),
        ("com.example.Outer$Inner", "x: int", "long", "NO_CONSTRUCTOR", "MAKE_USABLE"),
        ("com.example.Twice", "x: long", "long", "ARGUMENT", "TYPE"),
        ("com.example.Inherited", "x: string", "long", "ARGUMENT", "TYPE"),
        ("com.example.Twice", "x: int", "int", "RESULT", "TYPE"),
        ("com.example.Primitives", "x: int, y: int", "boolean", "ARGUMENT", "TYPE"),
        ("com.example.Lists", 'a: string, b: "map<string, long>", c: {d: int}', "bytes", "ARGUMENT", "CLASS"),
    ],
)
def test_a_class_that_cannot_be_used_is_refused(
    directory: Path, class_name: str, arguments: str, result: str, reason: str, instead: str
) -> None:
    declare(directory, class_name, arguments, result)

    error = refusal(directory)
    assert error.code == "FUNCTION_CLASS_INVALID"
    assert (error.params["path"], error.params["function"]) == (str(directory / FILE), "F")
    assert error.params["class_name"] == class_name
    assert (detail(error, "reason").code, detail(error, "instead").code) == (reason, instead)


def test_a_class_in_another_package_is_suggested(directory: Path) -> None:
    declare(directory, "com.other.Nested")

    assert detail(refusal(directory), "instead").params == {"near": "com.example.Outer$Nested"}


def test_the_error_of_a_type_says_what_to_declare(directory: Path) -> None:
    declare(directory, "com.example.Twice", "x: long")

    error = refusal(directory)
    assert detail(error, "reason").params == {"argument": "x", "declared": "long", "found": "Integer"}
    assert detail(error, "instead").params == {"instead": "int", "classes": "Long"}


def test_a_class_for_a_newer_java_is_refused(directory: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    home = tmp_path / "jdk"
    (home / "bin").mkdir(parents=True)
    (home / "bin/java").touch()
    (home / "release").write_text('IMPLEMENTOR="x"\nJAVA_VERSION="11.0.2"\n')
    monkeypatch.setenv("JAVA_HOME", str(home))
    declare(directory, "com.example.Twice")

    error = refusal(directory)
    assert detail(error, "reason").params == {"found": 17, "own": 11}
    assert detail(error, "instead").params == {"own": 11}


def test_a_java_without_a_version_is_not_compared(
    directory: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin/java").touch()
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    declare(directory, "com.example.Twice")

    assert load_functions(directory)["F"].class_name == "com.example.Twice"


def test_a_directory_without_jars_is_refused(tmp_path: Path) -> None:
    declare(tmp_path, "com.example.Twice")

    error = refusal(tmp_path)
    assert (error.code, detail(error, "reason").code) == ("FUNCTION_CLASS_INVALID", "JARS_MISSING")


@pytest.mark.parametrize("content", [b"", b"not a zip"])
def test_a_damaged_jar_is_refused_with_its_path(directory: Path, content: bytes) -> None:
    declare(directory, "com.example.Twice")
    (directory / "a.jar").write_bytes(content)

    error = refusal(directory)
    assert (error.code, error.params["path"]) == ("FILE_UNREADABLE", str(directory / "a.jar"))
    assert detail(error, "reason").code == "NOT_A_JAR"


@pytest.mark.parametrize("damage", [b"\xff", b"\x00"])
def test_a_jar_with_a_damaged_entry_is_refused_with_the_entry(directory: Path, damage: bytes) -> None:
    declare(directory, "com.example.Damaged")
    with ZipFile(directory / "a.jar", "w", ZIP_DEFLATED) as jar:
        jar.writestr("com/example/Damaged.class", b"\xca\xfe\xba\xbe" * 100)
        start = len(jar.infolist()[0].FileHeader())
    content = bytearray((directory / "a.jar").read_bytes())
    content[start : start + 4] = damage * 4
    (directory / "a.jar").write_bytes(content)

    error = refusal(directory)
    assert (error.code, error.params["path"]) == ("FILE_UNREADABLE", str(directory / "a.jar"))
    assert detail(error, "reason").code == "CLASS_DAMAGED"


def test_a_directory_without_the_file_is_refused_with_its_path(directory: Path) -> None:
    error = refusal(directory)

    assert (error.code, error.params["path"]) == ("FILE_UNREADABLE", str(directory / FILE))


@pytest.mark.parametrize("length", [0, 3, 8, 30, 200, 400])
def test_the_begin_of_a_class_file_is_not_a_class(jar: Path, length: int) -> None:
    with ZipFile(jar) as archive:
        data = archive.read("com/example/Twice.class")
    with pytest.raises(ClassFileError):
        read_class(data[:length])


def test_other_bytes_are_not_a_class() -> None:
    with pytest.raises(ClassFileError):
        read_class(bytes(range(256)) * 4)
