"""Text: case, trimming, padding, joining, encoding. Lengths count characters (Unicode code points)."""

from __future__ import annotations

import unicodedata

from lsql_runner.bind.functions.lowering import Arg, CastTo, Lambda, Lowering, Native, Param, Rest, native
from lsql_runner.bind.functions.spec import Function, signature
from lsql_runner.types import BYTES, INT

GROUP = "Strings"

TEXT = Arg(0)
LENGTH = native("length", TEXT)

CONTROL_AND_BLANK = "".join(map(chr, range(0x21)))
"""What String.trim of Java takes off: U+0000 to U+0020."""


def upper(text: Lowering) -> Native:
    """Upper case by Unicode's rules for all languages: the engine fixes the locale, in which the JVM does it."""
    return native("upper", text)


def lower(text: Lowering) -> Native:
    """Lower case, as `upper`."""
    return native("lower", text)


def larger(asked: Lowering, bound: Lowering | int) -> Native:
    """The larger of two numbers, null if the asked one is (the built-in greatest leaves nulls out)."""
    return native("if", native("<", asked, bound), bound, asked)


def smaller(asked: Lowering, bound: Lowering | float) -> Native:
    """The smaller of two numbers, null if the asked one is."""
    return native("if", native(">", asked, bound), bound, asked)


def json_text(value: Lowering) -> Native:
    """Any value as JSON. The built-in takes no bare scalars, so the value goes in and out of an array."""
    options = native("map", "ignoreNullFields", "false")
    return native("regexp_replace", native("to_json", native("array", value), options), r"\A\[|\]\z", "")


def _filled(pad: Lowering) -> Native:
    """A pad to use: a blank for the empty text, with which nothing could be filled."""
    return native("if", native("=", pad, ""), " ", pad)


def _swapped(character: Param) -> Native:
    is_lower = native("=", character, lower(character))
    return native("if", is_lower, upper(character), lower(character))


def _accents() -> tuple[str, str]:
    """Letters with diacritics, and in the same order the letters without."""
    plain = {"Ł": "L", "ł": "l"}
    for code in (*range(0xC0, 0x530), *range(0x1E00, 0x2000)):
        base, *marks = list(unicodedata.normalize("NFD", chr(code)))
        if marks and all("\u0300" <= mark <= "\u036f" for mark in marks):
            plain[chr(code)] = base
    return "".join(plain), "".join(plain.values())


_SIZE = larger(Arg(1), LENGTH)
_UTF8 = native("replace", native("base64", CastTo(TEXT, BYTES)), "\r\n", "")

FUNCTIONS = (
    Function(
        signature=signature("ABBREVIATE(text: string, width: int) -> string"),
        lowering=native(
            "if",
            native("<=", LENGTH, Arg(1)),
            TEXT,
            native("concat", native("left", TEXT, native("-", Arg(1), 3)), native("left", "...", Arg(1))),
        ),
        doc="The text cut to `width` characters, the last three of them dots; shorter text stays as it is. "
        "A width below 4 leaves only dots.",
        example="ABBREVIATE('cc53c3b3b0b966804573', 10)",
        result='"cc53c3b..."',
        group=GROUP,
    ),
    Function(
        signature=signature("BASE64(text: string) -> string"),
        lowering=_UTF8,
        doc="The UTF-8 bytes of the text in base64, with padding and without line breaks.",
        example="BASE64('Lenses é')",
        result='"TGVuc2VzIMOp"',
        group=GROUP,
    ),
    Function(
        signature=signature("CAPITALIZE(text: string) -> string"),
        lowering=native("concat", upper(native("left", TEXT, 1)), native("substring", TEXT, 2)),
        doc="The text with its first character in upper case and all others as they are.",
        example="CAPITALIZE('unverified User')",
        result='"Unverified User"',
        group=GROUP,
    ),
    Function(
        signature=signature("CENTER(text: string, size: int, pad: string = ' ') -> string"),
        lowering=native(
            "rpad",
            native("lpad", TEXT, CastTo(native("div", native("+", _SIZE, LENGTH), 2), INT), _filled(Arg(2))),
            _SIZE,
            _filled(Arg(2)),
        ),
        doc="The text in the middle of `size` characters, filled with `pad`; the odd one stands on the right. "
        "Longer text stays as it is.",
        example="CENTER('ab', 7, 'yz')",
        result='"yzabyzy"',
        group=GROUP,
    ),
    Function(
        signature=signature("CHOP(text: string) -> string"),
        lowering=native("left", TEXT, native("-", LENGTH, native("if", native("endswith", TEXT, "\r\n"), 2, 1))),
        doc="The text without its last character; a CR and LF at the end count as one. Empty text stays empty.",
        example="CHOP('abc')",
        result='"ab"',
        group=GROUP,
    ),
    Function(
        signature=signature("CONCAT(values: text...) -> string"),
        lowering=native("concat_ws", "", Rest()),
        doc="The values one after the other, as text; nulls are left out, so the result is never null.",
        example="CONCAT('Jose', ' ', NULL, 7)",
        result='"Jose 7"',
        group=GROUP,
        nulls="never",
    ),
    Function(
        signature=signature("DECODE64(text: string) -> string"),
        lowering=native("decode", native("to_binary", TEXT, "base64"), "UTF-8"),
        doc="The text that BASE64 was made from; what is not base64 of UTF-8 text fails the record.",
        example="DECODE64('TGVuc2VzIMOp')",
        result='"Lenses é"',
        group=GROUP,
    ),
    Function(
        signature=signature("DELETEWHITESPACE(text: string) -> string"),
        lowering=native("regexp_replace", TEXT, r"\p{javaWhitespace}+", ""),
        doc="The text without white space, in the sense of Character.isWhitespace of Java (a no-break space stays).",
        example="DELETEWHITESPACE(' Soft  Shirt ')",
        result='"SoftShirt"',
        group=GROUP,
    ),
    Function(
        signature=signature("DIGITS(text: string) -> string"),
        lowering=native("regexp_replace", TEXT, r"\P{Nd}+", ""),
        doc="Only the decimal digits of the text, in any script; empty text where there are none.",
        example="DIGITS('TOY-502-WH-1')",
        result='"5021"',
        group=GROUP,
    ),
    Function(
        signature=signature("LEN(text: string) -> int"),
        lowering=LENGTH,
        doc="How many characters the text has.",
        example="LEN('café')",
        result="4",
        group=GROUP,
    ),
    Function(
        signature=signature("LOWER(text: string) -> string"),
        lowering=lower(TEXT),
        doc="The text in lower case, by the rules of Unicode, whatever the locale.",
        example="LOWER('ÀB1')",
        result='"àb1"',
        group=GROUP,
    ),
    Function(
        signature=signature("LPAD(text: string, length: int, pad: string = ' ') -> string"),
        lowering=native("lpad", TEXT, _SIZE, _filled(Arg(2))),
        doc="The text filled with `pad` on the left to `length` characters; longer text stays as it is.",
        example="LPAD('7', 3, '0')",
        result='"007"',
        group=GROUP,
    ),
    Function(
        signature=signature("MKSTRING(value: any) -> string"),
        lowering=native("if", native("isnull", Arg(0)), None, json_text(Arg(0))),
        doc="The value as JSON text: text in double quotes, timestamps to the millisecond, bytes in base64, "
        "structs and arrays whole.",
        example="MKSTRING('2016-01-01 00:11:14')",
        result=r'"\"2016-01-01 00:11:14\""',
        group=GROUP,
    ),
    Function(
        signature=signature("REVERSE(text: string) -> string"),
        lowering=native("reverse", TEXT),
        doc="The characters of the text in reverse order.",
        example="REVERSE('abé')",
        result='"éba"',
        group=GROUP,
    ),
    Function(
        signature=signature("RPAD(text: string, length: int, pad: string = ' ') -> string"),
        lowering=native("rpad", TEXT, _SIZE, _filled(Arg(2))),
        doc="The text filled with `pad` on the right to `length` characters; longer text stays as it is.",
        example="RPAD('ab', 5, '.')",
        result='"ab..."',
        group=GROUP,
    ),
    Function(
        signature=signature("STRIPACCENTS(text: string) -> string"),
        lowering=native("regexp_replace", native("translate", TEXT, *_accents()), "[\\u0300-\\u036F]+", ""),
        doc="The text without diacritics, in Latin, Greek and Cyrillic letters; the case stays.",
        example="STRIPACCENTS('Éclair à Łódź')",
        result='"Eclair a Lodz"',
        group=GROUP,
    ),
    Function(
        signature=signature("SWAPCASE(text: string) -> string"),
        lowering=native(
            "array_join",
            native("transform", native("split", TEXT, ""), Lambda(("c",), _swapped(Param("c")))),
            "",
        ),
        doc="The text with lower case letters in upper case and upper case ones in lower case.",
        example="SWAPCASE('The Dog é')",
        result='"tHE dOG É"',
        group=GROUP,
    ),
    Function(
        signature=signature("TRIM(text: string) -> string"),
        lowering=native("btrim", TEXT, CONTROL_AND_BLANK),
        doc="The text without blanks, tabs, line ends and other control characters at its start and end.",
        example="TRIM('  a b ')",
        result='"a b"',
        group=GROUP,
    ),
    Function(
        signature=signature("UNCAPITALIZE(text: string) -> string"),
        lowering=native("concat", lower(native("left", TEXT, 1)), native("substring", TEXT, 2)),
        doc="The text with its first character in lower case and all others as they are.",
        example="UNCAPITALIZE('CAT')",
        result='"cAT"',
        group=GROUP,
    ),
    Function(
        signature=signature("UPPER(text: string) -> string"),
        lowering=upper(TEXT),
        doc="The text in upper case, by the rules of Unicode, whatever the locale.",
        example="UPPER('àb1')",
        result='"ÀB1"',
        group=GROUP,
    ),
    Function(
        signature=signature("UUID() -> string"),
        lowering=native("uuid"),
        doc="A random UUID of 36 characters, another one for each record; a batch that is run again gives others.",
        example="UUID()",
        result='"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}"',
        group=GROUP,
        nulls="never",
        deterministic=False,
    ),
)
