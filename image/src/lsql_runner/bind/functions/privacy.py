"""Masking of personal data. Numbers, dates and booleans are converted to text first."""

from __future__ import annotations

from lsql_runner.bind.functions.lowering import native
from lsql_runner.bind.functions.spec import Function, signature
from lsql_runner.bind.functions.strings import LENGTH, TEXT, drop, take

GROUP = "Privacy"

STARS = "*****"
"""Always five, so that they do not show the length of the masked text."""


_SHORT = "Shorter text remains readable."


def _first(count: int, example: str, result: str) -> Function:
    return Function(
        signature=signature(f"FIRST{count}(value: text) -> string"),
        lowering=native("concat", take(TEXT, count), STARS),
        doc=f"Returns {_characters('first', count)} and five asterisks, independent of the length. {_SHORT}",
        example=example,
        result=result,
        group=GROUP,
    )


def _last(count: int, example: str, result: str) -> Function:
    return Function(
        signature=signature(f"LAST{count}(value: text) -> string"),
        lowering=native("concat", STARS, drop(TEXT, native("-", LENGTH, count))),
        doc=f"Returns five asterisks, independent of the length, and {_characters('last', count)}. {_SHORT}",
        example=example,
        result=result,
        group=GROUP,
    )


def _characters(which: str, count: int) -> str:
    return f"the {which} character" if count == 1 else f"the {which} {count} characters"


FUNCTIONS = (
    Function(
        signature=signature("ANONYMIZE(value: text) -> string"),
        lowering=native("repeat", "*", LENGTH),
        doc="Replaces each character with an asterisk. Only the length remains.",
        example="ANONYMIZE('Charles')",
        result='"*******"',
        group=GROUP,
        aliases=("MASK",),
    ),
    Function(
        signature=signature("EMAIL(value: text) -> string"),
        lowering=native("concat", take(TEXT, 1), STARS, native("regexp_extract", TEXT, r"@[^@]*\z", 0)),
        doc="Returns the first character, five asterisks, and the text from the last @ on. Without an @, only the "
        "first character remains.",
        example="EMAIL('Brenda.Pierce@hotmail.com')",
        result='"B*****@hotmail.com"',
        group=GROUP,
    ),
    _first(1, "FIRST1('Melissa')", '"M*****"'),
    _first(2, "FIRST2('Melissa')", '"Me*****"'),
    _first(3, "FIRST3('Melissa')", '"Mel*****"'),
    _first(4, "FIRST4(123456)", '"1234*****"'),
    Function(
        signature=signature("INITIALS(value: text) -> string"),
        lowering=native("regexp_replace", TEXT, r"\s+|(\S)\S*", "$1"),
        doc="Returns the first character of each word. Words are separated by white space.",
        example="INITIALS('Charles de Gaulle')",
        result='"CdG"',
        group=GROUP,
    ),
    _last(1, "LAST1('Charles')", '"*****s"'),
    _last(2, "LAST2('Charles')", '"*****es"'),
    _last(3, "LAST3('Brenda')", '"*****nda"'),
    _last(4, "LAST4('Brenda')", '"*****enda"'),
)
