"""The process that may write the checkpoints, if a Lease chooses it among several. Imports no Spark."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Owner:
    """A file, and the line that it has while this process is the owner. The JVM compares both before it writes."""

    file: Path
    text: str

    def is_replaced(self) -> bool:
        """Whether the file has another line. A file that cannot be read tells nothing."""
        try:
            return self.file.read_text(encoding="utf-8") != self.text
        except (OSError, ValueError):
            return False
