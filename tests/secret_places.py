"""Records with a secret that a program cannot process, one for each place where an error could have the value."""

from __future__ import annotations

import json
import uuid
from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass, field, replace
from typing import Any

from devkit.records import Record

SECRET = f"s3cr3t{uuid.uuid4().hex[:10]}"
NUMBER = 987_654_321_987_654
SECRETS = (SECRET, str(NUMBER), str(NUMBER)[:9])
MALFORMED, REFUSED = "RECORD_MALFORMED", "RECORD_REFUSED"
VALUE = {"format": "JSON", "schema": {"n": "string not null", "i": "long not null"}}


@dataclass(frozen=True)
class Place:
    """A record with a secret, and a SELECT that fails on it."""

    select: str
    """With {t} for the topic."""
    record: Record
    code: str
    says: str
    """A part of the reason: what the error has in place of the value."""
    _: KW_ONLY
    value: Mapping[str, Any] = field(default_factory=lambda: VALUE)
    key: Mapping[str, Any] | None = None

    def declared(self) -> dict[str, Any]:
        return {"value": self.value} | ({} if self.key is None else {"key": self.key})


def of_json(**fields: Any) -> Record:
    return Record(b"k", json.dumps({"n": "a", "i": 1} | fields).encode())


TEXT, WHOLE = of_json(n=SECRET), of_json(i=NUMBER)
PLACES = {
    "json": Place("SELECT STREAM i FROM {t}", of_json(i=SECRET), MALFORMED, "i"),
    "json-syntax": Place("SELECT STREAM n FROM {t}", Record(b"k", b'{"n": ' + SECRET.encode()), MALFORMED, ""),
    "json-key": Place(
        "SELECT STREAM _key.k AS k FROM {t}",
        replace(of_json(), key=json.dumps({"k": SECRET}).encode()),
        MALFORMED,
        "k",
        key={"format": "JSON", "schema": {"k": "long"}},
    ),
    "map-key": Place(
        "SELECT STREAM m FROM {t}",
        Record(b"k", json.dumps({"m": {SECRET: SECRET}}).encode()),
        MALFORMED,
        "",
        value={"format": "JSON", "schema": {"m": "map<string, long>"}},
    ),
    "csv": Place(
        "SELECT STREAM i FROM {t}",
        Record(b"k", SECRET.encode()),
        MALFORMED,
        f"field i: a text of {len(SECRET)} bytes is not a valid long",
        value={"format": "CSV", "schema": {"i": "long"}},
    ),
    "xml": Place(
        "SELECT STREAM i FROM {t}",
        Record(b"k", f"<o><i>{SECRET}</i></o>".encode()),
        MALFORMED,
        f"field i: a text of {len(SECRET)} bytes is not a valid date",
        value={"format": "XML", "schema": {"i": "date"}},
    ),
    "xml-syntax": Place(
        "SELECT STREAM i FROM {t}",
        Record(b"k", f"<o><i></{SECRET}></o>".encode()),
        MALFORMED,
        "field i: it is not XML, at line 1, column",
        value={"format": "XML", "schema": {"i": "date"}},
    ),
    "cast": Place("SELECT STREAM CAST(n AS int) AS x FROM {t}", TEXT, REFUSED, "field x: The value ***"),
    "cast-overflow": Place("SELECT STREAM CAST(i AS int) AS x FROM {t}", WHOLE, REFUSED, '"BIGINT" cannot be cast'),
    "cast-decimal": Place("SELECT STREAM CAST(i AS decimal(5,2)) AS x FROM {t}", WHOLE, REFUSED, "Decimal(5, 2)"),
    "cast-time": Place("SELECT STREAM CAST(n AS time) AS x FROM {t}", TEXT, REFUSED, "the text is no"),
    "division": Place("SELECT STREAM i / (i - i) AS x FROM {t}", WHOLE, REFUSED, "Division by zero"),
    "overflow": Place("SELECT STREAM i * i * i AS x FROM {t}", WHOLE, REFUSED, "out of the range"),
    "date-pattern": Place("SELECT STREAM TO_DATE(n, 'yyyy-MM-dd') AS x FROM {t}", TEXT, REFUSED, ""),
    "iso-date": Place("SELECT STREAM TO_TIMESTAMP(n) AS x FROM {t}", TEXT, REFUSED, "not an ISO date and time"),
    "regular-expression": Place("SELECT STREAM REGEXP('a', n) AS x FROM {t}", of_json(n=f"({SECRET}"), REFUSED, ""),
    "round": Place(
        "SELECT STREAM CEIL(CAST(n AS double)) AS x FROM {t}",
        of_json(n=f"{NUMBER}e99"),
        REFUSED,
        "the number is outside",
    ),
    "header": Place(
        "SELECT STREAM CAST(HEADERASSTRING('h') AS int) AS x FROM {t}",
        replace(TEXT, headers=(("h", SECRET.encode()),)),
        REFUSED,
        '"STRING" cannot be cast to "INT"',
    ),
    "where": Place("SELECT STREAM n FROM {t} WHERE CAST(n AS double) > 1", TEXT, REFUSED, '"STRING" cannot be cast'),
    "event-time": Place(
        "SELECT STREAM COUNT(*) AS x FROM {t} EVENTTIME BY i WINDOW BY TUMBLE 1m GROUP BY n",
        of_json(i=-NUMBER, n="a"),
        REFUSED,
        "the event time is before 1970",
    ),
    "group": Place("SELECT STREAM SUM(CAST(n AS int)) AS x FROM {t} GROUP BY i", TEXT, REFUSED, "cannot be cast"),
}
"""By name."""


def shown(text: str, secrets: tuple[str, ...] = SECRETS) -> list[str]:
    """The secrets in a text, each with what precedes and follows it."""
    return [text[max(0, text.index(each) - 200) : text.index(each) + 80] for each in secrets if each in text]
