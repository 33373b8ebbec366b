"""What a changed program would do with the state of another one: a verdict for each INSERT."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum

from lsql_runner.errors.details import Detail
from lsql_runner.plan.continuation import Converts, Matches, lost_states, match
from lsql_runner.plan.fingerprint import NOTHING, Fingerprint, QueryFingerprint
from lsql_runner.plan.queries import Plan
from lsql_runner.plan.state_changes import STATE_CHANGES, differences


class Verdict(StrEnum):
    """What happens to an INSERT."""

    KEEPS = "keeps"
    """It continues with its state and position."""
    KEEPS_FROM_HERE_ON = "keeps from here on"
    """It continues, and computes its results in another way from then on."""
    ADDS = "adds"
    """It is new, and begins with empty state."""
    RETURNS = "returns"
    """It continues the state and the position that it had before another version of it replaced them."""
    NEW_GENERATION = "new generation"
    """It cannot continue the state: a start is refused, unless it may begin with new state."""
    REMOVES = "removes"
    """It is not in the new program."""


@dataclass(frozen=True, slots=True)
class InsertVerdict:
    """The verdict on an INSERT, by its target."""

    target: str
    verdict: Verdict
    stateful: bool
    changes: tuple[Detail, ...] = ()
    """What differs, for state that cannot be continued, or has a new meaning."""


def verdicts(
    plan: Plan, pinned: Fingerprint, kept: Fingerprint = NOTHING, converts: Converts = lambda _: True
) -> tuple[InsertVerdict, ...]:
    """The verdicts on the INSERTs of a program, in their order, and then on those that it does not have any more.

    Args:
        plan: of the new program.
        pinned: the fingerprint of the program that the state belongs to.
        kept: queries whose state was replaced before, and kept; the newest first.
        converts: which states may be converted.
    """
    matches = match(plan, pinned, kept, converts)
    return tuple(_verdicts(matches, pinned))


def _verdicts(matches: Matches, pinned: Fingerprint) -> Iterator[InsertVerdict]:
    lost = lost_states(matches, pinned)
    stateless = [each for old in pinned.queries if old.state is None for each in _results(old)]
    for query in matches.current.queries:
        if query.state is None:
            yield from (_stateless(*each, stateless) for each in _results(query))
            continue
        target = ", ".join(query.targets)
        if query.name in matches.returned:
            yield InsertVerdict(target, Verdict.RETURNS, stateful=True)
            continue
        old = matches.all.get(query.name)
        if old is not None:
            yield _continued(target, _results(old)[0][1] == _results(query)[0][1], matches.changes(query))
        elif old := next((each for each in lost if each.targets == query.targets), None):
            lost.remove(old)
            yield InsertVerdict(target, Verdict.NEW_GENERATION, stateful=True, changes=differences(old, query))
        else:
            yield InsertVerdict(target, Verdict.ADDS, stateful=True)
    for old in lost:
        yield InsertVerdict(", ".join(old.targets), Verdict.REMOVES, stateful=True)
    for target, _ in stateless:
        yield InsertVerdict(target, Verdict.REMOVES, stateful=False)


def _results(query: QueryFingerprint) -> list[tuple[str, str]]:
    """The target of each INSERT of a query with what its records depend on, which is empty for a sink."""
    contents = {insert.target: insert.content for insert in query.inserts or ()}
    return [(target, contents.get(target, "")) for target in query.targets]


def _continued(
    target: str, has_same_results: bool, changes: tuple[Detail, ...] = (), *, stateful: bool = True
) -> InsertVerdict:
    if not has_same_results and not changes:
        changes = (STATE_CHANGES("RESULTS", target=target),)
    return InsertVerdict(target, Verdict.KEEPS_FROM_HERE_ON if changes else Verdict.KEEPS, stateful, changes)


def _stateless(target: str, content: str, former: list[tuple[str, str]]) -> InsertVerdict:
    """The verdict on an INSERT without state. The former one is removed from the list."""
    same = (
        (target, content) if (target, content) in former else next((each for each in former if each[0] == target), None)
    )
    if same is None:
        return InsertVerdict(target, Verdict.ADDS, stateful=False)
    former.remove(same)
    return _continued(target, same[1] == content, stateful=False)
