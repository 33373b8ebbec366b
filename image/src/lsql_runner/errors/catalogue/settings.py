"""SET, the environment, and files."""

from __future__ import annotations

from lsql_runner.errors.kinds import ErrorKind

SETTINGS: dict[str, ErrorKind] = {
    "SETTING_UNKNOWN": ErrorKind(
        "There is no setting {key}.",
        "Near names: {near}.",
    ),
    "SETTING_INVALID": ErrorKind(
        "{key} cannot be {value}.",
        "Give it {expected}.",
    ),
    "SETTING_DUPLICATE": ErrorKind(
        "{key} is set twice, to {first} and to {second}.",
        "Keep one of them.",
    ),
    "ENV_UNKNOWN": ErrorKind(
        "The environment holds {name}, which means nothing here.",
        "Near names: {near}.",
    ),
    "ENV_INVALID": ErrorKind(
        "{name} cannot be {value}.",
        "Give it {expected}.",
    ),
    "ENV_MISSING": ErrorKind(
        "{name} is not set.",
        "Set {name} to {expected}.",
    ),
    "FILE_UNREADABLE": ErrorKind(
        "The file {path} cannot be read: {reason}.",
        "Give a file that exists and may be read.",
    ),
}
