"""An error of the JVM as data: a condition with parameters. All errors of Java reach Python in this form."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class JavaError:
    """One exception.

    `jvm.java_entries` lists our conditions; all others are Spark's.
    """

    condition: str = ""
    """Without a sub-condition; empty for an exception without a condition."""
    parameters: Mapping[str, str] = field(default_factory=dict)
    reason: str = ""
    """One line for people: no class names, no trace. Empty for an exception without a message."""
    type: str = ""
    """The simple name of the exception's class."""


JavaErrors = tuple[JavaError, ...]
"""An exception and its causes, outermost first."""


def read_chain(text: str) -> JavaErrors:
    """Parse a result of `com.lsqlrunner.errors.ErrorChain.json`."""
    return tuple(JavaError(**link) for link in json.loads(text))


def read_error(error: Mapping[str, Any]) -> JavaError:
    """An error of the program BROKER_REQUESTS: `{"condition": ..., "parameters": {...}}`."""
    parameters = error["parameters"]
    return JavaError(error["condition"], parameters, parameters.get("reason", ""))
