"""The parts of the demo: a broker, ships that report to it, a processor. For `make demo` and `make pictures`."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from demo.gate import Gate
from demo.processor import Processor
from demo.ships import REPORTS_PER_S, TOPIC, Ships
from devkit.broker import Broker

PARTITIONS = 4
EXAMPLE = Path(__file__).parents[1] / "sql-examples/01-fast-vehicles/query.sql"


@dataclass(frozen=True, slots=True)
class Parts:
    """Broker and processor of a program, and the gate between them. Nothing runs until `start`."""

    processor: Processor
    broker: Broker
    gate: Gate

    def start(self, stack: ExitStack, say: Callable[[str], None]) -> None:
        """Start broker and processor side by side, and feed them; `say` gets a line for each step.

        `stack` ends them, also where this raises.
        """
        stack.callback(self.gate.close)
        say(f"broker and processor start: {self.broker.bootstrap}, {self.processor.url}")
        self.processor.process.start()
        stack.callback(self.processor.process.stop)  # where the broker does not start
        stack.enter_context(self.broker)
        stack.callback(self.processor.process.stop)  # before the broker ends: it commits its position
        self.broker.create_topic(TOPIC, PARTITIONS)
        ships = Ships(self.broker.bootstrap)
        stack.callback(ships.stop)
        ships.start()
        say(f"the broker runs; ships report to {TOPIC}, {REPORTS_PER_S} records a second")
        self.gate.open(self.broker.bootstrap)


def make_parts(sql: str) -> Parts:
    """The parts for a program."""
    gate = Gate()
    return Parts(Processor(sql, gate.address), Broker(), gate)


def read_program(path: Path | None = None) -> str:
    """The program of the file, or the demo's own.

    Raises:
        OSError, UnicodeDecodeError: the file cannot be read.
    """
    return (path or EXAMPLE).read_text(encoding="utf-8")
