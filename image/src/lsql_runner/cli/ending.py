"""How a command ends: with a code, and an error in words; no stack trace reaches the terminal."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from functools import wraps
from typing import ParamSpec

import click

from lsql_runner.errors import LsqlError

P = ParamSpec("P")
INTERRUPTED = 130
_TRACED = ("ALL", "TRACE", "DEBUG")
"""Values of ROOT_LOG_LEVEL at which a fault of ours shows its trace."""


def ends_with_a_code(shown: Callable[[LsqlError], str]) -> Callable[[Callable[P, int]], Callable[P, None]]:
    """Ends the process with the command's code; an LsqlError with its own, after what `shown` makes of it."""

    def decorate(command: Callable[P, int]) -> Callable[P, None]:
        @wraps(command)
        def wrapped(*args: P.args, **kwargs: P.kwargs) -> None:
            try:
                code = command(*args, **kwargs)
            except LsqlError as error:
                click.echo(shown(error), err=True)
                code = error.exit_code
            except KeyboardInterrupt:
                code = INTERRUPTED
            except (click.ClickException, click.exceptions.Exit):
                raise  # wrong usage, which click tells itself
            except Exception as error:
                if _is_debugging():
                    raise
                reason = f"{type(error).__name__}: {error}"
                fault = LsqlError("INTERNAL", reason=reason, reference="ROOT_LOG_LEVEL=DEBUG")
                click.echo(shown(fault), err=True)
                code = fault.exit_code
            sys.exit(code)

        return wrapped

    return decorate


def _is_debugging() -> bool:
    """Whether the person asked for traces."""
    return os.environ.get("ROOT_LOG_LEVEL", "").strip().upper() in _TRACED
