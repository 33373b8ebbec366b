"""Names of INSERTs, for the identities of their records: a name belongs to what an INSERT does, not to its place.

An INSERT that continues one of the last start takes over its name, so that a start after a kill finds its records that
are written already, also if the program was edited in between. A new one is named by its content: a name that another
INSERT had before would count the records of that one as written.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable
from dataclasses import replace

from lsql_runner.plan.fingerprint import Fingerprint, InsertFingerprint, QueryFingerprint, insert_fingerprint
from lsql_runner.plan.queries import Plan, Query, WriteTopic

_DIGITS = 12
"""Of the hash of a content in a name."""

_SAME: tuple[Callable[[InsertFingerprint], object], ...] = (
    lambda insert: (insert.target, insert.content),
    lambda insert: (insert.target, insert.sources),
    lambda insert: insert.target,
)
"""What an INSERT and its earlier version have in common, the surest first. The last is all that is known of a program
whose INSERTs were numbered."""


def with_insert_names(plan: Plan, pinned: Fingerprint | None = None) -> Plan:
    """The plan with names of its INSERTs into topics, which are unique in each query.

    Args:
        plan: with the final names of its queries.
        pinned: the fingerprint of the last start; None at the first.
    """
    return Plan(
        tuple(_name_inserts(query, None if pinned is None else pinned.query(query.name)) for query in plan.queries)
    )


def _name_inserts(query: Query, old: QueryFingerprint | None) -> Query:
    writes = [write for write in query.writes if isinstance(write, WriteTopic)]
    if not writes and not query.dead_letters_of:
        return query
    if old is not None and old.inserts is None and query.dead_letters_of:
        # The dead letters of all INSERTs with the same target had the same name.
        return replace(query, dead_letters_of=tuple(replace(each, insert=each.topic) for each in query.dead_letters_of))
    names = iter(_names([*writes, *query.dead_letters_of], _earlier(old)))
    return replace(
        query,
        writes=tuple(
            replace(write, insert=next(names)) if isinstance(write, WriteTopic) else write for write in query.writes
        ),
        dead_letters_of=tuple(replace(write, insert=next(names)) for write in query.dead_letters_of),
    )


def _earlier(old: QueryFingerprint | None) -> list[InsertFingerprint]:
    """The INSERTs of a query at the last start. Earlier releases numbered them by target."""
    if old is None:
        return []
    if old.inserts is not None:
        return list(old.inserts)
    return [
        InsertFingerprint(name=f"{target}#{old.targets[:index].count(target)}", target=target, sources=(), content="")
        for index, target in enumerate(old.targets)
    ]


def _names(writes: Iterable[WriteTopic], earlier: list[InsertFingerprint]) -> list[str]:
    """The names of INSERTs of one query."""
    inserts = [insert_fingerprint(write) for write in writes]
    names: dict[int, str] = {}
    free = list(earlier)
    for common in _SAME:
        for index, insert in enumerate(inserts):
            match = next((old for old in free if common(old) == common(insert)), None) if index not in names else None
            if match is not None:
                names[index] = match.name
                free.remove(match)
    used = {old.name for old in earlier}
    for index, insert in enumerate(inserts):
        if index not in names:
            names[index] = _new_name(insert, used)
            used.add(names[index])
    return [names[index] for index in range(len(inserts))]


def _new_name(insert: InsertFingerprint, used: set[str]) -> str:
    """A name of the content; with a number if it is used, for example by an INSERT that was edited since."""
    name = f"{insert.target}#{hashlib.sha256(insert.content.encode()).hexdigest()[:_DIGITS]}"
    number, candidate = 1, name
    while candidate in used:
        number, candidate = number + 1, f"{name}-{number}"
    return candidate
