"""What an argument must be: the parameter `expected` of ARGUMENT_TYPE and ARGUMENT_VALUE."""

from __future__ import annotations

from lsql_runner.errors import DetailTable

EXPECTED_ARGUMENT = DetailTable(
    {
        "NUMBER": "a number",
        "INTEGER": "a whole number",
        "ORDERED": "a number, string, boolean, date, time or timestamp",
        "WITHOUT_MAPS": "a type without maps",
        "ARRAY": "an array",
        "ARRAYS": "an array of arrays",
        "STRUCT": "a struct",
        "FIELD_NAME": "a name that no other field has",
        "TEXT": "a string, number, boolean, date, time or timestamp",
        "INSTANT": "a timestamp, a date, or a long with milliseconds",
        "HEADER": "the name of a header",
        "INTEGER_RANGE": "a whole number from {least} to {most}",
        "JSON_PATH": "a path such as $, $.a.b, $['a b'] or $.a[0]; it can contain [*] once, or end with .*",
        "DATE_PATTERN": "a pattern of Java's DateTimeFormatter, such as yyyy-MM-dd HH:mm:ss; week-based symbols are "
        "not supported, and text must be in single quotes",
    }
)
