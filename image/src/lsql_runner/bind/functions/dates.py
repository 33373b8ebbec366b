"""Dates and times, in UTC. An instant is a timestamp, a date, or a long with milliseconds since 1970 UTC."""

from __future__ import annotations

from dataclasses import replace

from lsql_runner.bind.functions.expected import EXPECTED_ARGUMENT
from lsql_runner.bind.functions.lowering import Arg, CastTo, Lowering, Native, native
from lsql_runner.bind.functions.spec import Constraint, Function, signature
from lsql_runner.jvm.java_entries import SHOW_VALUE
from lsql_runner.types import INT, TIMESTAMP

GROUP = "Dates and times"

TEXT, PATTERN = Arg(0), Arg(1)
MOMENT = Arg(0)
DAY_MS = 86_400_000

_ISO_INSTANT = r'"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z"'
_CLOCK = "All records of a batch have the same value, because the clock is read when the batch starts."


def pattern_constraint(parameter: str) -> Constraint:
    """That the literal of this parameter is a pattern of dates and times."""
    return Constraint(
        parameter,
        r"(?:'[^']*'|[GyMLdDQqEFahHkKmsSVzOXxZ]|[^A-Za-z'#{}])+",
        EXPECTED_ARGUMENT("DATE_PATTERN"),
    )


def _from_iso(text: Lowering) -> Native:
    """A timestamp from ISO text. Spark's cast also accepts a year, or a time without a date; here the record fails."""
    is_iso = native("rlike", text, r"\A\d{4}-\d{2}-\d{2}([T ]\d{2}:\d{2}.*)?\z")
    shown = native(SHOW_VALUE, native("concat", ": ", text), "")
    failure = native("raise_error", native("concat", "not an ISO date and time", shown))
    return native("if", native("not", is_iso), failure, CastTo(text, TIMESTAMP))


def _days_from_now(days: int) -> Native:
    return native("timestamp_millis", native("+", native("unix_millis", native("current_timestamp")), days * DAY_MS))


def _clock(text: str, lowering: Lowering, doc: str, example: str, result: str = _ISO_INSTANT) -> Function:
    return Function(
        signature=signature(text),
        lowering=lowering,
        doc=f"{doc} {_CLOCK}",
        example=example,
        result=result,
        group=GROUP,
        nulls="never",
        deterministic=False,
    )


def _field_of_instant(name: str, doc: str, result: str) -> Function:
    """A function that returns a field of an instant, such as its year. Spark's function has the same name."""
    return Function(
        signature=signature(f"{name}(moment: instant) -> int"),
        lowering=native(name.lower(), MOMENT),
        doc=doc,
        example=f"{name}(1709211845678)",
        result=result,
        group=GROUP,
    )


def _field_of_time(name: str, doc: str, result: str) -> Function:
    """A function that returns a field of an instant or of a time of day, such as its hour."""
    of_time = Function(
        signature=signature(f"{name}(time: time) -> int"),
        lowering=native(name.lower(), MOMENT),
        doc="Also of a time of day.",
        example=f"{name}(TIME_MILLIS(47045678))",
        result=result,
        group=GROUP,
    )
    return replace(_field_of_instant(name, doc, result), variants=(of_time,))


FUNCTIONS = (
    Function(
        signature=signature("CONVERT_DATETIME(text: string, from: string, to: string) -> string"),
        lowering=native("date_format", native("to_timestamp", TEXT, Arg(1)), Arg(2)),
        doc="Parses a date and time with the pattern `from`, and formats it with the pattern `to`, in UTC. The record"
        " fails if the text does not match `from`.",
        example="CONVERT_DATETIME('2016-01-01 00:00:02', 'yyyy-MM-dd HH:mm:ss', 'dd-MM-yyyy HH:mm')",
        result='"01-01-2016 00:00"',
        group=GROUP,
        constraints=(pattern_constraint("from"), pattern_constraint("to")),
    ),
    Function(
        signature=signature("DATE(days: integer) -> date"),
        lowering=native("date_from_unix_date", CastTo(Arg(0), INT)),
        doc="Returns the date that is `days` days after 1970-01-01.",
        example="DATE(19782)",
        result='"2024-02-29"',
        group=GROUP,
        variants=(
            _clock(
                "DATE() -> date",
                native("current_date"),
                "Without an argument, the result is the current date in UTC.",
                "DATE()",
                r'"\d{4}-\d\d-\d\d"',
            ),
        ),
    ),
    Function(
        signature=signature("DATE_TO_STR(moment: instant, pattern: string) -> string"),
        lowering=native("date_format", MOMENT, PATTERN),
        doc="Formats the instant with the pattern, in UTC. Names of months and days are English.",
        example="DATE_TO_STR(1709211845678, 'dd MMM yyyy HH:mm')",
        result='"29 Feb 2024 13:04"',
        group=GROUP,
        synonyms=("DATE_FORMAT", "TIMESTAMPTOSTRING", "TO_CHAR"),
        aliases=("FORMAT_DATE", "FORMAT_TIMESTAMP"),
        constraints=(pattern_constraint("pattern"),),
    ),
    _clock(
        "DATETIME() -> timestamp",
        native("current_timestamp"),
        "Returns the current date and time, as NOW.",
        "DATETIME()",
    ),
    _field_of_instant("DAY", "Returns the day of the month, 1 to 31, in UTC.", "29"),
    _field_of_time("HOUR", "Returns the hour, 0 to 23, in UTC.", "13"),
    _field_of_time("MINUTE", "Returns the minute, 0 to 59, in UTC.", "4"),
    _field_of_instant("MONTH", "Returns the month, 1 to 12, in UTC.", "2"),
    Function(
        signature=signature("MONTH_TEXT(moment: instant) -> string"),
        lowering=native("date_format", MOMENT, "MMMM"),
        doc="Returns the English name of the month, in UTC.",
        example="MONTH_TEXT(1709211845678)",
        result='"February"',
        group=GROUP,
    ),
    _clock("NOW() -> timestamp", native("current_timestamp"), "Returns the current date and time.", "NOW()"),
    _field_of_time("SECOND", "Returns the second, 0 to 59, without a fraction.", "5"),
    Function(
        signature=signature("TIMESTAMP(date: text, time: text, zone: string = 'UTC') -> timestamp"),
        lowering=native("to_utc_timestamp", _from_iso(native("concat", Arg(0), "T", Arg(1))), Arg(2)),
        doc="Returns the timestamp of a date (yyyy-MM-dd) and a time (HH:mm or HH:mm:ss[.fraction]) in a time zone, "
        "which is a name such as Europe/Paris or an offset such as +02:00. The record fails if one of them is "
        "invalid.",
        example="TIMESTAMP('2024-02-29', '13:04:05', 'Europe/Paris')",
        result='"2024-02-29T12:04:05.000Z"',
        group=GROUP,
    ),
    _clock(
        "TODAY() -> date",
        native("current_date"),
        "Returns the current date in UTC.",
        "TODAY()",
        r'"\d{4}-\d\d-\d\d"',
    ),
    _clock(
        "TOMORROW() -> timestamp", _days_from_now(1), "Returns the current date and time plus 24 hours.", "TOMORROW()"
    ),
    Function(
        signature=signature("TO_DATE(text: string, pattern: string) -> date"),
        lowering=native("to_date", TEXT, PATTERN),
        doc="Parses a date with the pattern. The pattern can contain a time, which the result does not have. The "
        "record fails if the text does not match.",
        example="TO_DATE('2016-01-01 00:11:14', 'yyyy-MM-dd HH:mm:ss')",
        result='"2016-01-01"',
        group=GROUP,
        synonyms=("STRINGTODATE",),
        aliases=("PARSE_DATE",),
        constraints=(pattern_constraint("pattern"),),
    ),
    Function(
        signature=signature("TO_DATETIME(text: string, pattern: string) -> timestamp"),
        lowering=native("to_timestamp", TEXT, PATTERN),
        doc="Parses a date and time with the pattern, as TO_TIMESTAMP.",
        example="TO_DATETIME('2016-01-01 00:11:14', 'yyyy-MM-dd HH:mm:ss')",
        result='"2016-01-01T00:11:14.000Z"',
        group=GROUP,
        constraints=(pattern_constraint("pattern"),),
    ),
    Function(
        signature=signature("TO_TIMESTAMP(text: string, pattern: string) -> timestamp"),
        lowering=native("to_timestamp", TEXT, PATTERN),
        doc="Parses a date and time with the pattern. The time is in UTC if the pattern has no time zone. The record "
        "fails if the text does not match.",
        example="TO_TIMESTAMP('01/02/2016 10:30 +02:00', 'dd/MM/yyyy HH:mm XXX')",
        result='"2016-02-01T08:30:00.000Z"',
        group=GROUP,
        synonyms=("PARSE_TIMESTAMP", "STRINGTOTIMESTAMP", "FROM_UNIXTIME"),
        constraints=(pattern_constraint("pattern"),),
        variants=(
            Function(
                signature=signature("TO_TIMESTAMP(moment: instant) -> timestamp"),
                lowering=MOMENT,
                doc="Also converts an instant: a long with milliseconds since 1970 UTC, or a date as midnight in UTC.",
                example="TO_TIMESTAMP(1709211845678)",
                result='"2024-02-29T13:04:05.678Z"',
                group=GROUP,
            ),
            Function(
                signature=signature("TO_TIMESTAMP(text: string) -> timestamp"),
                lowering=_from_iso(TEXT),
                doc="Without a pattern, the text must be in ISO format: yyyy-MM-dd, optionally followed by T or a "
                "blank, a time, and a time zone. The default time zone is UTC.",
                example="TO_TIMESTAMP('2016-01-01 00:00:02')",
                result='"2016-01-01T00:00:02.000Z"',
                group=GROUP,
            ),
        ),
    ),
    _field_of_instant("YEAR", "Returns the year, in UTC.", "2024"),
    _clock(
        "YESTERDAY() -> timestamp",
        _days_from_now(-1),
        "Returns the current date and time minus 24 hours.",
        "YESTERDAY()",
    ),
)
