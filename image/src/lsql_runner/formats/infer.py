"""Formats and schemas from a sample of records. Pure: bytes in, types out; the same sample gives the same schema."""

from __future__ import annotations

from collections.abc import Sequence

from lsql_runner.formats.catalog import Format, Serde
from lsql_runner.formats.table import recognized, row_of


def infer_serde(samples: Sequence[bytes | None], named: Format | None) -> Serde | None:
    """How a part of a topic's records is written.

    Args:
        samples: that part of some records; nulls say nothing.
        named: the format where the program or the configuration names it.

    Returns:
        None when the samples say nothing and a schema is needed.
    """
    data = [sample for sample in samples if sample is not None]
    if named is None and not data:
        return None
    form = recognized(data) if named is None else named
    infer = row_of(form).infer
    return None if infer is None else infer(data, form)
