"""The names with which Python uses the Java module exist there, and are in one file."""

import re
from pathlib import Path

from lsql_runner.jvm import java_entries as entries

ROOT = Path(__file__).parents[2]
MAIN = ROOT / "image/jvm/src/main/java"
PYTHON = ROOT / "image/src/lsql_runner"


def text_of(class_name: str) -> str:
    return MAIN.joinpath(*class_name.split(".")).with_suffix(".java").read_text()


def marked() -> set[str]:
    """The classes with `@PythonEntry`."""
    paths = [path for path in MAIN.rglob("*.java") if re.search(r"^@PythonEntry$", path.read_text(), re.MULTILINE)]
    return {".".join(path.relative_to(MAIN).with_suffix("").parts) for path in paths}


def test_the_classes_are_those_that_java_marks() -> None:
    assert marked() == entries.CALLED | entries.SETTING_VALUES | entries.PROGRAMS | {entries.CONDITION_ENUM}


def test_the_functions_are_those_that_the_extension_registers() -> None:
    registered = re.findall(r'FUNCTIONS\.put\(\s*"(\w+)"', text_of(entries.EXTENSIONS))

    assert sorted(registered) == sorted(entries.FUNCTIONS)


def test_the_conditions_are_those_that_java_throws() -> None:
    values = re.findall(r"^ +([A-Z][A-Z_]+)\(", text_of(entries.CONDITION_ENUM), re.MULTILINE)

    assert sorted(values) == sorted(entries.CONDITIONS)


def test_no_other_python_file_names_a_java_class_of_this_project() -> None:
    own = PYTHON / "jvm/java_entries.py"
    quoted = re.compile(r'"(?:com\.lsqlrunner|lsql_(?:decode|encode|pack|unpack)_)\w*|jvm\.com\.lsqlrunner')

    assert [path.name for path in PYTHON.rglob("*.py") if path != own and quoted.search(path.read_text())] == []
