"""Reads the directory LSQL_UDF_DIR."""

from __future__ import annotations

from pathlib import Path

from lsql_runner.errors import file_error
from lsql_runner.formats.catalog import UserFunction
from lsql_runner.user_functions.classes import check_classes
from lsql_runner.user_functions.declared import parse_functions
from lsql_runner.user_functions.jars import Jars

FILE = "functions.yaml"


def load_functions(directory: Path) -> dict[str, UserFunction]:
    """The functions that the file of a directory declares, by name. Their classes are read and not loaded.

    Raises:
        LsqlError: FILE_UNREADABLE, FILE_NOT_UTF8, FUNCTION_FILE_INVALID, FUNCTION_NAME_INVALID, FUNCTION_IN_PYTHON,
            FUNCTION_CLASS_INVALID.
    """
    path = directory / FILE
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise file_error(path, error) from None
    functions = parse_functions(text, path)
    check_classes(functions.values(), Jars(directory), path)
    return functions
