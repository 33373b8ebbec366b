"""Text: case, trimming, padding, joining, encoding. Lengths count characters (Unicode code points)."""

from __future__ import annotations

import unicodedata

from lsql_runner.bind.functions.lowering import Arg, Lambda, Lowering, Native, Param, Rest, To, native
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
_UTF8 = native("replace", native("base64", To(TEXT, BYTES)), "\r\n", "")

FUNCTIONS = (
    Function(
        signature("ABBREVIATE(text: string, width: int) -> string"),
        native(
            "if",
            native("<=", LENGTH, Arg(1)),
            TEXT,
            native("concat", native("left", TEXT, native("-", Arg(1), 3)), native("left", "...", Arg(1))),
        ),
        "The text cut to `width` characters, the last three of them dots; shorter text stays as it is. "
        "A width below 4 leaves only dots.",
        "ABBREVIATE('cc53c3b3b0b966804573', 10)",
        '"cc53c3b..."',
        GROUP,
    ),
    Function(
        signature("BASE64(text: string) -> string"),
        _UTF8,
        "The UTF-8 bytes of the text in base64, with padding and without line breaks.",
        "BASE64('Lenses é')",
        '"TGVuc2VzIMOp"',
        GROUP,
    ),
    Function(
        signature("CAPITALIZE(text: string) -> string"),
        native("concat", upper(native("left", TEXT, 1)), native("substring", TEXT, 2)),
        "The text with its first character in upper case and all others as they are.",
        "CAPITALIZE('unverified User')",
        '"Unverified User"',
        GROUP,
    ),
    Function(
        signature("CENTER(text: string, size: int, pad: string = ' ') -> string"),
        native(
            "rpad",
            native("lpad", TEXT, To(native("div", native("+", _SIZE, LENGTH), 2), INT), _filled(Arg(2))),
            _SIZE,
            _filled(Arg(2)),
        ),
        "The text in the middle of `size` characters, filled with `pad`; the odd one stands on the right. "
        "Longer text stays as it is.",
        "CENTER('ab', 7, 'yz')",
        '"yzabyzy"',
        GROUP,
    ),
    Function(
        signature("CHOP(text: string) -> string"),
        native("left", TEXT, native("-", LENGTH, native("if", native("endswith", TEXT, "\r\n"), 2, 1))),
        "The text without its last character; a CR and LF at the end count as one. Empty text stays empty.",
        "CHOP('abc')",
        '"ab"',
        GROUP,
    ),
    Function(
        signature("CONCAT(values: text...) -> string"),
        native("concat_ws", "", Rest()),
        "The values one after the other, as text; nulls are left out, so the result is never null.",
        "CONCAT('Jose', ' ', NULL, 7)",
        '"Jose 7"',
        GROUP,
        nulls="never",
    ),
    Function(
        signature("DECODE64(text: string) -> string"),
        native("decode", native("to_binary", TEXT, "base64"), "UTF-8"),
        "The text that BASE64 was made from; what is not base64 of UTF-8 text fails the record.",
        "DECODE64('TGVuc2VzIMOp')",
        '"Lenses é"',
        GROUP,
    ),
    Function(
        signature("DELETEWHITESPACE(text: string) -> string"),
        native("regexp_replace", TEXT, r"\p{javaWhitespace}+", ""),
        "The text without white space, in the sense of Character.isWhitespace of Java (a no-break space stays).",
        "DELETEWHITESPACE(' Soft  Shirt ')",
        '"SoftShirt"',
        GROUP,
    ),
    Function(
        signature("DIGITS(text: string) -> string"),
        native("regexp_replace", TEXT, r"\P{Nd}+", ""),
        "Only the decimal digits of the text, in any script; empty text where there are none.",
        "DIGITS('TOY-502-WH-1')",
        '"5021"',
        GROUP,
    ),
    Function(
        signature("LEN(text: string) -> int"),
        LENGTH,
        "How many characters the text has.",
        "LEN('café')",
        "4",
        GROUP,
    ),
    Function(
        signature("LOWER(text: string) -> string"),
        lower(TEXT),
        "The text in lower case, by the rules of Unicode, whatever the locale.",
        "LOWER('ÀB1')",
        '"àb1"',
        GROUP,
    ),
    Function(
        signature("LPAD(text: string, length: int, pad: string = ' ') -> string"),
        native("lpad", TEXT, _SIZE, _filled(Arg(2))),
        "The text filled with `pad` on the left to `length` characters; longer text stays as it is.",
        "LPAD('7', 3, '0')",
        '"007"',
        GROUP,
    ),
    Function(
        signature("MKSTRING(value: any) -> string"),
        native("if", native("isnull", Arg(0)), None, json_text(Arg(0))),
        "The value as JSON text: text in double quotes, timestamps to the millisecond, bytes in base64, "
        "structs and arrays whole.",
        "MKSTRING('2016-01-01 00:11:14')",
        r'"\"2016-01-01 00:11:14\""',
        GROUP,
    ),
    Function(
        signature("REVERSE(text: string) -> string"),
        native("reverse", TEXT),
        "The characters of the text in reverse order.",
        "REVERSE('abé')",
        '"éba"',
        GROUP,
    ),
    Function(
        signature("RPAD(text: string, length: int, pad: string = ' ') -> string"),
        native("rpad", TEXT, _SIZE, _filled(Arg(2))),
        "The text filled with `pad` on the right to `length` characters; longer text stays as it is.",
        "RPAD('ab', 5, '.')",
        '"ab..."',
        GROUP,
    ),
    Function(
        signature("STRIPACCENTS(text: string) -> string"),
        native("regexp_replace", native("translate", TEXT, *_accents()), "[\\u0300-\\u036F]+", ""),
        "The text without diacritics, in Latin, Greek and Cyrillic letters; the case stays.",
        "STRIPACCENTS('Éclair à Łódź')",
        '"Eclair a Lodz"',
        GROUP,
    ),
    Function(
        signature("SWAPCASE(text: string) -> string"),
        native(
            "array_join",
            native("transform", native("split", TEXT, ""), Lambda(("c",), _swapped(Param("c")))),
            "",
        ),
        "The text with lower case letters in upper case and upper case ones in lower case.",
        "SWAPCASE('The Dog é')",
        '"tHE dOG É"',
        GROUP,
    ),
    Function(
        signature("TRIM(text: string) -> string"),
        native("btrim", TEXT, CONTROL_AND_BLANK),
        "The text without blanks, tabs, line ends and other control characters at its start and end.",
        "TRIM('  a b ')",
        '"a b"',
        GROUP,
    ),
    Function(
        signature("UNCAPITALIZE(text: string) -> string"),
        native("concat", lower(native("left", TEXT, 1)), native("substring", TEXT, 2)),
        "The text with its first character in lower case and all others as they are.",
        "UNCAPITALIZE('CAT')",
        '"cAT"',
        GROUP,
    ),
    Function(
        signature("UPPER(text: string) -> string"),
        upper(TEXT),
        "The text in upper case, by the rules of Unicode, whatever the locale.",
        "UPPER('àb1')",
        '"ÀB1"',
        GROUP,
    ),
    Function(
        signature("UUID() -> string"),
        native("uuid"),
        "A random UUID of 36 characters, another one for each record; a batch that is run again gives others.",
        "UUID()",
        '"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}"',
        GROUP,
        nulls="never",
        deterministic=False,
    ),
)
