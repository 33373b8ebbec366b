"""Times of day, and dates, times and timestamps by their unit, in UTC."""

from __future__ import annotations

from lsql_runner.bind.functions.dates import DAY_MS, GROUP, MOMENT, PATTERN, TEXT, pattern_constraint
from lsql_runner.bind.functions.lowering import Arg, CastTo, Lowering, native
from lsql_runner.bind.functions.spec import Function, signature
from lsql_runner.types import DATE, LONG, TIME

_NUMBER = Arg(0)
_DAY_MICROS = DAY_MS * 1000
_PARSED = CastTo(native("to_time", TEXT, PATTERN), TIME)  # the function has no type if the pattern is NULL
_WRITTEN = "A date and a time zone in the text are not used. The record fails if the text does not match."


def _time_function(
    text: str, lowering: Lowering, doc: str, example: str, result: str, synonyms: tuple[str, ...] = ()
) -> Function:
    parsed = signature(text)
    has_pattern = any(p.name == "pattern" for p in parsed.parameters)
    return Function(
        signature=parsed,
        lowering=lowering,
        doc=doc,
        example=example,
        result=result,
        group=GROUP,
        synonyms=synonyms,
        constraints=(pattern_constraint("pattern"),) if has_pattern else (),
    )


FUNCTIONS = (
    _time_function(
        "EXTRACT_DATE(moment: instant) -> date",
        CastTo(MOMENT, DATE),
        "Returns the date of the instant, in UTC.",
        "EXTRACT_DATE(1709211845678)",
        '"2024-02-29"',
    ),
    _time_function(
        "EXTRACT_TIME(moment: instant) -> time",
        native("time_from_micros", native("pmod", native("unix_micros", MOMENT), _DAY_MICROS)),
        "Returns the time of day of the instant, in UTC.",
        "EXTRACT_TIME(1709211845670)",
        '"13:04:05.67"',
    ),
    Function(
        signature=signature("FORMAT_TIME(time: time, pattern: string) -> string"),
        lowering=native("date_format", native("timestamp_micros", native("time_to_micros", Arg(0))), PATTERN),
        doc="Formats the time with the pattern.",
        example="FORMAT_TIME(TIME_MILLIS(47045678), 'h:mm a')",
        result='"1:04 PM"',
        group=GROUP,
        synonyms=("TIME_FORMAT",),
        constraints=(pattern_constraint("pattern"),),
        variants=(
            _time_function(
                "FORMAT_TIME(moment: instant, pattern: string) -> string",
                native("date_format", MOMENT, PATTERN),
                "Also formats an instant, in UTC.",
                "FORMAT_TIME(1709211845678, 'h:mm a, z')",
                '"1:04 PM, UTC"',
            ),
        ),
    ),
    _time_function(
        "PARSE_TIMESTAMP_MICROS(text: string, pattern: string) -> timestamp",
        native("to_timestamp", TEXT, PATTERN),
        "Parses a date and time with the pattern, as TO_TIMESTAMP.",
        "PARSE_TIMESTAMP_MICROS('2016-01-01 00:11:14', 'yyyy-MM-dd HH:mm:ss')",
        '"2016-01-01T00:11:14.000Z"',
    ),
    _time_function(
        "PARSE_TIMESTAMP_MILLIS(text: string, pattern: string) -> timestamp",
        native("date_trunc", "MILLISECOND", native("to_timestamp", TEXT, PATTERN)),
        "Parses a date and time with the pattern, as TO_TIMESTAMP. Microseconds are cut off.",
        "PARSE_TIMESTAMP_MILLIS('2016-01-01 00:11:14', 'yyyy-MM-dd HH:mm:ss')",
        '"2016-01-01T00:11:14.000Z"',
    ),
    _time_function(
        "PARSE_TIME_MICROS(text: string, pattern: string) -> time",
        _PARSED,
        f"Parses a time of day with the pattern. {_WRITTEN}",
        "PARSE_TIME_MICROS('00:11:14.123456', 'HH:mm:ss.SSSSSS')",
        '"00:11:14.123456"',
        ("PARSE_TIME", "TO_TIME"),
    ),
    _time_function(
        "PARSE_TIME_MILLIS(text: string, pattern: string) -> time",
        native("time_trunc", "MILLISECOND", _PARSED),
        f"Parses a time of day with the pattern. Microseconds are cut off. {_WRITTEN}",
        "PARSE_TIME_MILLIS('2016-01-01 00:11:14', 'yyyy-MM-dd HH:mm:ss')",
        '"00:11:14"',
    ),
    _time_function(
        "TIMESTAMP_MICROS(micros: integer) -> timestamp",
        native("timestamp_micros", _NUMBER),
        "Returns the timestamp that is so many microseconds after 1970 UTC.",
        "TIMESTAMP_MICROS(1709211845678901)",
        '"2024-02-29T13:04:05.678Z"',
    ),
    _time_function(
        "TIMESTAMP_MILLIS(millis: integer) -> timestamp",
        native("timestamp_micros", native("*", CastTo(_NUMBER, LONG), 1000)),
        "Returns the timestamp that is so many milliseconds after 1970 UTC. The record fails if the year is larger "
        "than 294246.",
        "TIMESTAMP_MILLIS(1709211845678)",
        '"2024-02-29T13:04:05.678Z"',
    ),
    _time_function(
        "TIME_MICROS(micros: integer) -> time",
        native("time_from_micros", native("pmod", _NUMBER, _DAY_MICROS)),
        "Returns the time of day that is so many microseconds after midnight. Whole days are left out.",
        "TIME_MICROS(1503158676433679390)",
        '"20:47:13.67939"',
        ("TIME_FROM_MICROS",),
    ),
    _time_function(
        "TIME_MILLIS(millis: integer) -> time",
        native("time_from_millis", native("pmod", _NUMBER, DAY_MS)),
        "Returns the time of day that is so many milliseconds after midnight. Whole days are left out.",
        "TIME_MILLIS(1503158676433679390)",
        '"03:07:59.39"',
        ("TIME_FROM_MILLIS",),
    ),
)
