"""The exit code of a command, and how it prints an error: in words, without a stack trace."""

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
"""Values of ROOT_LOG_LEVEL at which an internal error shows its trace."""


def exits_with_code(rendered: Callable[[LsqlError], str]) -> Callable[[Callable[P, int]], Callable[P, None]]:
    """Exit with the code that the command returns, or with that of its LsqlError, which `rendered` makes printable."""

    def decorate(command: Callable[P, int]) -> Callable[P, None]:
        @wraps(command)
        def wrapped(*args: P.args, **kwargs: P.kwargs) -> None:
            try:
                code = command(*args, **kwargs)
            except LsqlError as error:
                click.echo(rendered(error), err=True)
                code = error.exit_code
            except KeyboardInterrupt:
                code = INTERRUPTED
            except (click.ClickException, click.exceptions.Exit):
                raise  # wrong usage, which click reports itself
            except Exception as error:
                if _is_debugging():
                    raise
                reason = f"{type(error).__name__}: {error}"
                fault = LsqlError("INTERNAL", reason=reason, reference="ROOT_LOG_LEVEL=DEBUG")
                click.echo(rendered(fault), err=True)
                code = fault.exit_code
            sys.exit(code)

        return wrapped

    return decorate


def _is_debugging() -> bool:
    """Whether traces are asked for."""
    return os.environ.get("ROOT_LOG_LEVEL", "").strip().upper() in _TRACED
