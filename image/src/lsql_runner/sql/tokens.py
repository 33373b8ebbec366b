"""The tokens of a program."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum, auto

from lsql_runner.spans import Span


class TokenKind(Enum):
    WORD = auto()
    QUOTED_NAME = auto()
    STRING = auto()
    NUMBER = auto()
    DURATION = auto()
    SYMBOL = auto()
    END = auto()


@dataclass(frozen=True, slots=True)
class Token:
    """A token. `text` is the source text, `value` the text without quotes."""

    kind: TokenKind
    text: str
    value: str
    span: Span

    @property
    def upper(self) -> str:
        return self.text.upper() if self.kind is TokenKind.WORD else ""
