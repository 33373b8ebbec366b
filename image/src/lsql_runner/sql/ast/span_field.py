"""The field for the position of a node. It is ignored when nodes are compared, so equal programs have equal trees."""

from __future__ import annotations

from dataclasses import field

from lsql_runner.spans import Span

_NO_SPAN = Span(0, 0)


def span_field() -> Span:
    """The declaration of a dataclass field for the position of a node in the text."""
    return field(default=_NO_SPAN, compare=False, repr=False)
