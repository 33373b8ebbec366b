"""Exit codes of commands. Errors are printed as sentences. Only internal errors can have a stack trace."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from functools import wraps
from typing import ParamSpec

import click

from lsql_runner.config.log_levels import internal_error, is_debugging
from lsql_runner.errors import LsqlError

P = ParamSpec("P")
INTERRUPTED = 130


def exits_with_code(render: Callable[[LsqlError], str]) -> Callable[[Callable[P, int]], Callable[P, None]]:
    """A decorator: the command exits with the code that it returns, or prints its LsqlError and exits with its code.

    Args:
        render: the printed text of an error.
    """

    def decorate(command: Callable[P, int]) -> Callable[P, None]:
        @wraps(command)
        def wrapper(*args: P.args, **kwargs: P.kwargs) -> None:
            try:
                code = command(*args, **kwargs)
            except LsqlError as error:
                click.echo(render(error), err=True)
                code = error.exit_code
            except KeyboardInterrupt:
                code = INTERRUPTED
            except (click.ClickException, click.exceptions.Exit):
                raise  # wrong usage, which click reports itself
            except Exception as error:
                if is_debugging(os.environ):
                    raise
                fault = internal_error(error)
                click.echo(render(fault), err=True)
                code = fault.exit_code
            sys.exit(code)

        return wrapper

    return decorate
