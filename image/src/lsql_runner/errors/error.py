"""An error with its parameters and its place, and its representations for people and for programs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from lsql_runner.errors.catalogue import CATALOGUE
from lsql_runner.errors.details import Value
from lsql_runner.errors.kinds import ErrorKind
from lsql_runner.spans import Position, Span, position_of, underline


class LsqlError(Exception):
    """An error that a user can correct.

    Attributes:
        code: a key of the catalogue. It is stable: tests and scripts may rely on it.
        params: the values of the slots in the sentences of the catalogue.
        span: the place in the program's text; None if there is none.
        related: other places in the text, each with a label.
    """

    def __init__(
        self, code: str, span: Span | None = None, related: Sequence[tuple[str, Span]] = (), **params: Value
    ) -> None:
        kind = CATALOGUE[code]
        if set(params) != kind.slots:
            raise TypeError(f"{code} takes {sorted(kind.slots)}, not {sorted(params)}")
        self.code = code
        self.span = span
        self.related = tuple(related)
        self.params = params
        super().__init__(code, params)

    def with_params(self, **params: Value) -> LsqlError:
        """The same error with some parameters replaced."""
        return LsqlError(self.code, self.span, self.related, **{**self.params, **params})

    @property
    def kind(self) -> ErrorKind:
        return CATALOGUE[self.code]

    @property
    def message(self) -> str:
        """One sentence that describes the error."""
        return self.kind.message.format_map(self.params)

    @property
    def way_out(self) -> str:
        """One or more sentences that say how to correct it."""
        return self.kind.way_out.format_map(self.params)

    @property
    def exit_code(self) -> int:
        return self.kind.exit_code

    def __str__(self) -> str:
        return f"{self.code}: {self.message} {self.way_out}"


@dataclass(frozen=True, slots=True, kw_only=True)
class ErrorReport:
    """An error as plain data, for JSON responses, /stream and logs."""

    code: str
    message: str
    way_out: str
    params: dict[str, Value]
    position: Position | None


def report(error: LsqlError, text: str | None = None) -> ErrorReport:
    """The error as plain data. `text` is the program to which its place refers."""
    position = position_of(text, error.span.start) if text is not None and error.span is not None else None
    return ErrorReport(
        code=error.code, message=error.message, way_out=error.way_out, params=dict(error.params), position=position
    )


def render(error: LsqlError, text: str | None = None, name: str = "SQL") -> str:
    """The error for a terminal: code and sentence, the line with its place underlined, how to correct it."""
    parts = [f"{error.code}: {error.message}"]
    if text is not None and error.span is not None:
        places = [("", error.span), *error.related]
        for label, span in places:
            position = position_of(text, span.start)
            line, marks = underline(text, span)
            parts.append(
                f"  {name}, line {position.line}, column {position.column}" + (f" ({label})" if label else "") + ":"
            )
            parts.append(f"    {line}\n    {marks}")
    parts.append(f"  To fix it: {error.way_out}")
    return "\n".join(parts)
