"""Case files, and their runs."""

from __future__ import annotations

from lsql_runner.errors.kinds import EXIT_RUNTIME, ErrorKind

CASES: dict[str, ErrorKind] = {
    "CASE_INVALID": ErrorKind(
        "The case file {path} is invalid at {place}: {reason}.",
        "Correct that place. docs/reference/cases.md describes the format.",
        is_of_case=True,
    ),
    "CASE_RECORD_INVALID": ErrorKind(
        "The case file {path} is invalid: the {part} of input record {number} cannot be written: {reason}.",
        "Correct the record or the declaration of its topic. docs/reference/cases.md describes the format.",
        is_of_case=True,
    ),
    "CASE_FORMATS_DIFFER": ErrorKind(
        "The case {path} cannot be compared: two INSERTs write to {topic} in different formats.",
        "Use the same formats, or write to two topics.",
        is_of_case=True,
    ),
    "CASE_SINK_ON_KAFKA": ErrorKind(
        "The case {path} writes to the sink {sink}; the rows of sinks are available in memory only.",
        "Run the case without --kafka.",
        is_of_case=True,
    ),
    "CASE_READS_TARGET": ErrorKind(
        "The program of the case {path} reads {topic} and writes to it, so on brokers it would also read its own "
        "output.",
        "Run the case without --kafka, or write to another topic.",
        is_of_case=True,
    ),
    "CASES_MISSING": ErrorKind(
        "The folder {path} has no case files.", "Give a folder with files named case.yaml or *.case.yaml."
    ),
    "CASE_CONFLICT": ErrorKind(
        "The case {path} would create the {resource} {name}, which already exists.",
        "Delete it if a killed run left it behind, or run the case on other brokers.",
    ),
    "CASE_TOPICS_MISSING": ErrorKind(
        "The topics of the case {path} were not available {seconds} s after they were created.",
        "Check the brokers and their log. What the case created is deleted.",
        exit_code=EXIT_RUNTIME,
    ),
    "CASE_TIMEOUT": ErrorKind(
        "The case {path} timed out in the stage {stage} after {seconds} s; the processor was {state} with a lag of "
        "{lag} records.",
        "Check the brokers and their log. What the case created is deleted.",
        exit_code=EXIT_RUNTIME,
    ),
    "CASE_NOT_COMMITTED": ErrorKind(
        "The processor of the case {path} committed the offset {committed} of {topic}, partition {partition}, instead "
        "of {end}.",
        "Check the brokers and their log. What the case created is deleted.",
        exit_code=EXIT_RUNTIME,
    ),
    "CASE_ABORTED": ErrorKind(
        "The case {path} failed in the stage {stage}: {reason}.",
        "Check the brokers and their log. What the case created is deleted.",
        exit_code=EXIT_RUNTIME,
    ),
    "CASE_CLEANUP_FAILED": ErrorKind(
        "The {resource} {name} of the case {path} could not be deleted: {reason}.",
        "Delete it by hand.",
        exit_code=EXIT_RUNTIME,
    ),
}
