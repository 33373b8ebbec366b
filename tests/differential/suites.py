"""The suites of compared programs: each program as SQL, and as the name and arguments of a topology.

Programs that read the same records run together, as one program of this language.
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
    """A program for both engines. `sql` writes to a topic with the name of the program."""

    name: str
    sql: str
    topology: str
    view: View
    settings: Mapping[str, Any] = field(default_factory=dict)
    fields: tuple[str, ...] | None = None
    """The fields of the topology's output that the SQL also has; None for all."""
    grace: Grace | None = None
    """For a program with late records: its windows and their grace."""
    in_order: bool = False
    """Whether the output within a batch depends on the order in which records of both topics are processed."""


@dataclass(frozen=True, slots=True)
class Suite:
    """Programs with the same records."""

    name: str
    generate: Generator
    programs: tuple[Program, ...]
    sets: str = ""
    """The SET statements of all programs."""
