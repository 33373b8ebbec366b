"""Dates and times, in UTC. An instant is a timestamp, a date, or a long of milliseconds since 1970 UTC."""

from __future__ import annotations

from lsql_runner.bind.functions.lowering import Arg, CastTo, Lowering, Native, native
from lsql_runner.bind.functions.spec import Form, Function, signature
from lsql_runner.types import INT, TIMESTAMP

GROUP = "Dates and times"

TEXT, PATTERN = Arg(0), Arg(1)
MOMENT = Arg(0)
DAY_MS = 86_400_000

_ISO_INSTANT = r'"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z"'
_CLOCK = "; the moment at which the running batch began, the same for all of its records."


def _pattern(parameter: str) -> Form:
    return Form(
        parameter,
        r"(?:'[^']*'|[GyMLdDQqEFahHkKmsSVzOXxZ]|[^A-Za-z'#{}])+",
        "a pattern as yyyy-MM-dd HH:mm:ss (the letters of Java's DateTimeFormatter but no week-based ones; "
        "text in quotes)",
    )


def _from_iso(text: Lowering) -> Native:
    """A timestamp from ISO text. The built-in also takes a bare year, and a bare time for one of today:
    both fail here."""
    is_iso = native("rlike", text, r"\A\d{4}-\d{2}-\d{2}([T ]\d{2}:\d{2}.*)?\z")
    failure = native("raise_error", native("concat", "not an ISO date and time: ", text))
    return native("if", native("not", is_iso), failure, CastTo(text, TIMESTAMP))


def _days_from_now(days: int) -> Native:
    return native("timestamp_millis", native("+", native("unix_millis", native("current_timestamp")), days * DAY_MS))


def _clock(text: str, lowering: Lowering, doc: str, example: str, result: str = _ISO_INSTANT) -> Function:
    return Function(
        signature=signature(text),
        lowering=lowering,
        doc=doc + _CLOCK,
        example=example,
        result=result,
        group=GROUP,
        nulls="never",
        deterministic=False,
    )


def _part(name: str, doc: str, result: str) -> Function:
    """A row that reads one number off an instant; the built-in has the function's own name."""
    lowering = native(name.lower(), MOMENT)
    return Function(
        signature=signature(f"{name}(moment: instant) -> int"),
        lowering=lowering,
        doc=doc,
        example=f"{name}(1709211845678)",
        result=result,
        group=GROUP,
    )


FUNCTIONS = (
    Function(
        signature=signature("CONVERT_DATETIME(text: string, from: string, to: string) -> string"),
        lowering=native("date_format", native("to_timestamp", TEXT, Arg(1)), Arg(2)),
        doc="The date and time in the text, read by one pattern and written by another, in UTC; "
        "text that does not fit fails the record.",
        example="CONVERT_DATETIME('2016-01-01 00:00:02', 'yyyy-MM-dd HH:mm:ss', 'dd-MM-yyyy HH:mm')",
        result='"01-01-2016 00:00"',
        group=GROUP,
        forms=(_pattern("from"), _pattern("to")),
    ),
    Function(
        signature=signature("DATE(days: integer) -> date"),
        lowering=native("date_from_unix_date", CastTo(Arg(0), INT)),
        doc="The date that is so many days after 1970-01-01.",
        example="DATE(19782)",
        result='"2024-02-29"',
        group=GROUP,
        variants=(
            _clock(
                "DATE() -> date",
                native("current_date"),
                "The date of today, in UTC",
                "DATE()",
                r'"\d{4}-\d\d-\d\d"',
            ),
        ),
    ),
    Function(
        signature=signature("DATE_TO_STR(moment: instant, pattern: string) -> string"),
        lowering=native("date_format", MOMENT, PATTERN),
        doc="The instant as text, written by the pattern, in UTC; names of months and days are English.",
        example="DATE_TO_STR(1709211845678, 'dd MMM yyyy HH:mm')",
        result='"29 Feb 2024 13:04"',
        group=GROUP,
        aliases=("FORMAT_DATE",),
        forms=(_pattern("pattern"),),
    ),
    _clock(
        "DATETIME() -> timestamp",
        native("current_timestamp"),
        "The current date and time, as NOW",
        "DATETIME()",
    ),
    _part("DAY", "The day of the month of the instant, 1 to 31.", "29"),
    _part("HOUR", "The hour of the instant, 0 to 23.", "13"),
    _part("MINUTE", "The minute of the instant, 0 to 59.", "4"),
    _part("MONTH", "The month of the instant, 1 to 12.", "2"),
    Function(
        signature=signature("MONTH_TEXT(moment: instant) -> string"),
        lowering=native("date_format", MOMENT, "MMMM"),
        doc="The English name of the month of the instant.",
        example="MONTH_TEXT(1709211845678)",
        result='"February"',
        group=GROUP,
    ),
    _clock("NOW() -> timestamp", native("current_timestamp"), "The current date and time", "NOW()"),
    _part("SECOND", "The second of the instant, 0 to 59, without its fraction.", "5"),
    Function(
        signature=signature("TIMESTAMP(date: text, time: string, zone: string = 'UTC') -> timestamp"),
        lowering=native("to_utc_timestamp", _from_iso(native("concat", Arg(0), "T", Arg(1))), Arg(2)),
        doc="The timestamp of a date (yyyy-MM-dd) and a time of day (HH:mm or HH:mm:ss[.fraction]) in a time "
        "zone "
        "(a name as Europe/Paris, or an offset as +02:00); what cannot be read fails the record.",
        example="TIMESTAMP('2024-02-29', '13:04:05', 'Europe/Paris')",
        result='"2024-02-29T12:04:05.000Z"',
        group=GROUP,
    ),
    _clock(
        "TODAY() -> date",
        native("current_date"),
        "The date of today, in UTC",
        "TODAY()",
        r'"\d{4}-\d\d-\d\d"',
    ),
    _clock("TOMORROW() -> timestamp", _days_from_now(1), "The current date and time plus 24 hours", "TOMORROW()"),
    Function(
        signature=signature("TO_DATE(text: string, pattern: string) -> date"),
        lowering=native("to_date", TEXT, PATTERN),
        doc="The date in the text, read by the pattern, which may also hold a time; text that does not fit fails "
        "the record.",
        example="TO_DATE('2016-01-01 00:11:14', 'yyyy-MM-dd HH:mm:ss')",
        result='"2016-01-01"',
        group=GROUP,
        forms=(_pattern("pattern"),),
    ),
    Function(
        signature=signature("TO_DATETIME(text: string, pattern: string) -> timestamp"),
        lowering=native("to_timestamp", TEXT, PATTERN),
        doc="The date and time in the text, read by the pattern, as TO_TIMESTAMP.",
        example="TO_DATETIME('2016-01-01 00:11:14', 'yyyy-MM-dd HH:mm:ss')",
        result='"2016-01-01T00:11:14.000Z"',
        group=GROUP,
        forms=(_pattern("pattern"),),
    ),
    Function(
        signature=signature("TO_TIMESTAMP(text: string, pattern: string) -> timestamp"),
        lowering=native("to_timestamp", TEXT, PATTERN),
        doc="The date and time in the text, read by the pattern, in UTC unless the pattern holds a zone; "
        "text that does not fit fails the record.",
        example="TO_TIMESTAMP('01/02/2016 10:30 +02:00', 'dd/MM/yyyy HH:mm XXX')",
        result='"2016-02-01T08:30:00.000Z"',
        group=GROUP,
        forms=(_pattern("pattern"),),
        variants=(
            Function(
                signature=signature("TO_TIMESTAMP(moment: instant) -> timestamp"),
                lowering=MOMENT,
                doc="The timestamp of a long in milliseconds since 1970 UTC, or of the midnight of a date.",
                example="TO_TIMESTAMP(1709211845678)",
                result='"2024-02-29T13:04:05.678Z"',
                group=GROUP,
            ),
            Function(
                signature=signature("TO_TIMESTAMP(text: string) -> timestamp"),
                lowering=_from_iso(TEXT),
                doc="The date and time in ISO text (yyyy-MM-dd, and after a T or blank a time and a zone), in "
                "UTC unless a zone "
                "is given; other text fails the record.",
                example="TO_TIMESTAMP('2016-01-01 00:00:02')",
                result='"2016-01-01T00:00:02.000Z"',
                group=GROUP,
            ),
        ),
    ),
    _part("YEAR", "The year of the instant.", "2024"),
    _clock(
        "YESTERDAY() -> timestamp",
        _days_from_now(-1),
        "The current date and time minus 24 hours",
        "YESTERDAY()",
    ),
)
