"""Parts of text: extracting, removing, finding, replacing. Positions are as in Java: UTF-16 code units, from 0."""

from __future__ import annotations

from lsql_runner.bind.functions.lowering import Arg, Lambda, Lowering, Native, Param, native
from lsql_runner.bind.functions.spec import Function, signature
from lsql_runner.bind.functions.strings import LENGTH, TEXT, drop, larger, smaller, take
from lsql_runner.jvm.java_entries import UTF16_INDEX_OF

GROUP = "Substrings"


def _position(position: Lowering) -> Native:
    """A position from 0 to the length of the text. A negative `position` counts from the end."""
    from_end = larger(native("+", position, LENGTH), 0)
    return native("if", native("<", position, 0), from_end, smaller(position, LENGTH))


_START, _END = _position(Arg(1)), _position(Arg(2))

_NO_ESCAPES = native("regexp_replace", Arg(1), r"\\.", "")
_NO_CLASSES = native("regexp_replace", _NO_ESCAPES, r"\[[^\]]*\]", "")
_GROUP_COUNT = native("regexp_count", _NO_CLASSES, r"\((?!\?)|\(\?<(?![=!])")
"""The number of capturing groups: opening parentheses that are not escaped, not in a character class and not `(?`, or
that are `(?<name>`."""

_BY_GROUP = native(
    "transform",
    native("sequence", 0, _GROUP_COUNT),
    Lambda(("group",), native("regexp_extract_all", TEXT, Arg(1), Param("group"))),
)
_BY_MATCH = native(
    "transform",
    native("get", Param("by_group"), 0),
    Lambda(
        ("match", "index"),
        native("transform", Param("by_group"), Lambda(("group",), native("get", Param("group"), Param("index")))),
    ),
)
_GROUPS_OF_MATCHES = native("get", native("transform", native("array", _BY_GROUP), Lambda(("by_group",), _BY_MATCH)), 0)
"""The groups of all matches, as [match][group].

Spark's regexp_extract_all returns [group][match], which is transposed. The array with one element only serves to name
that result, as the parameter of a Lambda.
"""

FUNCTIONS = (
    Function(
        signature=signature("CONTAINS(text: string, part: string) -> boolean"),
        lowering=native("contains", TEXT, Arg(1)),
        doc="Tests whether the text contains `part` (case-sensitive). The result is true if `part` is empty.",
        example="CONTAINS('kafka streams', 'stream')",
        result="true",
        group=GROUP,
    ),
    Function(
        signature=signature("DROPLEFT(text: string, count: int) -> string"),
        lowering=drop(TEXT, Arg(1)),
        doc="Removes the first `count` characters. The result is empty if the text is shorter, and the whole text if "
        "`count` is negative.",
        example="DROPLEFT('Melissa', 3)",
        result='"issa"',
        group=GROUP,
    ),
    Function(
        signature=signature("DROPRIGHT(text: string, count: int) -> string"),
        lowering=take(TEXT, native("-", LENGTH, larger(Arg(1), 0))),
        doc="Removes the last `count` characters. The result is empty if the text is shorter, and the whole text if "
        "`count` is negative.",
        example="DROPRIGHT('Melissa', 3)",
        result='"Meli"',
        group=GROUP,
    ),
    Function(
        signature=signature("ENDSWITH(text: string, end: string) -> boolean"),
        lowering=native("endswith", TEXT, Arg(1)),
        doc="Tests whether the text ends with `end` (case-sensitive).",
        example="ENDSWITH('order-7', '-7')",
        result="true",
        group=GROUP,
    ),
    Function(
        signature=signature("INDEXOF(text: string, part: string) -> int"),
        lowering=native(UTF16_INDEX_OF, TEXT, Arg(1)),
        doc="Returns the position of the first `part`, counted from 0. The result is -1 if the text does not contain "
        "it, and 0 if `part` is empty.",
        example="INDEXOF('Jose.Hood@aol.com', '@')",
        result="9",
        group=GROUP,
        synonyms=("INSTR", "LOCATE", "POSITION", "STRPOS"),
    ),
    Function(
        signature=signature("REGEXP(text: string, pattern: string) -> array<string>"),
        lowering=native("regexp_extract_all", TEXT, Arg(1), 0),
        doc="Returns all matches of the Java regular expression, in their order; an empty array if there are none.",
        example="REGEXP('a1 b22', '[0-9]+')",
        result='["1","22"]',
        group=GROUP,
        synonyms=("RLIKE", "REGEXP_LIKE", "MATCHES"),
    ),
    Function(
        signature=signature("REGEX_MATCHES(text: string, pattern: string) -> array<array<string>>"),
        lowering=_GROUPS_OF_MATCHES,
        doc="Returns an array for each match of the Java regular expression: the match, followed by its groups. A "
        "group without a match is empty text.",
        example="REGEX_MATCHES('k1=v1;k2=v2', '([^=;]+)=([^;]+)')",
        result='[["k1=v1","k1","v1"],["k2=v2","k2","v2"]]',
        group=GROUP,
        synonyms=("REGEXP_EXTRACT",),
    ),
    Function(
        signature=signature("REPLACE(text: string, part: string, replacement: string) -> string"),
        lowering=native("replace", TEXT, Arg(1), Arg(2)),
        doc="Replaces all occurrences of `part` (case-sensitive). If `part` is empty, nothing is replaced.",
        example="REPLACE('a-b-c', '-', '+')",
        result='"a+b+c"',
        group=GROUP,
        synonyms=("REGEXP_REPLACE", "TRANSLATE"),
    ),
    Function(
        signature=signature("STARTSWITH(text: string, start: string) -> boolean"),
        lowering=native("startswith", TEXT, Arg(1)),
        doc="Tests whether the text starts with `start` (case-sensitive).",
        example="STARTSWITH('order-7', 'order')",
        result="true",
        group=GROUP,
    ),
    Function(
        signature=signature("SUBSTR(text: string, start: int, end: int) -> string"),
        lowering=take(drop(TEXT, _START), native("-", _END, _START)),
        doc="Returns the characters from position `start` to `end`, without `end`, counted from 0. A negative "
        "position counts from the end of the text. A position outside the text means its start or its end.",
        example="SUBSTR('Jose.Hood@aol.com', 10, 13)",
        result='"aol"',
        group=GROUP,
        synonyms=("SUBSTRING", "MID"),
        variants=(
            Function(
                signature=signature("SUBSTR(text: string, start: int) -> string"),
                lowering=drop(TEXT, _START),
                doc="Without `end`, the result is the rest of the text.",
                example="SUBSTR('Jose.Hood@aol.com', 10)",
                result='"aol.com"',
                group=GROUP,
            ),
        ),
    ),
    Function(
        signature=signature("TAKELEFT(text: string, count: int) -> string"),
        lowering=take(TEXT, Arg(1)),
        doc="Returns the first `count` characters: the whole text if it is shorter, empty text if `count` is negative.",
        example="TAKELEFT('Melissa', 3)",
        result='"Mel"',
        group=GROUP,
        synonyms=("LEFT",),
    ),
    Function(
        signature=signature("TAKERIGHT(text: string, count: int) -> string"),
        lowering=drop(TEXT, native("-", LENGTH, larger(Arg(1), 0))),
        doc="Returns the last `count` characters: the whole text if it is shorter, empty text if `count` is negative.",
        example="TAKERIGHT('Melissa', 3)",
        result='"ssa"',
        group=GROUP,
        synonyms=("RIGHT",),
    ),
    Function(
        signature=signature("TRUNCATE(text: string, length: int) -> string"),
        lowering=take(TEXT, Arg(1)),
        doc="Shortens the text to at most `length` characters; empty text if `length` is negative.",
        example="TRUNCATE('Jose', 2)",
        result='"Jo"',
        group=GROUP,
    ),
)
