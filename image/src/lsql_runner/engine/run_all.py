"""Runs all steps of an end, even if some fail."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable

from lsql_runner.jvm.failures import classify

LOG = logging.getLogger("lsql_runner.engine")


def run_all(steps: Iterable[Callable[[], object]]) -> None:
    """Run all steps in order, also after one that raises.

    Raises:
        Exception: the exception of the first step that failed. Exceptions of later steps are logged.
    """
    first: Exception | None = None
    for step in steps:
        try:
            step()
        except Exception as error:
            if first is None:
                first = error
            else:
                reason = f"{type(error).__name__}: {classify(error).reason}"
                LOG.warning("another step of the stop failed", extra={"reason": reason})
    if first is not None:
        raise first
