"""CSV and XML: formats of values, read and never written. Their records do not say their schema: it is declared."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from lsql_runner.formats.catalog import Format, Serde
from lsql_runner.formats.declared_types import declared_type, described_type
from lsql_runner.formats.spec import Declaration, DeclarationError, FormatError, FormatRow
from lsql_runner.types import BYTES, NULL, Array, DataType, Map, Struct, describe

OPTIONS: dict[str, dict[str, str]] = {
    "CSV": {"delimiter": ",", "quote": '"', "null": ""},
    "XML": {"row_tag": ""},
}
"""By format, its options with their defaults."""
ATTRIBUTE = "_"
TEXT = "_VALUE"
"""A field `_name` of XML is the attribute `name`; `_VALUE` is the text of an element that has more than its text."""


class TextFormatError(FormatError):
    """A schema or an option that the format cannot have; the message says which and why."""


def text_serde(form: Format, kind: DataType, options: Mapping[str, str]) -> Serde:
    """The serde of a value in CSV or XML, with defaults for options that are not given.

    Raises:
        TextFormatError: the format cannot hold the type, or an option is unknown or invalid.
    """
    known = OPTIONS[form.name]
    for name in options:
        if name not in known:
            raise TextFormatError(f"{form} has no option {name}; it has {', '.join(known)}")
    found = known | dict(options)
    if not isinstance(kind, Struct) or not kind.fields:
        raise TextFormatError(f"a record of {form} is a struct of fields, not {describe(kind)}")
    if form.name == "CSV":
        _check_csv(kind, found)
    else:
        _check_element(kind, "")
    return Serde(form, kind, options=tuple(sorted(found.items())))


def _check_csv(kind: Struct, options: Mapping[str, str]) -> None:
    for column in kind.fields:
        if not _is_text(column.type):
            raise TextFormatError(f"{column.name} is {describe(column.type)}, which a CSV column cannot hold")
    for name in ("delimiter", "quote"):
        if not (options[name].isascii() and len(options[name]) == 1 and options[name] not in "\r\n\0"):
            if name == "quote" and not options[name]:
                continue
            raise TextFormatError(f"{name} is one ASCII character, not {options[name]!r}")
    if options["delimiter"] == options["quote"]:
        raise TextFormatError("delimiter and quote must differ")


def _check_element(kind: Struct, place: str) -> None:
    for member in kind.fields:
        name = f"{place}{member.name}"
        inner = member.type.element if isinstance(member.type, Array) else member.type
        if member.name.startswith(ATTRIBUTE) and not _is_text(member.type):
            what = "the text of an element" if member.name == TEXT else "an attribute"
            raise TextFormatError(f"{name} is {what} of XML, which {describe(member.type)} cannot be")
        if isinstance(inner, Struct):
            _check_element(inner, f"{name}.")
        elif not _is_text(inner):
            raise TextFormatError(f"{name} is {describe(member.type)}, which an XML element cannot hold")


def _is_text(kind: DataType) -> bool:
    return not isinstance(kind, Struct | Array | Map) and kind not in (BYTES, NULL)


def _declare(form: Format, declaration: Declaration) -> Serde:
    place, options = declaration.place, declaration.options
    kind = declared_type(place, declaration.schema)
    if not isinstance(options, Mapping) or not all(isinstance(value, str) for value in options.values()):
        raise DeclarationError(f"{place}.options: an object of names and texts")
    try:
        return text_serde(form, kind, options)
    except TextFormatError as error:
        raise DeclarationError(f"{place}: what {form} can be; {error}") from None


def _from_columns(form: Format, kind: DataType) -> Serde:
    return text_serde(form, kind, {})


def _row(name: str, doc: str) -> FormatRow:
    return FormatRow(
        name=name,
        doc=doc,
        is_of_keys=False,
        is_written=False,
        fits=lambda kind: False,
        declare=_declare,
        describe=_described,
        has_options=True,
        from_columns=_from_columns,
    )


def _described(serde: Serde) -> Any:
    return described_type(serde.type)


FORMATS = (
    _row("CSV", "one line of columns, as in RFC 4180"),
    _row("XML", "an XML document"),
)
