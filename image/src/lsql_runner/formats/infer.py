"""Infers formats and types from a sample of records. Pure: the same sample gives the same result."""

from __future__ import annotations

from collections.abc import Sequence

from lsql_runner.formats.catalog import Format, Serde
from lsql_runner.formats.table import recognize, row_of


def infer_serde(samples: Sequence[bytes | None], named: Format | None) -> Serde | None:
    """The serde of a part of a topic's records.

    Args:
        samples: the keys or values of some records; nulls are ignored.
        named: the format, if the program or the configuration names it.

    Returns:
        None if the samples do not determine the type.
    """
    data = [sample for sample in samples if sample is not None]
    if named is None and not data:
        return None
    form = recognize(data) if named is None else named
    infer = row_of(form).infer
    return None if infer is None else infer(data, form)
