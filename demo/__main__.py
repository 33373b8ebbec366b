"""`python -m demo`: starts it all, shows it, and leaves nothing behind."""

from __future__ import annotations

import time

BEGUN_S = time.monotonic()  # before the other imports, which are a part of what a user waits for

import argparse  # noqa: E402  # as above
import signal  # noqa: E402
import sys  # noqa: E402
import tempfile  # noqa: E402
from contextlib import ExitStack  # noqa: E402
from pathlib import Path  # noqa: E402

from demo.processor import Processor  # noqa: E402
from demo.results import Results  # noqa: E402
from demo.screen import Lines, Panels, Screen  # noqa: E402
from demo.ships import REPORTS_PER_S, TOPIC, Ships  # noqa: E402
from devkit.broker import Broker  # noqa: E402

PARTITIONS = 4
POLL_S = 0.25
EXAMPLE = Path(__file__).parents[1] / "sql-examples/01-fast-vehicles/query.sql"
PROGRAM = """\
SET defaults.topic.autocreate=true;
INSERT INTO fast_vessels
SELECT STREAM MMSI, Speed, Longitude AS Long, Latitude AS Lat, `Timestamp`
FROM iot_data
WHERE Speed > 10;
"""
"""What runs where the checkout has no examples."""


def main() -> int:
    """The exit code: 0 when it was ended, 1 when the processor ended by itself, 2 for a wrong command."""
    options = _options()
    try:
        sql = _program(options.sql)
    except (OSError, UnicodeDecodeError) as error:
        print(f"demo: the program {options.sql} cannot be read: {error}", file=sys.stderr)
        return 2
    for number in (signal.SIGINT, signal.SIGTERM):  # also where a shell started it with Ctrl-C switched off
        signal.signal(number, signal.default_int_handler)
    deadline_s = None if options.seconds is None else BEGUN_S + options.seconds
    try:
        with ExitStack() as stack:
            try:
                return _run(stack, sql, deadline_s)
            finally:
                for number in (signal.SIGINT, signal.SIGTERM):  # a second one must not break the ending off
                    signal.signal(number, signal.SIG_IGN)
    except KeyboardInterrupt:
        return 0


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="make demo", description="A broker, ships, and a processor to look at.")
    parser.add_argument("--sql", type=Path, help=f"file with the program to run; it may read the topic {TOPIC}")
    parser.add_argument("--seconds", type=float, help="end after so many seconds")
    return parser.parse_args()


def _program(path: Path | None) -> str:
    if path is not None:
        return path.read_text(encoding="utf-8")
    return EXAMPLE.read_text(encoding="utf-8") if EXAMPLE.is_file() else PROGRAM


def _run(stack: ExitStack, sql: str, deadline_s: float | None) -> int:
    broker = Broker()
    folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="lsql-demo-")))
    processor = Processor(sql, broker.bootstrap, folder)
    screen: Screen = Panels(sql, processor.url) if sys.stdout.isatty() else Lines()
    screen.say(f"broker starts at {broker.bootstrap}")
    stack.enter_context(broker)
    broker.create_topic(TOPIC, PARTITIONS)
    ships = Ships(broker.bootstrap)
    stack.callback(ships.stop)
    ships.start()
    screen.say(f"ships report to {TOPIC}, {REPORTS_PER_S} records a second; the processor starts")
    stack.enter_context(processor.process)
    results = Results(broker.bootstrap)
    stack.callback(results.stop)
    screen.say(f"page of the processor: {processor.url}")
    with screen:
        return _watch(processor, results, screen, deadline_s)


def _watch(processor: Processor, results: Results, screen: Screen, deadline_s: float | None) -> int:
    """Shows the processor until the deadline, an interrupt, or its end."""
    said_first = False
    while deadline_s is None or time.monotonic() < deadline_s:
        if not processor.process.running:
            break
        reading = processor.read()
        results.follow(reading.targets)
        if results.first_at_s is not None and not said_first:
            screen.say(f"first output after {results.first_at_s - BEGUN_S:.1f} s")
            said_first = True
        screen.show(reading, tuple(results.newest))
        time.sleep(POLL_S)
    else:
        return 0
    screen.say(f"the processor ended with exit code {processor.process.exit_code}:\n{processor.last_words()}")
    return 1


if __name__ == "__main__":
    sys.exit(main())
