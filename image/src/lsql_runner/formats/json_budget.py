"""A budget for JSON that is parsed here: records, and responses of the schema registry. Python needs some 60 bytes for
each value, whatever its text takes.

Records of running queries have the budget of the JVM (RecordBudget).
"""

from __future__ import annotations

MAX_VALUES = 500_000
"""The values of one text, in some 32 MiB."""

MAX_FIELDS = 10_000
"""The fields of a type that is inferred from records."""


def exceeds_budget(data: bytes) -> bool:
    """Whether a JSON text may have more than MAX_VALUES values, including JSON texts in its strings."""
    return data.count(b",") + data.count(b"[") + data.count(b"{") > MAX_VALUES
