"""Positions in the text of a program, for error messages."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, order=True)
class Span:
    """A half-open range `[start, end)` of character offsets in the text of a program."""

    start: int
    end: int

    def to(self, other: Span) -> Span:
        """The smallest span that contains this span and `other`."""
        return Span(min(self.start, other.start), max(self.end, other.end))


@dataclass(frozen=True, slots=True)
class Position:
    """A position as line and column, both counted from 1."""

    line: int
    column: int


def position_of(text: str, offset: int) -> Position:
    """The line and column of the character at `offset`, or of the end for an offset beyond it."""
    before = text[: min(offset, len(text))]
    return Position(before.count("\n") + 1, len(before) - (before.rfind("\n") + 1) + 1)


def underline(text: str, span: Span, width: int = 100) -> tuple[str, str]:
    """The line on which `span` starts, and a line of spaces and carets below it that marks the span.

    A line of more than `width` characters is cut to the characters around the span, so that the message for a long
    program on one line stays readable.
    """
    line_start = text.rfind("\n", 0, span.start) + 1
    line_end = text.find("\n", span.start)
    line_end = len(text) if line_end < 0 else line_end
    line = text[line_start:line_end].replace("\t", " ").rstrip("\r")
    first = min(span.start - line_start, len(line))
    length = max(1, min(span.end - line_start, len(line)) - first)
    if len(line) > width:
        cut = max(0, min(first - width // 3, len(line) - width))
        line, first = line[cut : cut + width], first - cut
        length = min(length, max(1, width - first))
    return line, " " * first + "^" * length
