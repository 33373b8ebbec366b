"""Scalar values without a YAML type: timestamps, dates, times, decimals, bytes, 32-bit floating-point numbers.

Decoded records contain them as `Instant`, `Day`, `TimeOfDay`, `Decimal`, `bytes` and `Single`; case files as numbers
and text.
"""

from __future__ import annotations

import math
import re
import struct
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal, InvalidOperation
from typing import Any

from lsql_runner.errors import Detail, DetailError, DetailTable

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_COUNTED = re.compile(r"(?P<nanos>-?\d{1,30}) ns since 1970 UTC")
"""The text of an instant outside of the years 1 to 9999."""
_FRACTION = re.compile(r"(?P<seconds>.*:\d\d)[.,](?P<fraction>\d{1,9})(?P<zone>.*)")
NANOS_PER_MS = 1_000_000
_REASONS = DetailTable(
    {
        "TIMESTAMP": "a time is milliseconds since 1970 UTC, or a date and time such as 2026-03-01T12:00:00Z",
        "DATE": "a date is text such as 2026-03-01",
        "TIME": "a time of day is text such as 12:00:00",
        "DECIMAL": 'a decimal is a number, or its text, as "12.50"',
        "BYTES": 'BYTES are hexadecimal digits in quotes, as "cafe"',
    }
)


class InvalidValue(DetailError):
    """A value that cannot be written in a format, or bytes that cannot be read in it."""

    def __init__(self, reason: Detail, path: str = "") -> None:
        super().__init__(reason.in_field(path))


@dataclass(frozen=True, slots=True)
class Instant:
    """An instant, in nanoseconds since 1970 UTC."""

    nanos: int

    @staticmethod
    def of(value: Any) -> Instant:
        """From milliseconds since 1970 UTC, or an ISO date and time, which is in UTC if it has no zone.

        Raises:
            InvalidValue: the value is neither.
        """
        if isinstance(value, int) and not isinstance(value, bool):
            return Instant(value * NANOS_PER_MS)
        if isinstance(value, str) and (counted := _COUNTED.fullmatch(value)):
            return Instant(int(counted["nanos"]))
        if isinstance(value, str):
            match = _FRACTION.fullmatch(value)
            whole, fraction = (match["seconds"] + match["zone"], match["fraction"]) if match else (value, "")
            try:
                moment = datetime.fromisoformat(whole)
            except ValueError:
                pass
            else:
                since = (moment if moment.tzinfo else moment.replace(tzinfo=UTC)) - _EPOCH
                return Instant((since.days * 86_400 + since.seconds) * 1_000_000_000 + int(fraction.ljust(9, "0")))
        raise InvalidValue(_REASONS("TIMESTAMP"))

    def __str__(self) -> str:
        seconds, nanos = divmod(self.nanos, 1_000_000_000)
        try:
            text = (_EPOCH + timedelta(seconds=seconds)).strftime("%Y-%m-%dT%H:%M:%S").zfill(19)
        except OverflowError:  # datetime holds the years 1 to 9999
            return f"{self.nanos} ns since 1970 UTC"
        return text + (f".{nanos:09}".rstrip("0") if nanos else "") + "Z"


@dataclass(frozen=True, slots=True)
class Day:
    """A date, as days since 1970-01-01."""

    number: int

    @staticmethod
    def of(value: Any) -> Day:
        """From an ISO date.

        Raises:
            InvalidValue: the value is not a date.
        """
        try:
            if isinstance(value, str):
                return Day((date.fromisoformat(value) - _EPOCH.date()).days)
        except ValueError:
            pass
        raise InvalidValue(_REASONS("DATE"))

    def __str__(self) -> str:
        try:
            return (_EPOCH.date() + timedelta(days=self.number)).isoformat()
        except OverflowError:
            return f"{self.number} days since 1970-01-01"


_CLOCK = re.compile(r"(?P<minutes>\d\d:\d\d)(?P<seconds>:\d\d)?(?:\.(?P<fraction>\d{1,9}))?")


@dataclass(frozen=True, slots=True)
class TimeOfDay:
    """A time of day, in nanoseconds since midnight."""

    nanos: int

    @staticmethod
    def of(value: Any) -> TimeOfDay:
        """From `12:30`, `12:30:00` or `12:30:00.5`.

        Raises:
            InvalidValue: the value is not a time of day.
        """
        match = _CLOCK.fullmatch(value) if isinstance(value, str) else None
        try:
            if match is not None and (match["seconds"] or not match["fraction"]):
                moment = time.fromisoformat(match["minutes"] + (match["seconds"] or ""))
                seconds = (moment.hour * 60 + moment.minute) * 60 + moment.second
                return TimeOfDay(seconds * 1_000_000_000 + int((match["fraction"] or "").ljust(9, "0")))
        except ValueError:
            pass
        raise InvalidValue(_REASONS("TIME"))

    def __str__(self) -> str:
        seconds, nanos = divmod(self.nanos, 1_000_000_000)
        text = f"{seconds // 3600:02}:{seconds // 60 % 60:02}:{seconds % 60:02}"
        return text + (f".{nanos:09}".rstrip("0") if nanos else "")


_SMALLEST_SINGLE = 2.0**-149
"""The distance between subnormal numbers of 32 bits, whose precision is lower than the relative tolerance."""


@dataclass(frozen=True, slots=True)
class Single:
    """A floating-point number of 32 bits."""

    value: float

    def is_near(self, number: Any) -> bool:
        """Whether a case's number equals this one except for the last digits."""
        if not isinstance(number, int | float) or isinstance(number, bool):
            return False
        if math.isclose(number, self.value, rel_tol=1e-6, abs_tol=_SMALLEST_SINGLE):
            return True
        return math.isnan(number) and math.isnan(self.value)

    @property
    def shortest(self) -> float:
        """The shortest decimal number with these 32 bits: 0.1, not 0.10000000149011612."""
        if not math.isfinite(self.value):
            return self.value
        candidates = (float(f"{self.value:.{digits}g}") for digits in range(6, 9))
        return next((one for one in candidates if _as_single(one) == self.value), self.value)


def _as_single(value: float) -> float:
    try:
        return float(struct.unpack("f", struct.pack("f", value))[0])
    except OverflowError:
        return math.copysign(math.inf, value)


def decimal_of(value: Any) -> Decimal:
    """From a number or its text.

    Raises:
        InvalidValue: the value is neither.
    """
    try:
        if isinstance(value, int | float | str) and not isinstance(value, bool):
            number = Decimal(str(value))
            if number.is_finite():
                return number
    except InvalidOperation:
        pass
    raise InvalidValue(_REASONS("DECIMAL"))


def bytes_of(value: Any) -> bytes:
    """From hexadecimal digits.

    Raises:
        InvalidValue: the value is not a text of hexadecimal digits.
    """
    try:
        if isinstance(value, str):
            return bytes.fromhex(value)
    except ValueError:
        pass
    raise InvalidValue(_REASONS("BYTES"))


def same_scalar(expected: Any, actual: Any) -> bool | None:
    """Whether a case's value equals a decoded scalar; None if `actual` is not one of these types."""
    try:
        match actual:
            case Instant():
                return Instant.of(expected) == actual
            case Day():
                return Day.of(expected) == actual
            case TimeOfDay():
                return TimeOfDay.of(expected) == actual
            case Decimal():
                return decimal_of(expected) == actual
            case bytes():
                return bytes_of(expected) == actual
            case Single():
                return actual.is_near(expected)
    except InvalidValue:
        return False
    return None


def yaml_value(value: Any) -> Any:
    """A decoded value as a value of YAML, as a case file would contain it."""
    match value:
        case Instant() | Day() | TimeOfDay() | Decimal():
            return str(value)
        case bytes():
            return value.hex()
        case Single():
            return value.shortest
        case dict():
            return {name: yaml_value(part) for name, part in value.items()}
        case list():
            return [yaml_value(part) for part in value]
    return value
