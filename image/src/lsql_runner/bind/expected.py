"""Descriptions of valid values of settings: the parameter `expected` of SETTING_INVALID."""

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
        "NAME": "a name of letters, digits and _ that does not start with a digit",
        "DOTTED_NAME": "names separated by dots; each has letters, digits and _ and does not start with a digit",
        "TOPIC_NAME": "a topic name: at most 249 letters, digits, dots, _ and -",
        "DURATION": "a duration, such as 30s, 5m, 1h or 1d",
    }
)
