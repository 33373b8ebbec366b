"""What is compared: programs, each in this language, and by the name of its topology and what it is told.

Those that read the same records run together, as one program of this language.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from tests.differential.comparison import View
from tests.differential.histories import Generator
from tests.differential.late import Grace


@dataclass(frozen=True, slots=True)
class Program:
    """A program in both. `sql` writes to the topic that has the program's name."""

    name: str
    sql: str
    topology: str
    view: View
    settings: Mapping[str, Any] = field(default_factory=dict)
    fields: tuple[str, ...] | None = None
    """What the SQL has of what the topology writes; None for all."""
    grace: Grace | None = None
    """Of a program that knows late records."""
    in_order: bool = False
    """What is written within a batch depends on the order in which records of both topics are taken."""


@dataclass(frozen=True, slots=True)
class Suite:
    """Programs over the same records."""

    name: str
    generate: Generator
    programs: tuple[Program, ...]
    sets: str = ""
    """What is SET for all of them."""
