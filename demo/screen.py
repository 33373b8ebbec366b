"""The output of the demo: a live panel on a terminal, plain lines otherwise."""

from __future__ import annotations

import time
from collections.abc import Iterable
from types import TracebackType
from typing import Protocol, Self

from rich.console import Console, Group
from rich.live import Live
from rich.panel import Panel
from rich.syntax import Syntax
from rich.table import Table
from rich.text import Text

from demo.processor import Reading

LINE_EVERY_S = 2.0
SQL_LINES = 12
COLOURS = {"running": "green", "starting": "yellow", "waiting": "yellow", "restarting": "red", "failed": "red"}


class Screen(Protocol):
    """The output of the demo."""

    def say(self, text: str) -> None:
        """Write a permanent line."""

    def show(self, reading: Reading, newest: Iterable[str]) -> None:
        """Show the current status of the processor."""

    def __enter__(self) -> Self: ...

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None: ...


class Lines:
    """Plain lines for a file, a pipe or a CI log, each with the seconds since `begun_s` on the monotonic clock."""

    def __init__(self, begun_s: float) -> None:
        self._begun_s = begun_s
        self._shown_at_s = 0.0
        self._shown = Reading(state="")

    def say(self, text: str) -> None:
        print(f"{time.monotonic() - self._begun_s:5.1f} s  {text}", flush=True)

    def show(self, reading: Reading, newest: Iterable[str]) -> None:
        changed = (reading.state, reading.reason) != (self._shown.state, self._shown.reason)
        if not changed and time.monotonic() - self._shown_at_s < LINE_EVERY_S:
            return
        self._shown_at_s, self._shown = time.monotonic(), reading
        if reading.state == "running":
            self.say(figures(reading))
            for record in list(newest)[-1:]:
                self.say(f"newest: {record}")
        else:
            self.say(f"{reading.state} {reading.reason}".rstrip())

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        return


class Panels:
    """A panel that is redrawn in place; the lines of `say` scroll above it."""

    def __init__(self, sql: str, url: str) -> None:
        self._sql = "\n".join(sql.strip().splitlines()[:SQL_LINES])
        self._url = url
        self._live = Live(console=Console(), refresh_per_second=4, transient=False)

    def say(self, text: str) -> None:
        self._live.console.print(Text(text))

    def show(self, reading: Reading, newest: Iterable[str]) -> None:
        self._live.update(self._panel(reading, list(newest)))

    def __enter__(self) -> Self:
        self._live.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._live.stop()

    def _panel(self, reading: Reading, newest: list[str]) -> Panel:
        facts = Table.grid(padding=(0, 3))
        facts.add_row("state", Text(reading.state, style=f"bold {COLOURS.get(reading.state, 'white')}"))
        if reading.reason:
            facts.add_row("reason", Text(reading.reason))
        facts.add_row("records/s", f"{reading.in_per_s:,.0f} in, {reading.out_per_s:,.0f} out")
        facts.add_row("lag", f"{reading.lag:,}")
        facts.add_row("state rows", f"{reading.state_rows:,}")
        facts.add_row("page", Text(self._url, style=f"bold underline link {self._url}"))
        records = Text("\n".join(newest) or "no output yet", no_wrap=True, overflow="ellipsis", style="cyan")
        return Panel(
            Group(Syntax(self._sql, "sql", background_color="default"), "", facts, "", records),
            title="lsql-runner demo",
            subtitle="Ctrl-C ends everything",
        )


def figures(reading: Reading) -> str:
    """The status of a running processor in one line."""
    return (
        f"{reading.state}  in {reading.in_per_s:.0f}/s  out {reading.out_per_s:.0f}/s  "
        f"lag {reading.lag}  state rows {reading.state_rows}"
    )
