"""Text: case, trimming, padding, joining, encoding. Functions that count characters count UTF-16 code units."""

from __future__ import annotations

import unicodedata

from lsql_runner.bind.functions.lowering import Arg, CastTo, Constant, Lambda, Lowering, Native, Param, Rest, native
from lsql_runner.bind.functions.spec import Function, signature
from lsql_runner.jvm.java_entries import UTF16_DROP, UTF16_LENGTH, UTF16_TAKE
from lsql_runner.types import BYTES, INT

GROUP = "Strings"

TEXT = Arg(0)
LENGTH = native(UTF16_LENGTH, TEXT)

CONTROL_AND_BLANK = "".join(map(chr, range(0x21)))
"""The characters that String.trim of Java removes: U+0000 to U+0020."""


def upper(text: Lowering) -> Native:
    """The text in upper case. The runner sets the locale of the JVM, so the result is the same on all machines."""
    return native("upper", text)


def lower(text: Lowering) -> Native:
    """The text in lower case, as `upper`."""
    return native("lower", text)


def larger(value: Lowering, bound: Lowering | int) -> Native:
    """The larger of two numbers; NULL if `value` is NULL. Spark's `greatest` ignores NULL."""
    return native("if", native("<", value, bound), bound, value)


def smaller(value: Lowering, bound: Lowering | float) -> Native:
    """The smaller of two numbers; NULL if `value` is NULL."""
    return native("if", native(">", value, bound), bound, value)


def take(text: Lowering, count: Lowering | int) -> Native:
    """The first `count` characters; empty text for a negative number."""
    return native(UTF16_TAKE, text, count)


def drop(text: Lowering, count: Lowering | int) -> Native:
    """The text without its first `count` characters; all of it for a negative number."""
    return native(UTF16_DROP, text, count)


def json_text(value: Lowering) -> Native:
    """Any value as JSON text. Spark's `to_json` does not accept scalars, so the value is written as an array."""
    options = native("map", "ignoreNullFields", "false")
    return native("regexp_replace", native("to_json", native("array", value), options), r"\A\[|\]\z", "")


def _uuid(high: Lowering, low: Lowering) -> Native:
    """The UUID of version 4 with the bits of two LONGs, except for the bits of version and variant."""
    version = native("|", native("&", high, ~0xF000), 0x4000)
    variant = native("|", native("&", low, (1 << 62) - 1), -(1 << 63))
    first, second = (lower(native("lpad", native("hex", bits), 16, "0")) for bits in (version, variant))
    groups = ((first, 1, 8), (first, 9, 4), (first, 13, 4), (second, 1, 4), (second, 5, 12))
    return native("concat_ws", "-", *(native("substr", *group) for group in groups))


def _padding(pad: Lowering, count: Lowering) -> Native:
    """`count` characters of repeated `pad`; of blanks if `pad` is empty."""
    repeated = native("if", native("=", pad, ""), " ", pad)
    times = CastTo(native("+", native("div", count, native(UTF16_LENGTH, repeated)), 1), INT)
    return take(native("repeat", repeated, times), count)


def _swap_case(character: Param) -> Native:
    is_lower = native("=", character, lower(character))
    return native("if", is_lower, upper(character), lower(character))


def _accents() -> tuple[str, str]:
    """The letters with diacritics, and the same letters without, in the same order."""
    plain = {"Ł": "L", "ł": "l"}
    for code in (*range(0xC0, 0x530), *range(0x1E00, 0x2000)):
        base, *marks = list(unicodedata.normalize("NFD", chr(code)))
        if marks and all("\u0300" <= mark <= "\u036f" for mark in marks):
            plain[chr(code)] = base
    return "".join(plain), "".join(plain.values())


_MISSING = native("-", larger(Arg(1), LENGTH), LENGTH)
"""The number of characters to pad with."""
_LEFT = CastTo(native("div", _MISSING, 2), INT)
_UTF8 = native("replace", native("base64", CastTo(TEXT, BYTES)), "\r\n", "")

FUNCTIONS = (
    Function(
        signature=signature("ABBREVIATE(text: string, width: int) -> string"),
        lowering=native(
            "if",
            native("<=", LENGTH, Arg(1)),
            TEXT,
            native("concat", take(TEXT, native("-", Arg(1), 3)), take(Constant("..."), Arg(1))),
        ),
        doc="Shortens the text to `width` characters, the last three of them dots. Text that is not longer is "
        "returned unchanged. With a width below 4, only dots remain.",
        example="ABBREVIATE('cc53c3b3b0b966804573', 10)",
        result='"cc53c3b..."',
        group=GROUP,
    ),
    Function(
        signature=signature("BASE64(text: string) -> string"),
        lowering=_UTF8,
        doc="Encodes the UTF-8 bytes of the text in base64, with padding and without line breaks.",
        example="BASE64('Lenses é')",
        result='"TGVuc2VzIMOp"',
        group=GROUP,
    ),
    Function(
        signature=signature("CAPITALIZE(text: string) -> string"),
        lowering=native("concat", upper(native("left", TEXT, 1)), native("substring", TEXT, 2)),
        doc="Converts the first character to upper case. The other characters do not change.",
        example="CAPITALIZE('unverified User')",
        result='"Unverified User"',
        group=GROUP,
        synonyms=("INITCAP",),
    ),
    Function(
        signature=signature("CENTER(text: string, size: int, pad: string = ' ') -> string"),
        lowering=native("concat", _padding(Arg(2), _LEFT), TEXT, _padding(Arg(2), native("-", _MISSING, _LEFT))),
        doc="Pads the text on both sides with `pad` to `size` characters. If the number of added characters is odd, "
        "the right side has one more. Longer text is returned unchanged.",
        example="CENTER('ab', 7, 'yz')",
        result='"yzabyzy"',
        group=GROUP,
    ),
    Function(
        signature=signature("CHOP(text: string) -> string"),
        lowering=take(TEXT, native("-", LENGTH, native("if", native("endswith", TEXT, "\r\n"), 2, 1))),
        doc="Removes the last character. CR LF at the end counts as one character.",
        example="CHOP('abc')",
        result='"ab"',
        group=GROUP,
    ),
    Function(
        signature=signature("CONCAT(values: text...) -> string"),
        lowering=native("concat_ws", "", Rest()),
        doc="Joins the values as text. Nulls are ignored, so the result is never null.",
        example="CONCAT('Jose', ' ', NULL, 7)",
        result='"Jose 7"',
        group=GROUP,
        nulls="never",
    ),
    Function(
        signature=signature("DECODE64(text: string) -> string"),
        lowering=native("decode", native("to_binary", TEXT, "base64"), "UTF-8"),
        doc="Decodes base64. The record fails if the text is not base64 of UTF-8 text.",
        example="DECODE64('TGVuc2VzIMOp')",
        result='"Lenses é"',
        group=GROUP,
    ),
    Function(
        signature=signature("DELETEWHITESPACE(text: string) -> string"),
        lowering=native("regexp_replace", TEXT, r"\p{javaWhitespace}+", ""),
        doc="Removes white space as defined by Character.isWhitespace of Java. No-break spaces remain.",
        example="DELETEWHITESPACE(' Soft  Shirt ')",
        result='"SoftShirt"',
        group=GROUP,
    ),
    Function(
        signature=signature("DIGITS(text: string) -> string"),
        lowering=native("regexp_replace", TEXT, r"\P{Nd}+", ""),
        doc="Removes all characters except decimal digits of any script.",
        example="DIGITS('TOY-502-WH-1')",
        result='"5021"',
        group=GROUP,
    ),
    Function(
        signature=signature("LEN(text: string) -> int"),
        aliases=("LENGTH",),
        lowering=LENGTH,
        doc="Returns the number of characters, which are UTF-16 code units: 😀 is two.",
        example="LEN('café')",
        result="4",
        group=GROUP,
        synonyms=("CHAR_LENGTH", "STRLEN"),
    ),
    Function(
        signature=signature("LOWER(text: string) -> string"),
        lowering=lower(TEXT),
        doc="Converts the text to lower case by the rules of Unicode, independent of the locale.",
        example="LOWER('ÀB1')",
        result='"àb1"',
        group=GROUP,
        synonyms=("LCASE", "TOLOWER"),
    ),
    Function(
        signature=signature("LPAD(text: string, length: int, pad: string = ' ') -> string"),
        lowering=native("concat", _padding(Arg(2), _MISSING), TEXT),
        doc="Pads the text on the left with `pad` to `length` characters. Longer text is returned unchanged.",
        example="LPAD('7', 3, '0')",
        result='"007"',
        group=GROUP,
    ),
    Function(
        signature=signature("MKSTRING(value: any) -> string"),
        lowering=native("if", native("isnull", Arg(0)), None, json_text(Arg(0))),
        doc="Converts the value to JSON text: text in double quotes, timestamps with milliseconds, bytes in base64, "
        "structs and arrays with all their values.",
        example="MKSTRING('2016-01-01 00:11:14')",
        result=r'"\"2016-01-01 00:11:14\""',
        group=GROUP,
        synonyms=("ARRAY_JOIN", "CONCAT_WS", "STRING_AGG"),
    ),
    Function(
        signature=signature("REVERSE(text: string) -> string"),
        lowering=native("reverse", TEXT),
        doc="Reverses the order of the characters.",
        example="REVERSE('abé')",
        result='"éba"',
        group=GROUP,
    ),
    Function(
        signature=signature("RPAD(text: string, length: int, pad: string = ' ') -> string"),
        lowering=native("concat", TEXT, _padding(Arg(2), _MISSING)),
        doc="Pads the text on the right with `pad` to `length` characters. Longer text is returned unchanged.",
        example="RPAD('ab', 5, '.')",
        result='"ab..."',
        group=GROUP,
    ),
    Function(
        signature=signature("STRIPACCENTS(text: string) -> string"),
        lowering=native("regexp_replace", native("translate", TEXT, *_accents()), "[\\u0300-\\u036F]+", ""),
        doc="Removes the diacritics of Latin, Greek and Cyrillic letters. The case does not change.",
        example="STRIPACCENTS('Éclair à Łódź')",
        result='"Eclair a Lodz"',
        group=GROUP,
        synonyms=("UNACCENT",),
    ),
    Function(
        signature=signature("SWAPCASE(text: string) -> string"),
        lowering=native(
            "array_join",
            native("transform", native("split", TEXT, ""), Lambda(("c",), _swap_case(Param("c")))),
            "",
        ),
        doc="Converts lower case to upper case, and upper case to lower case.",
        example="SWAPCASE('The Dog é')",
        result='"tHE dOG É"',
        group=GROUP,
    ),
    Function(
        signature=signature("TRIM(text: string) -> string"),
        lowering=native("btrim", TEXT, CONTROL_AND_BLANK),
        doc="Removes blanks, tabs, line breaks and other control characters at both ends.",
        example="TRIM('  a b ')",
        result='"a b"',
        group=GROUP,
        synonyms=("STRIP", "BTRIM"),
    ),
    Function(
        signature=signature("UNCAPITALIZE(text: string) -> string"),
        lowering=native("concat", lower(native("left", TEXT, 1)), native("substring", TEXT, 2)),
        doc="Converts the first character to lower case. The other characters do not change.",
        example="UNCAPITALIZE('CAT')",
        result='"cAT"',
        group=GROUP,
    ),
    Function(
        signature=signature("UPPER(text: string) -> string"),
        lowering=upper(TEXT),
        doc="Converts the text to upper case by the rules of Unicode, independent of the locale.",
        example="UPPER('àb1')",
        result='"ÀB1"',
        group=GROUP,
        synonyms=("UCASE", "TOUPPER"),
    ),
    Function(
        signature=signature("UUID() -> string"),
        lowering=_uuid(Arg(0), Arg(1)),
        doc="Returns a random UUID (version 4) of 36 characters, another one for each record. Without an aggregate or "
        "a join, a batch that runs again has the same UUIDs.",
        example="UUID()",
        result='"[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}"',
        group=GROUP,
        synonyms=("GEN_RANDOM_UUID",),
        nulls="never",
        deterministic=False,
        random_bits=2,
    ),
)
