"""What the value of a setting must be, for SETTING_INVALID."""

from __future__ import annotations

from lsql_runner.errors import DetailTable

EXPECTED = DetailTable(
    {
        "BOOLEAN": "true or false",
        "ONE_OF": "one of {known}",
        "INTEGER": "a whole number",
        "POSITIVE_INTEGER": "a whole number above zero",
        "INTEGER_RANGE": "a whole number from {least} to {most}",
        "BYTES_MULTIPLE": "a number of bytes, a multiple of {unit}",
        "NAME": "a name of letters, digits and _",
        "DOTTED_NAME": "names of letters, digits and _, separated by dots",
        "TOPIC_NAME": "the name of a topic: letters, digits, dots, _ and -",
        "DURATION": "a duration, such as 30s, 5m, 1h or 1d",
    }
)
