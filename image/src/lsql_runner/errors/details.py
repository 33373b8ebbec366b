"""Tables of reasons and expected values, which complete the sentences of errors; each has a code and parameters."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Self

from lsql_runner.errors.kinds import slots_of

Value = str | int | float


class Detail(str):
    """The text of a row of a DetailTable; a parameter of an error.

    Attributes:
        code: the row's code; stable, as the codes of errors are.
        params: the values in the text.
    """

    __slots__ = ("code", "params")

    code: str
    params: Mapping[str, Value]

    def __new__(cls, text: str, code: str, params: Mapping[str, Value]) -> Self:
        detail = super().__new__(cls, text)
        detail.code = code
        detail.params = params
        return detail

    def at(self, place: str) -> Detail:
        """The detail after its place in a document, as `orders.value: a schema`; unchanged if the place is empty."""
        return Detail(f"{place}: {self}", self.code, {**self.params, "place": place}) if place else self

    def in_field(self, path: str) -> Detail:
        """The detail with the path of a field, as `unknown type Money (field total)`; unchanged if it is empty."""
        return Detail(f"{self} (field {path})", self.code, {**self.params, "place": path}) if path else self


class DetailTable:
    """The details of one module, each a phrase with slots for values: `TABLE("KEY_DUPLICATE", key="a")`."""

    def __init__(self, texts: Mapping[str, str]) -> None:
        self._rows = {code: (text, slots_of(text)) for code, text in texts.items()}
        # The parser names what it expects at every token, so rows without values are created only once.
        self._constants = {
            code: Detail(text.format(), code, {}) for code, (text, slots) in self._rows.items() if not slots
        }

    def __call__(self, code: str, /, **params: Value) -> Detail:
        if not params and code in self._constants:
            return self._constants[code]
        text, slots = self._rows[code]
        if params.keys() != slots:
            raise TypeError(f"{code} takes {sorted(slots)}, not {sorted(params)}")
        return Detail(text.format_map(params), code, params)


class DetailError(ValueError):
    """An invalid value; the code that handles it makes `reason` a parameter of an LsqlError.

    Validators of pydantic models may raise it, because it is a ValueError.
    """

    def __init__(self, reason: Detail) -> None:
        super().__init__(str(reason))
        self.reason = reason
