"""Amounts of memory in the notation of Kubernetes: `768Mi`, `1Gi`, `805306368`, `1e9`.

Source: the reference of Kubernetes' API, `Quantity`.
"""

from __future__ import annotations

import re

_QUANTITY = re.compile(r"(\d+(?:\.\d+)?(?:[eE][+-]?\d{1,2})?)(m|k|[MGTPE]|[KMGTPE]i)?\Z", re.ASCII)
_UNITS = {"m": 0.001, "k": 10**3} | {unit: 1000 ** (power + 2) for power, unit in enumerate("MGTPE")}
_BINARY_UNITS = {f"{unit}i": 1024 ** (power + 1) for power, unit in enumerate("KMGTPE")}


def mebibytes(text: str) -> int | None:
    """The amount in MiB, rounded down; None if the text is not a quantity."""
    match = _QUANTITY.match(text.strip())
    if match is None:
        return None
    number, unit = match.groups()
    return int(float(number) * ({"": 1} | _UNITS | _BINARY_UNITS)[unit or ""]) >> 20
