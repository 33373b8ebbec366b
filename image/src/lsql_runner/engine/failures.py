"""Why a query died: a record that it cannot take, records that are gone, or something that may pass.

Spark tells by its error conditions; the exception arrives as text within text, so the conditions are
looked for by name.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal as OneOf

Kind = OneOf["malformed", "refused", "too-large", "data-loss", "passing"]

MALFORMED = ("MALFORMED_RECORD_IN_PARSING", "MALFORMED_CHARACTER_CODING")
MISFIT = "LSQL_VALUE_DOES_NOT_FIT_SCHEMA"
"""A value that the schema it is written with cannot hold."""
RECORD_TOO_LARGE = "LSQL_RECORD_TOO_LARGE"
"""A record that its topic would not take, found before it is sent."""

REFUSED = (
    "CAST_INVALID_INPUT",
    "CAST_OVERFLOW",
    "DIVIDE_BY_ZERO",
    "REMAINDER_BY_ZERO",
    "ARITHMETIC_OVERFLOW",
    "BINARY_ARITHMETIC_OVERFLOW",
    "NUMERIC_VALUE_OUT_OF_RANGE",
    "NUMERIC_OUT_OF_SUPPORTED_RANGE",
    "DECIMAL_PRECISION_EXCEEDS",
    "CANNOT_PARSE_TIMESTAMP",
    "CANNOT_PARSE_DECIMAL",
    "CONVERSION_INVALID_INPUT",
    "DATETIME_OVERFLOW",
    "INVALID_REGEXP",
    "INVALID_PARAMETER_VALUE",
    "INVALID_FORMAT",
    "INVALID_FRACTION_OF_SECOND",
    "INVALID_TIMEZONE",
    "USER_RAISED_EXCEPTION",
    "FAILED_EXECUTE_UDF",
    "INVALID_ARRAY_INDEX",
    "INVALID_INDEX_OF_ZERO",
    "COLLECTION_SIZE_LIMIT_EXCEEDED",
    "CANNOT_CONVERT_JSON_ROOT_FIELD",
    MISFIT,
)
REGISTRY = ("LSQL_REGISTRY_UNREACHABLE", "LSQL_REGISTRY_REFUSED")
"""A record that nobody could judge: what our own decoding says where the schema registry does not help."""

TOO_LARGE = ("LSQL_GROUP_TOO_LARGE",)
"""A group that our own aggregates refuse to keep."""

_DATA_LOSS = ("KAFKA_DATA_LOSS", "Some data may have been lost", "OffsetOutOfRange")

NOT_THE_FORMAT = re.compile(r"expected \d+ bytes(?: or more)?, found \d+")
"""What our own decoding says of bytes that are not of the format."""

REASON_END = r"\s*SQLSTATE:|\s+Use `?try_|\s+If necessary set|\s+To return NULL|\s+Parse Mode:"
"""What Spark says behind the reason."""

_CONDITION = re.compile(r"\[(?P<name>[A-Z][A-Z0-9_]+)(?:\.[A-Z0-9_]+)?\]\s*(?P<text>[^\n]*)")

_CAUSE = re.compile(r"^Caused by: (?:[\w$]+\.)+(?P<name>[\w$]+)(?:: (?P<text>[^\n]*))?$", re.MULTILINE)
_WRAPPERS = ("STREAM_FAILED", "FOREACH_BATCH_USER_FUNCTION_ERROR", "WRITING_JOB_ABORTED")


@dataclass(frozen=True, slots=True)
class Failure:
    """`reason` is one line for people: no class names, no trace."""

    kind: Kind
    reason: str


def classify(text: str) -> Failure:
    """What the text of an exception says."""
    if any(word in text for word in _DATA_LOSS):
        return Failure("data-loss", _last_condition(text, ()) or "the offsets to read next are no longer there")
    registry = _last_condition(text, REGISTRY)
    if registry:
        return Failure("passing", registry)
    too_large = _last_condition(text, TOO_LARGE)
    if too_large:
        return Failure("too-large", too_large)
    malformed = _last_condition(text, MALFORMED)
    if malformed:
        return Failure("malformed", malformed)
    refused = _last_condition(text, REFUSED)
    if refused:
        return Failure("malformed" if NOT_THE_FORMAT.fullmatch(refused) else "refused", refused)
    return Failure("passing", _innermost_cause(text) or _last_condition(text, ()) or _first_line(text))


def _innermost_cause(text: str) -> str:
    """What the last exception in a chain of causes says; nothing where a condition of Spark's comes later."""
    causes = list(_CAUSE.finditer(text))
    conditions = [m for m in _CONDITION.finditer(text) if m["name"] not in _WRAPPERS]
    if not causes or (conditions and conditions[-1].start() > causes[-1].start()):
        return ""
    return _clean(causes[-1]["text"] or causes[-1]["name"])


def _last_condition(text: str, names: tuple[str, ...]) -> str:
    """The sentence of the innermost of the named conditions; of any condition if none is named."""
    found = [m for m in _CONDITION.finditer(text) if not names or m["name"] in names]
    inner = [m for m in found if m["name"] not in _WRAPPERS]
    return _clean((inner or found)[-1]["text"]) if found else ""


def _clean(sentence: str) -> str:
    sentence = re.split(REASON_END, sentence)[0]
    return sentence.strip().rstrip(".")[:300] or "no reason was given"


def _first_line(text: str) -> str:
    line = next((part.strip() for part in text.splitlines() if part.strip()), "no reason was given")
    return re.sub(r"\b(?:[a-z]+\.)+([A-Z]\w+)", r"\1", line)[:300]
