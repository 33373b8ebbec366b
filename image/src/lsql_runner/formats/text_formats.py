"""CSV and XML: formats of values that are read and never written. Their schema has to be declared."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from lsql_runner.errors import DetailTable
from lsql_runner.formats.catalog import Format, Serde
from lsql_runner.formats.declared_types import declared_type, described_type
from lsql_runner.formats.spec import Declaration, DeclarationError, FormatError, FormatRow
from lsql_runner.types import BYTES, JSON, NULL, NUMERIC, Array, DataType, Map, Struct, describe

OPTIONS: dict[str, dict[str, str]] = {
    "CSV": {"delimiter": ",", "quote": '"', "null": ""},
    "XML": {"row_tag": ""},
}
"""By format, its options with their defaults."""
ATTRIBUTE = "_"
TEXT = "_VALUE"
"""A field `_name` of XML is the attribute `name`; `_VALUE` is the text of an element with attributes or children."""
_REASONS = DetailTable(
    {
        "OPTION_UNKNOWN": "{format} has no option {option}; its options are {known}",
        "NOT_A_STRUCT": "a record of {format} is a struct with fields, not {type}",
        "COLUMN_TYPE": "a CSV column cannot have the type {type}",
        "NOT_ONE_CHARACTER": "{option} is one ASCII character, not {value}",
        "QUOTE_IS_DELIMITER": "delimiter and quote must differ",
        "ATTRIBUTE_TYPE": "an XML attribute cannot have the type {type}",
        "TEXT_TYPE": "the text of an XML element cannot have the type {type}",
        "ELEMENT_TYPE": "an XML element cannot have the type {type}",
    }
)
_EXPECTED = DetailTable(
    {
        "OPTIONS": "expected an object of names and texts",
        "SCHEMA_OR_OPTIONS": "expected a schema and options of {format}: {reason}",
    }
)


def text_serde(form: Format, kind: DataType, options: Mapping[str, str]) -> Serde:
    """The serde of a value in CSV or XML. Options that are not given have their defaults.

    Raises:
        FormatError: the format does not support the type, or an option is unknown or invalid.
    """
    known = OPTIONS[form.name]
    for name in options:
        if name not in known:
            raise FormatError(_REASONS("OPTION_UNKNOWN", format=str(form), option=name, known=", ".join(known)))
    all_options = known | dict(options)
    if not isinstance(kind, Struct) or not kind.fields:
        raise FormatError(_REASONS("NOT_A_STRUCT", format=str(form), type=describe(kind)))
    if form.name == "CSV":
        _check_csv(kind, all_options)
    else:
        _check_element(kind, "")
    return Serde(form, kind, options=tuple(sorted(all_options.items())))


def _check_csv(kind: Struct, options: Mapping[str, str]) -> None:
    for column in kind.fields:
        if not _is_text(column.type):
            raise FormatError(_REASONS("COLUMN_TYPE", type=describe(column.type)), column.name)
    for name in ("delimiter", "quote"):
        if not (options[name].isascii() and len(options[name]) == 1 and options[name] not in "\r\n\0"):
            if name == "quote" and not options[name]:
                continue
            raise FormatError(_REASONS("NOT_ONE_CHARACTER", option=name, value=repr(options[name])))
    if options["delimiter"] == options["quote"]:
        raise FormatError(_REASONS("QUOTE_IS_DELIMITER"))


def _check_element(kind: Struct, place: str) -> None:
    for member in kind.fields:
        name = f"{place}{member.name}"
        inner = member.type.element if isinstance(member.type, Array) else member.type
        if member.name.startswith(ATTRIBUTE) and not _is_text(member.type):
            type_name = describe(member.type)
            is_text = member.name == TEXT
            reason = _REASONS("TEXT_TYPE", type=type_name) if is_text else _REASONS("ATTRIBUTE_TYPE", type=type_name)
            raise FormatError(reason, name)
        if isinstance(inner, Struct):
            _check_element(inner, f"{name}.")
        elif not _is_text(inner):
            raise FormatError(_REASONS("ELEMENT_TYPE", type=describe(member.type)), name)


def _is_text(kind: DataType) -> bool:
    return not isinstance(kind, Struct | Array | Map) and kind not in (BYTES, JSON, NULL, NUMERIC)


def _declare(form: Format, declaration: Declaration) -> Serde:
    place, options = declaration.place, declaration.options
    kind = declared_type(place, declaration.schema)
    if not isinstance(options, Mapping) or not all(isinstance(value, str) for value in options.values()):
        raise DeclarationError(_EXPECTED("OPTIONS"), f"{place}, options")
    try:
        return text_serde(form, kind, options)
    except FormatError as error:
        expected = _EXPECTED("SCHEMA_OR_OPTIONS", format=str(form), reason=error.reason)
        raise DeclarationError(expected, place) from None


def _columns_serde(form: Format, kind: DataType) -> Serde:
    return text_serde(form, kind, {})


def _row(name: str, doc: str) -> FormatRow:
    return FormatRow(
        name=name,
        doc=doc,
        is_of_keys=False,
        is_written=False,
        fits=lambda kind: False,
        declare=_declare,
        describe=_describe,
        has_options=True,
        from_columns=_columns_serde,
    )


def _describe(serde: Serde) -> Any:
    return described_type(serde.type)


FORMATS = (
    _row("CSV", "one line of columns, as in RFC 4180"),
    _row("XML", "an XML document"),
)
