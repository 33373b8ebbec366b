"""The elements of the grammar that the parser expects, for SQL_SYNTAX."""

from __future__ import annotations

from lsql_runner.errors import DetailTable

EXPECTED = DetailTable(
    {
        "WORD": "{word}",
        "SYMBOL": "'{symbol}'",
        "SEMICOLON": "`;` or the end of the program",
        "SEMICOLON_AFTER_WITH": "`;` after WITH (inside an INSERT, WITH follows the name of the target)",
        "STATEMENT": "SET, CREATE TABLE, WITH, INSERT INTO or UPSERT INTO",
        "STORE_FORMAT": "KEY AS <format> or VALUE AS <format>",
        "WINDOW": "TUMBLE, HOP or SESSION",
        "SETTING": "the name of a setting",
        "VALUE": "a value",
        "QUERY_NAME": "a name for the WITH query",
        "QUERY_AS": "AS after the name of the WITH query",
        "TOPIC": "the name of the topic",
        "SOURCE_TOPIC": "the name of a source topic",
        "TARGET_TOPIC": "the name of the target topic",
        "ALIAS": "an alias",
        "JOINED_SOURCE": "JOIN or the next clause",
        "SUBSELECT_ALIAS": "AS and a name for the joined subselect",
        "ELEMENT_NAME": "a name for the element",
        "EXPRESSION": "an expression",
        "FIELD": "a field name",
        "COLUMNS": "the columns in brackets",
        "TYPE": "a type",
        "INTEGER": "a whole number",
        "INTEGER_RANGE": "a whole number from {least} to {most}",
        "LEGACY_DURATION": "a whole number, such as 5 in TUMBLE(5,m)",
        "TIME_UNIT": "a unit of time: {known}",
        "DURATION": "a duration, such as 30s, 5m or 1h",
        "FORMAT": "a format, such as JSON or STRING",
        "INNER_FORMAT": "the format inside the window",
        "STORE": "a data structure, such as HASH",
        "OPTION": "the name of an option",
    }
)
