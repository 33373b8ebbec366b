"""Tests that repeat what other tests show, with more inputs. Only `make test-all`, or THOROUGH=1, runs them."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from typing import TypeVar

import pytest

THOROUGH = os.environ.get("THOROUGH") == "1"
T = TypeVar("T")


def inputs(values: Iterable[T], always: Callable[[T], bool]) -> list[object]:
    """The values of a parametrized test. Those for which `always` is false are marked `thorough`."""
    return [value if always(value) else pytest.param(value, marks=pytest.mark.thorough) for value in values]


def examples(always: int, thorough: int) -> int:
    """The number of random examples of a test."""
    return thorough if THOROUGH else always
