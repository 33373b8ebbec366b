"""The system of the demo: a broker, simulated ships that send their positions, and a processor.

`make demo` and `make pictures` start it.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from demo.broker_proxy import BrokerProxy
from demo.processor import DemoProcessor
from demo.ships import REPORTS_PER_S, TOPIC, Ships
from devkit.broker import Broker

PARTITIONS = 4
EXAMPLE = Path(__file__).parents[1] / "sql-examples/01-fast-vehicles/query.sql"


@dataclass(frozen=True, slots=True)
class DemoSystem:
    """A processor, its broker, and the proxy between them. Nothing runs before `start`."""

    processor: DemoProcessor
    broker: Broker
    proxy: BrokerProxy

    def start(self, stack: ExitStack, say: Callable[[str], None]) -> None:
        """Start broker and processor at the same time, and produce records; `say` gets a line for each step.

        `stack` ends them, even if this raises an exception.
        """
        stack.callback(self.proxy.close)
        say(f"broker and processor start: {self.broker.bootstrap}, {self.processor.url}")
        self.processor.process.start()
        stack.callback(self.processor.process.stop)  # if the broker does not start
        stack.enter_context(self.broker)
        stack.callback(
            self.processor.process.stop
        )  # before the broker ends, because the processor commits its position
        self.broker.create_topic(TOPIC, PARTITIONS)
        ships = Ships(self.broker.bootstrap)
        stack.callback(ships.stop)
        ships.start()
        say(f"the broker runs; ships report to {TOPIC}, {REPORTS_PER_S} records a second")
        self.proxy.open(self.broker.bootstrap)


def new_system(sql: str) -> DemoSystem:
    """A system that runs a program."""
    proxy = BrokerProxy()
    return DemoSystem(DemoProcessor(sql, proxy.address), Broker(), proxy)


def read_program(path: Path | None = None) -> str:
    """The program in the file, or the default one.

    Raises:
        OSError, UnicodeDecodeError: the file cannot be read.
    """
    return (path or EXAMPLE).read_text(encoding="utf-8")
