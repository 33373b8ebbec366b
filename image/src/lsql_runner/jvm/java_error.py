"""An error of the JVM as data: a condition with parameters. All errors of Java arrive in this form."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class JavaError:
    """One exception.

    Conditions of our own are listed in `jvm.java_entries`, all others are Spark's.
    """

    condition: str = ""
    """Without a sub-condition; empty for an exception that has none."""
    parameters: Mapping[str, str] = field(default_factory=dict)
    reason: str = ""
    """One line for people: no class names, no trace. Empty where the exception says nothing."""
    type: str = ""
    """The simple name of the exception's class."""


JavaErrors = tuple[JavaError, ...]
"""An exception and its causes, outermost first."""


def read_chain(text: str) -> JavaErrors:
    """What `com.lsqlrunner.errors.ErrorChain.json` wrote."""
    return tuple(JavaError(**link) for link in json.loads(text))


def read_error(error: Mapping[str, Any]) -> JavaError:
    """An error of the program that asks brokers: `{"condition": ..., "parameters": {...}}`."""
    parameters = error["parameters"]
    return JavaError(error["condition"], parameters, parameters.get("reason", ""))
