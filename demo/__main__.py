"""`python -m demo`: starts broker, ships and processor, shows the processor, and removes everything at the end."""

from __future__ import annotations

import time

BEGUN_S = time.monotonic()  # before the other imports, because a user waits for them too

import argparse  # noqa: E402  # as above
import errno  # noqa: E402
import signal  # noqa: E402
import sys  # noqa: E402
from contextlib import ExitStack  # noqa: E402
from pathlib import Path  # noqa: E402

from demo.processor import DemoProcessor  # noqa: E402
from demo.results import Results  # noqa: E402
from demo.screen import Lines, Panels, Screen  # noqa: E402
from demo.ships import TOPIC  # noqa: E402
from demo.system import new_system, read_program  # noqa: E402

POLL_S = 0.25


def main() -> int:
    """The exit code: 0 if the user ended the demo, 1 if the processor failed or ended, 2 for a wrong command."""
    options = _options()
    try:
        sql = read_program(options.sql)
    except (OSError, UnicodeDecodeError) as error:
        print(f"demo: the program {options.sql} cannot be read: {error}", file=sys.stderr)
        return 2
    received: list[int] = []

    def interrupt(number: int, _: object) -> None:
        received.append(number)
        raise KeyboardInterrupt

    for number in _ends():
        signal.signal(number, interrupt)
    deadline_s = None if options.seconds is None else BEGUN_S + options.seconds
    try:
        with ExitStack() as stack:
            try:
                return _run(stack, sql, deadline_s)
            except Exception:
                if received:  # a library in C may replace the interrupt by an error of its own
                    return 0
                raise
            finally:
                for number in _ends():  # a second signal must not interrupt the clean-up
                    signal.signal(number, signal.SIG_IGN)
    except KeyboardInterrupt:
        return 0
    except OSError as error:
        if error.errno in (
            errno.EIO,
            errno.EPIPE,
        ):  # the terminal or the pipe is closed
            return 0
        raise


def _ends() -> list[signal.Signals]:
    """The signals that end the demo, except signals that are ignored at its start: by nohup, or in the background."""
    ends = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
    return [number for number in ends if signal.getsignal(number) is not signal.SIG_IGN]


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="make demo", description="A broker, ships, and a processor to look at.")
    parser.add_argument("--sql", type=Path, help=f"file with the program to run; it may read the topic {TOPIC}")
    parser.add_argument("--seconds", type=float, help="end after so many seconds")
    return parser.parse_args()


def _run(stack: ExitStack, sql: str, deadline_s: float | None) -> int:
    system = new_system(sql)
    screen: Screen = Panels(sql, system.processor.url) if sys.stdout.isatty() else Lines(BEGUN_S)
    system.start(stack, screen.say)
    results = Results(system.broker.bootstrap)
    stack.callback(results.stop)
    with screen:
        return watch(system.processor, results, screen, deadline_s)


def watch(processor: DemoProcessor, results: Results, screen: Screen, deadline_s: float | None) -> int:
    """Show the processor until the deadline, an interrupt, its failure or its end."""
    announced = False
    while deadline_s is None or time.monotonic() < deadline_s:
        if not processor.process.running:
            break
        reading = processor.read()
        results.follow(reading.targets)
        if results.first_at_s is not None and not announced:
            screen.say(f"first output after {results.first_at_s - BEGUN_S:.1f} s")
            announced = True
        screen.show(reading, tuple(results.newest))
        if reading.state == "failed":  # the process stays, so that its API shows the reason
            screen.say(f"the processor failed:\n{processor.why_it_ended()}")
            return 1
        time.sleep(POLL_S)
    else:
        return 0
    screen.say(f"the processor ended with exit code {processor.process.exit_code}:\n{processor.why_it_ended()}")
    return 1


if __name__ == "__main__":
    sys.exit(main())
