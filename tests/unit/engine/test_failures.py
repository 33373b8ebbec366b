"""Why a query died, from the texts that Spark's exceptions have."""

import pytest

from lsql_runner.engine.failures import classify

AROUND = """[STREAM_FAILED] Query [id = 1, runId = 2] terminated with exception: [FOREACH_BATCH_USER_FUNCTION_ERROR] \
An error occurred in the user provided function in foreach batch sink. Reason: An exception was raised:
org.apache.spark.SparkException: Job aborted due to stage failure: Task 0 in stage 1.0 failed 1 times
Caused by: {inner}
\tat org.apache.spark.sql.Something.method(Something.scala:1)
SQLSTATE: XXKST"""


def within(inner: str) -> str:
    return AROUND.format(inner=inner)


MALFORMED = "Malformed records are detected in record parsing: [null]"
CAST = """The value 'abc' of the type "STRING" cannot be cast to "INT" because it is malformed. Correct the value"""


@pytest.mark.parametrize(
    ("inner", "kind", "reason"),
    [
        (
            f"[MALFORMED_RECORD_IN_PARSING.WITHOUT_SUGGESTION] {MALFORMED}.\nParse Mode: FAILFAST. SQLSTATE: 22023",
            "malformed",
            MALFORMED,
        ),
        (f"[CAST_INVALID_INPUT] {CAST}. Use `try_cast` to tolerate. SQLSTATE: 22018", "refused", CAST),
        (
            "[DIVIDE_BY_ZERO] Division by zero. Use `try_divide` to tolerate divisor being 0. SQLSTATE: 22012",
            "refused",
            "Division by zero",
        ),
        ("[USER_RAISED_EXCEPTION] the event time is null SQLSTATE: P0001", "refused", "the event time is null"),
        (
            "[KAFKA_DATA_LOSS.COULD_NOT_READ_OFFSET_RANGE] Some data may have been lost. SQLSTATE: 22000",
            "data-loss",
            "Some data may have been lost",
        ),
        ("[USER_RAISED_EXCEPTION] expected 4 bytes, found 3", "malformed", "expected 4 bytes, found 3"),
        (
            "[USER_RAISED_EXCEPTION] expected 16 bytes or more, found 3",
            "malformed",
            "expected 16 bytes or more, found 3",
        ),
        ("java.lang.OutOfMemoryError: Java heap space", "passing", None),
        (
            "com.lsqlrunner.avro.RegistryFailure: [LSQL_REGISTRY_UNREACHABLE] The schema registry does not answer: no.",
            "passing",
            "The schema registry does not answer: no",
        ),
        (
            "com.lsqlrunner.avro.RegistryFailure: [LSQL_REGISTRY_REFUSED] The schema registry refuses: a answers 401",
            "passing",
            "The schema registry refuses: a answers 401",
        ),
        (
            "com.lsqlrunner.avro.Misfit: [LSQL_VALUE_DOES_NOT_FIT_SCHEMA] a value is null: field a",
            "refused",
            "a value is null: field a",
        ),
        (
            "[MALFORMED_RECORD_IN_PARSING] Not so: it is 1.\nParse Mode: FAILFAST.\nCaused by: a.Malformed: x",
            "malformed",
            "Not so: it is 1",
        ),
        (
            "[TASK_WRITE_FAILED] Task failed while writing rows. SQLSTATE: 58030",
            "passing",
            "Task failed while writing rows",
        ),
    ],
)
def test_the_innermost_condition_decides(inner: str, kind: str, reason: str | None) -> None:
    found = classify(within(inner))

    assert found.kind == kind
    assert reason is None or found.reason == reason


def test_a_malformed_record_outweighs_the_cast_inside_it() -> None:
    text = within("[MALFORMED_RECORD_IN_PARSING] Bad record. SQLSTATE: 22023\nCaused by: [CAST_INVALID_INPUT] cast.")

    assert classify(text).kind == "malformed"


def test_without_a_condition_the_innermost_cause_speaks() -> None:
    text = within(
        "java.util.concurrent.ExecutionException: outer\n"
        "Caused by: org.apache.kafka.common.errors.RecordTooLargeException: The request included a message too large."
    ).replace("Reason: An exception", "Reason: Traceback (most recent call last):\nAn exception")

    assert classify(text).reason == "The request included a message too large"


@pytest.mark.parametrize("text", ["", "\n\n", "org.apache.kafka.common.errors.TimeoutException: no answer"])
def test_a_text_without_a_condition_may_pass(text: str) -> None:
    found = classify(text)

    assert found.kind == "passing"
    assert found.reason
    assert "org.apache" not in found.reason


@pytest.mark.parametrize("inner", ["[CAST_OVERFLOW] " + "x" * 5000, "y" * 5000])
def test_the_reason_is_one_short_line_without_a_trace(inner: str) -> None:
    reason = classify(within(inner)).reason

    assert len(reason) <= 300
    assert "\n" not in reason
    assert "Something.scala" not in reason
