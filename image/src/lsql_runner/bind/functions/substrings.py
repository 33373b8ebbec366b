"""Parts of text: taking, dropping, finding, replacing. Positions count characters from zero, as in Java."""

from __future__ import annotations

from lsql_runner.bind.functions.lowering import Arg, Lambda, Lowering, Native, Param, native
from lsql_runner.bind.functions.spec import Function, signature
from lsql_runner.bind.functions.strings import larger, smaller

GROUP = "Substrings"

TEXT = Arg(0)
LENGTH = native("length", TEXT)


def _position(asked: Lowering) -> Native:
    """A place between the characters: a negative one counts from the end; too far is the start or the end."""
    from_end = larger(native("+", asked, LENGTH), 0)
    return native("if", native("<", asked, 0), from_end, smaller(asked, LENGTH))


def _kept_after_dropping(count: Lowering) -> Native:
    """How many characters stay; more than the text has when `count` is negative, which takes nothing away."""
    return native("-", LENGTH, larger(count, 0))


_START, _END = _position(Arg(1)), _position(Arg(2))

_NO_ESCAPES = native("regexp_replace", Arg(1), r"\\.", "")
_NO_CLASSES = native("regexp_replace", _NO_ESCAPES, r"\[[^\]]*\]", "")
_GROUPS = native("regexp_count", _NO_CLASSES, r"\((?!\?)|\(\?<(?![=!])")
"""How many capturing groups the pattern has: its opening brackets that are neither escaped, in a class nor
`(?`."""

_BY_GROUP = native(
    "transform",
    native("sequence", 0, _GROUPS),
    Lambda(("group",), native("regexp_extract_all", TEXT, Arg(1), Param("group"))),
)
_BY_MATCH = native(
    "transform",
    native("get", Param("found"), 0),
    Lambda(
        ("match", "at"),
        native("transform", Param("found"), Lambda(("column",), native("get", Param("column"), Param("at")))),
    ),
)
_GROUPS_OF_MATCHES = native("get", native("transform", native("array", _BY_GROUP), Lambda(("found",), _BY_MATCH)), 0)
"""The engine gives the matches of one group at a time: [group][match] is turned to [match][group]. The array
of one element is there to give the first a name."""

FUNCTIONS = (
    Function(
        signature=signature("CONTAINS(text: string, part: string) -> boolean"),
        lowering=native("contains", TEXT, Arg(1)),
        doc="Whether `part` stands in the text, in the same case; empty text is in every text.",
        example="CONTAINS('kafka streams', 'stream')",
        result="true",
        group=GROUP,
    ),
    Function(
        signature=signature("DROPLEFT(text: string, count: int) -> string"),
        lowering=native("right", TEXT, _kept_after_dropping(Arg(1))),
        doc=(
            "The text without its first `count` characters; empty text if it has no more, all of it if count is "
            "negative."
        ),
        example="DROPLEFT('Melissa', 3)",
        result='"issa"',
        group=GROUP,
    ),
    Function(
        signature=signature("DROPRIGHT(text: string, count: int) -> string"),
        lowering=native("left", TEXT, _kept_after_dropping(Arg(1))),
        doc=(
            "The text without its last `count` characters; empty text if it has no more, all of it if count is "
            "negative."
        ),
        example="DROPRIGHT('Melissa', 3)",
        result='"Meli"',
        group=GROUP,
    ),
    Function(
        signature=signature("ENDSWITH(text: string, end: string) -> boolean"),
        lowering=native("endswith", TEXT, Arg(1)),
        doc="Whether the text ends with `end`, in the same case.",
        example="ENDSWITH('order-7', '-7')",
        result="true",
        group=GROUP,
    ),
    Function(
        signature=signature("INDEXOF(text: string, part: string) -> int"),
        lowering=native("-", native("instr", TEXT, Arg(1)), 1),
        doc="Where `part` first stands in the text, counted from zero; -1 if it does not, 0 if it is empty.",
        example="INDEXOF('Jose.Hood@aol.com', '@')",
        result="9",
        group=GROUP,
    ),
    Function(
        signature=signature("REGEXP(text: string, pattern: string) -> array<string>"),
        lowering=native("regexp_extract_all", TEXT, Arg(1), 0),
        doc=(
            "Every part of the text that the Java regular expression matches, in order; an empty array if there is "
            "none."
        ),
        example="REGEXP('a1 b22', '[0-9]+')",
        result='["1","22"]',
        group=GROUP,
    ),
    Function(
        signature=signature("REGEX_MATCHES(text: string, pattern: string) -> array<array<string>>"),
        lowering=_GROUPS_OF_MATCHES,
        doc="For every match of the Java regular expression an array: the whole match, then its groups "
        "(empty text for a group that took no part).",
        example="REGEX_MATCHES('k1=v1;k2=v2', '([^=;]+)=([^;]+)')",
        result='[["k1=v1","k1","v1"],["k2=v2","k2","v2"]]',
        group=GROUP,
    ),
    Function(
        signature=signature("REPLACE(text: string, part: string, replacement: string) -> string"),
        lowering=native("replace", TEXT, Arg(1), Arg(2)),
        doc="The text with every `part` replaced, in the same case; an empty part replaces nothing.",
        example="REPLACE('a-b-c', '-', '+')",
        result='"a+b+c"',
        group=GROUP,
    ),
    Function(
        signature=signature("STARTSWITH(text: string, start: string) -> boolean"),
        lowering=native("startswith", TEXT, Arg(1)),
        doc="Whether the text starts with `start`, in the same case.",
        example="STARTSWITH('order-7', 'order')",
        result="true",
        group=GROUP,
    ),
    Function(
        signature=signature("SUBSTR(text: string, start: int, end: int) -> string"),
        lowering=native(
            "substring",
            TEXT,
            native("+", _START, 1),
            native("-", _END, _START),
        ),
        doc="The characters from position `start` up to, not including, `end`; a negative position counts from "
        "the end. "
        "Positions outside the text give what is there, at the least empty text.",
        example="SUBSTR('Jose.Hood@aol.com', 10, 13)",
        result='"aol"',
        group=GROUP,
        variants=(
            Function(
                signature=signature("SUBSTR(text: string, start: int) -> string"),
                lowering=native("substring", TEXT, native("+", _START, 1)),
                doc="The characters from position `start` to the end; a negative position counts from the end.",
                example="SUBSTR('Jose.Hood@aol.com', 10)",
                result='"aol.com"',
                group=GROUP,
            ),
        ),
    ),
    Function(
        signature=signature("TAKELEFT(text: string, count: int) -> string"),
        lowering=native("left", TEXT, Arg(1)),
        doc="The first `count` characters; the whole text if it has no more, empty text if count is negative.",
        example="TAKELEFT('Melissa', 3)",
        result='"Mel"',
        group=GROUP,
    ),
    Function(
        signature=signature("TAKERIGHT(text: string, count: int) -> string"),
        lowering=native("right", TEXT, Arg(1)),
        doc="The last `count` characters; the whole text if it has no more, empty text if count is negative.",
        example="TAKERIGHT('Melissa', 3)",
        result='"ssa"',
        group=GROUP,
    ),
    Function(
        signature=signature("TRUNCATE(text: string, length: int) -> string"),
        lowering=native("left", TEXT, Arg(1)),
        doc="The text cut to at most `length` characters; empty text if that is negative.",
        example="TRUNCATE('Jose', 2)",
        result='"Jo"',
        group=GROUP,
    ),
)
