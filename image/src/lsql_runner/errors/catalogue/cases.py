"""Case files, and their runs."""

from __future__ import annotations

from lsql_runner.errors.kinds import RUNTIME, ErrorKind

CASES: dict[str, ErrorKind] = {
    "CASE_INVALID": ErrorKind(
        "The case file {path} is wrong at {place}: {reason}.",
        "Correct that place; the format is in docs/reference/cases.md.",
    ),
    "CASE_CONFLICT": ErrorKind(
        "The {what} exists already, and the case {path} would use it as its own.",
        "Run the case where nobody uses that name; what a run that was killed left behind is to be deleted by hand.",
    ),
    "CASE_ABORTED": ErrorKind(
        "The case {path} broke off before {what}: {reason}.",
        "Look at the brokers and their log; what the case made there is deleted again.",
        exit_code=RUNTIME,
    ),
    "CASE_CLEANUP_FAILED": ErrorKind(
        "Of the case {path}, the {what} could not be deleted: {reason}.", "Delete it by hand.", exit_code=RUNTIME
    ),
}
