"""The log of the JVM: what is left of the messages of exceptions. tests/kafka runs it."""

import re

import pytest

from lsql_runner.jvm.jvm_log import log_configuration


def shortened(text: str) -> str:
    """What log4j makes of a message, by the expression of the configuration."""
    [pattern] = re.findall(r'"message":"%enc\{%replace\{%m\}\{(.*?)\}\{\$1\}\}', log_configuration("WARN", False))
    return re.sub(pattern.replace("\\\\", "\\"), r"\1", text)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "Lost task 0.0: org.apache.spark.SparkNumberFormatException: [CAST_INVALID_INPUT] The value 's3cr3t'\nat",
            "Lost task 0.0: org.apache.spark.SparkNumberFormatException: [CAST_INVALID_INPUT]",
        ),
        (
            "Killing all tasks in stage 0: [NUMERIC_VALUE_OUT_OF_RANGE.X] s3cr3t",
            "Killing all tasks in stage 0: [NUMERIC_VALUE_OUT_OF_RANGE.X]",
        ),
        ("it failed: java.lang.OutOfMemoryError: s3cr3t", "it failed: java.lang.OutOfMemoryError"),
        ("[Producer clientId=a] Node 1 disconnected.", "[Producer clientId=a] Node 1 disconnected."),
    ],
)
def test_a_message_ends_at_the_class_or_condition_of_an_exception(text: str, expected: str) -> None:
    assert shortened(text) == expected


def test_with_values_messages_are_complete() -> None:
    assert '"message":"%enc{%m}{JSON}","exception":"%enc{%throwable{short.message}}{JSON}"' in log_configuration(
        "WARN", True
    )
