"""What tests do all the time beside what they check."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Event, Thread


@contextmanager
def repeated(action: Callable[[], None], every_s: float) -> Iterator[None]:
    """Calls an action again and again in a thread, until the block ends. Raises the error of the action, which ends it.

    Args:
        action: what to do.
        every_s: the seconds before each call.
    """
    stopped = Event()
    errors: list[BaseException] = []

    def run() -> None:
        try:
            while not stopped.wait(every_s):
                action()
        except BaseException as error:
            errors.append(error)

    thread = Thread(target=run, name="repeated", daemon=True)
    thread.start()
    try:
        yield
    finally:
        stopped.set()
        thread.join()
    if errors:
        raise errors[0]
