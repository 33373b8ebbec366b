"""The place of a node in the text. It takes no part in equality: two texts that say the same are equal."""

from __future__ import annotations

from dataclasses import field

from lsql_runner.spans import Span

NOWHERE = Span(0, 0)


def place() -> Span:
    """The field of a node's place."""
    return field(default=NOWHERE, compare=False, repr=False)
