"""Compares the rights that a client needs on topics with those that the brokers report."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from lsql_runner.errors import Detail
from lsql_runner.kafka.ports import Right
from lsql_runner.kafka.reasons import RIGHTS


def missing_rights(needed: Mapping[str, Collection[Right]], found: Mapping[str, Collection[str]]) -> Detail | None:
    """The missing rights on the first topic on which rights are missing, as a reason; None if none is missing.

    Args:
        needed: the rights by topic.
        found: the operations that are allowed, by topic, as Kafka writes them (`READ`). Topics that are not in it are
            not checked.
    """
    for topic, rights in needed.items():
        missing = [right for right in sorted(rights) if topic in found and right.upper() not in found[topic]]
        if missing:
            return RIGHTS("TOPIC", rights=", ".join(missing), topic=topic)
    return None
