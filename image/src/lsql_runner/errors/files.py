"""Errors of files that the user names."""

from __future__ import annotations

from pathlib import Path

from lsql_runner.errors.error import LsqlError


def file_error(path: str | Path, error: OSError | UnicodeDecodeError) -> LsqlError:
    """FILE_NOT_UTF8 or FILE_UNREADABLE, from the exception of reading a text file."""
    if isinstance(error, UnicodeDecodeError):
        return LsqlError("FILE_NOT_UTF8", path=str(path))
    return LsqlError("FILE_UNREADABLE", path=str(path), reason=error.strerror or type(error).__name__)
