"""The filters of GET /api/v1/streams."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from lsql_runner.console.document import ProcessorEntry
from lsql_runner.errors import LsqlError

FILTERS = ("namespace", "name", "state", "user", "pipeline", "release", "topic", "created", "violations", "q")
"""The parameters of GET /api/v1/streams."""


def matching(entries: Iterable[ProcessorEntry], parameters: Mapping[str, str]) -> list[ProcessorEntry]:
    """The entries that match all parameters; commas separate alternative values of a parameter.

    Raises:
        LsqlError: REQUEST_PARAMETER_UNKNOWN.
    """
    unknown = sorted(set(parameters) - set(FILTERS))
    if unknown:
        raise LsqlError("REQUEST_PARAMETER_UNKNOWN", name=unknown[0][:40], known=", ".join(FILTERS))
    return [entry for entry in entries if all(_matches(entry, name, value) for name, value in parameters.items())]


def _matches(entry: ProcessorEntry, name: str, value: str) -> bool:
    if name == "q":
        return value.casefold() in _search_text(entry)
    if name == "topic":
        return any(topic in value.split(",") for topic in (*entry.topics_in, *entry.topics_out))
    if name == "violations":
        return (value.lower() in ("true", "1", "yes")) == bool(entry.violations)
    return str(getattr(entry, name)) in value.split(",")


def _search_text(entry: ProcessorEntry) -> str:
    words = (entry.name, entry.namespace, entry.user, entry.pipeline, entry.release, entry.app_id, entry.id)
    return " ".join((*words, *entry.topics_in, *entry.topics_out)).casefold()
