"""The failure that an exception of the JVM and its causes report."""

import json

import pytest

from lsql_runner.compile.attempts import rules
from lsql_runner.errors import Recovery
from lsql_runner.jvm.failures import classify, classify_errors, query_error, store_error
from lsql_runner.jvm.java_error import JavaError, read_chain
from lsql_runner.runtime.recovery import recovery_of_query

STREAM = JavaError("STREAM_FAILED", {}, "Query [id = 1] terminated with exception", "StreamingQueryException")
WRITER = JavaError("FOREACH_BATCH_USER_FUNCTION_ERROR", {}, "An error occurred in foreach batch", "SparkException")
JOB = JavaError("", {}, "Job aborted due to stage failure: Task 0 in stage 1.0 failed 1 times", "SparkException")


@pytest.mark.parametrize(
    ("condition", "kind"),
    [
        ("MALFORMED_RECORD_IN_PARSING", "malformed"),
        ("CAST_INVALID_INPUT", "refused"),
        ("MALFORMED_CHARACTER_CODING", "refused"),
        ("DIVIDE_BY_ZERO", "refused"),
        ("USER_RAISED_EXCEPTION", "refused"),
        ("LSQL_VALUE_DOES_NOT_FIT_SCHEMA", "refused"),
        ("LSQL_OFFSET_MISSING", "data-loss"),
        ("LSQL_TOPIC_RECREATED", "recreated"),
        ("LSQL_GROUP_TOO_LARGE", "too-large"),
        ("LSQL_REGISTRY_UNREACHABLE", "temporary"),
        ("LSQL_REGISTRY_REFUSED", "temporary"),
        ("LSQL_REGISTRY_RESPONSE_TOO_LARGE", "temporary"),
        ("LSQL_STORE_UNREACHABLE", "store"),
        ("LSQL_STORE_REFUSED", "store"),
        ("LSQL_STORE_WITHOUT_CONNECTOR", "store"),
        ("LSQL_STORE_FAILED", "store"),
        ("TASK_WRITE_FAILED", "temporary"),
        ("", "temporary"),
    ],
)
def test_the_innermost_condition_determines_the_failure(condition: str, kind: str) -> None:
    cause = JavaError(condition, {"reason": "x"}, "a reason", "SomeException")

    failure = classify_errors((STREAM, WRITER, JOB, cause))

    assert (failure.kind, failure.reason, failure.error) == (kind, "a reason", cause)


def test_a_malformed_record_takes_precedence_over_the_cast_inside_it() -> None:
    malformed = JavaError("MALFORMED_RECORD_IN_PARSING", {}, "x")

    assert classify_errors((STREAM, malformed, JavaError("CAST_INVALID_INPUT", {}, "y"))).error is malformed


def test_a_response_of_the_registry_that_is_too_large_has_its_own_error() -> None:
    cause = JavaError("LSQL_REGISTRY_RESPONSE_TOO_LARGE", {"url": "http://r/schemas/ids/1", "limit_bytes": "16777216"})

    error = query_error(classify_errors((STREAM, JOB, cause)))

    assert error.code == "REGISTRY_RESPONSE_TOO_LARGE"
    assert error.params == {"url": "http://r/schemas/ids/1", "limit_bytes": 16777216}


LOST = (
    "Job aborted due to stage failure: Task 1 in stage 0.0 failed 4 times, most recent failure: Lost task 1.3 in stage "
    "0.0 (TID 9) (10.0.0.7 executor 4): ExecutorLostFailure (executor 4 exited caused by one of the running tasks) "
    "Reason: Command exited with code {code}"
)


@pytest.mark.parametrize(
    ("code", "error"), [(3, "WORKERS_OUT_OF_MEMORY"), (52, "WORKERS_OUT_OF_MEMORY"), (137, "QUERY_FAILED")]
)
def test_workers_are_out_of_memory_if_the_last_attempt_of_a_task_ended_so(code: int, error: str) -> None:
    lost = JavaError("", {}, LOST.format(code=code), "SparkException")

    assert query_error(classify_errors((STREAM, lost))).code == error


def test_a_record_that_ended_the_jvms_of_workers_is_named() -> None:
    place = {"topic": "t", "partition": "1", "offset": "7", "heap_mib": "304"}
    cause = JavaError("LSQL_RECORD_EXCEEDS_HEAP", place)

    error = query_error(classify_errors((STREAM, JOB, cause)))

    assert error.code == "RECORDS_EXCEED_WORKER_HEAP"
    assert error.params == {"topic": "t", "partition": 1, "offset": 7, "next_offset": 8, "heap_mib": 304}


def test_a_topic_that_was_created_again_is_named_and_the_next_start_decides() -> None:
    error = query_error(classify_errors((STREAM, JOB, JavaError("LSQL_TOPIC_RECREATED", {"topic": "t"}))))

    assert (error.code, error.params) == ("TOPIC_DELETED", {"topic": "t"})
    assert recovery_of_query(error) is Recovery.RETRY


def test_every_other_failure_of_a_query_has_its_reason() -> None:
    error = query_error(classify_errors((STREAM, JavaError("LSQL_REGISTRY_REFUSED", {}, "answers 401"))))

    assert (error.code, error.params) == ("QUERY_FAILED", {"reason": "answers 401"})


def test_the_failure_of_the_store_with_the_state_has_its_code_and_the_uri() -> None:
    cause = JavaError("LSQL_STORE_UNREACHABLE", {"reason": "Connection refused."}, "no answer", "StoreException")

    error = store_error(classify_errors((STREAM, JOB, cause)), "s3a://states/app")

    assert (error.code, error.params) == (
        "STATE_STORE_UNREACHABLE",
        {"uri": "s3a://states/app", "reason": "Connection refused"},
    )


def test_an_unreachable_registry_takes_precedence_over_a_malformed_record() -> None:
    unreachable = JavaError("LSQL_REGISTRY_UNREACHABLE", {}, "no answer")

    assert classify_errors((JavaError("MALFORMED_RECORD_IN_PARSING", {}, "x"), unreachable)).kind == "temporary"


def test_offsets_that_the_broker_has_deleted_are_lost_data() -> None:
    gone = JavaError("", {}, "", "OffsetOutOfRangeException")

    failure = classify_errors((STREAM, gone))

    assert (failure.kind, failure.reason) == ("data-loss", "the next offsets no longer exist")


@pytest.mark.parametrize(
    ("errors", "reason"),
    [
        ((STREAM, WRITER, JavaError("", {}, "message too large", "RecordTooLargeException")), "message too large"),
        ((STREAM, JOB, JavaError("", {}, "", "OutOfMemoryError")), JOB.reason),
        ((JavaError("", {}, "", "TimeoutException"),), "TimeoutException"),
        ((JavaError(),), "the cause is unknown"),
    ],
)
def test_without_a_known_condition_the_innermost_reason_is_reported(errors: tuple[JavaError, ...], reason: str) -> None:
    assert (classify_errors(errors).kind, classify_errors(errors).reason) == ("temporary", reason)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "ValueError"),
        ("\n\n", "ValueError"),
        ("org.apache.kafka.common.errors.TimeoutException: no answer", "TimeoutException: no answer"),
        ("first\nsecond", "first"),
        ("y" * 5000, "y" * 300),
    ],
)
def test_a_python_exception_is_temporary_and_has_one_short_line(text: str, reason: str) -> None:
    failure = classify(ValueError(text))

    assert (failure.kind, failure.reason) == ("temporary", reason)


def test_a_chain_of_errors_is_parsed_from_json() -> None:
    link = {"type": "T", "condition": "C", "parameters": {"a": "1"}, "reason": "r"}

    assert read_chain(json.dumps([link])) == (JavaError("C", {"a": "1"}, "r", "T"),)


@pytest.mark.parametrize(
    ("read", "write", "only_phase", "phase_and_code"),
    [
        (True, False, None, {"CAST_OVERFLOW": ["read", "RECORD_REFUSED"]}),
        (True, True, None, {"MALFORMED_RECORD_IN_PARSING": ["read", "RECORD_MALFORMED"]}),
        (True, True, "write", {"CAST_OVERFLOW": ["write", "RECORD_REFUSED"]}),
        (True, True, None, {"LSQL_VALUE_DOES_NOT_FIT_SCHEMA": ["write", "RECORD_REFUSED"]}),
        (False, True, None, {"LSQL_RECORD_TOO_LARGE": ["write", "RECORD_TOO_LARGE"], "CAST_OVERFLOW": None}),
        (True, False, None, {"LSQL_VALUE_DOES_NOT_FIT_SCHEMA": None, "LSQL_RECORD_TOO_LARGE": None}),
    ],
)
def test_rules_give_each_condition_a_phase_and_an_error_code(
    read: bool, write: bool, only_phase: str | None, phase_and_code: dict[str, list[str] | None]
) -> None:
    document = json.loads(rules(read, write, only_phase))

    assert {name: document["conditions"].get(name) for name in phase_and_code} == phase_and_code
    assert "LSQL_GROUP_TOO_LARGE" in document["never"]
